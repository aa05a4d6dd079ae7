"""Where a remote leads: what is an address, what is refused, what of it may be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.errors import Refused
from executor.git.remote_address import RemoteAddress, mask_userinfo, parse_remote


@pytest.mark.parametrize(
    ("url", "scheme", "host", "port"),
    [
        ("https://example.org/team/x.git", "https", "example.org", 443),
        ("https://bot@example.org:8443/x.git", "https", "example.org", 8443),
        ("ssh://git@example.org/x.git", "ssh", "example.org", 22),
        ("ssh://git@[::1]:2222/x.git", "ssh", "::1", 2222),
        ("git@example.org:team/x.git", "ssh", "example.org", 22),
        ("git@example.org:/srv/x.git", "ssh", "example.org", 22),
        ("host:x.git", "ssh", "host", 22),
    ],
)
def test_an_address_is_taken_apart(url: str, scheme: str, host: str, port: int) -> None:
    address = parse_remote(url)

    assert (address.scheme, address.host, address.port) == (scheme, host, port)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ext::sh -c id",
        "fd::7",
        "helper::https://example.org/x",
        "/srv/x.git",
        "file:///srv/x.git",
        "http://example.org/x.git",
        "git://example.org/x.git",
        "ftp://example.org/x.git",
        "-oProxyCommand=id",
        "ssh://-oProxyCommand=id/x",
        "ssh://-x@example.org/x",
        "-x@example.org:x",
        "git@-example.org:x",
        "https://example.org/x\nhost=evil",
        "https:///x",
        "https://exa mple.org/x",
        "https://example.org:notaport/x",
        "relative/path",
        "origin",
    ],
)
def test_what_is_no_plain_ssh_or_https_address_is_refused(url: str) -> None:
    with pytest.raises(Refused) as caught:
        parse_remote(url)

    assert caught.value.code == "remote_url"


@pytest.mark.parametrize(("url", "path"), [("/srv/x.git", "/srv/x.git"), ("file:///srv/x.git", "/srv/x.git")])
def test_a_local_path_is_an_address_where_the_host_allows_it(url: str, path: str) -> None:
    assert parse_remote(url, allow_local=True) == RemoteAddress(url, "file", "", 0, path)


def test_plain_http_is_an_address_where_the_host_allows_it() -> None:
    assert parse_remote("http://localhost:8080/x", allow_plain_http=True).port == 8080


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("https://user:ghp_secret@example.org/x", "https://***@example.org/x"),
        ("https://ghp_secret@example.org/x", "https://***@example.org/x"),
        ("ssh://git:secret@example.org/x", "ssh://***@example.org/x"),
        ("ssh://git@example.org/x", "ssh://git@example.org/x"),
        ("git@example.org:x", "git@example.org:x"),
        ("https://example.org/x@y", "https://example.org/x@y"),
        ("two https://a:b@c/d and https://e@f/g", "two https://***@c/d and https://***@f/g"),
    ],
)
def test_c21_a_secret_before_the_host_is_masked_and_a_user_name_of_ssh_is_not(url: str, masked: str) -> None:
    assert mask_userinfo(url) == masked


@given(st.text(alphabet="abcXYZ019._~%!$&'()*+,;=:-", min_size=1, max_size=30))
def test_c21_no_password_survives_masking(secret: str) -> None:
    assert mask_userinfo(f"https://user:{secret}@example.org/x") == "https://***@example.org/x"


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_refused_and_nothing_else(url: str) -> None:
    try:
        address = parse_remote(url)
    except Refused:
        return
    assert address.scheme in ("ssh", "https")
    assert address.host
    assert not address.host.startswith("-")
