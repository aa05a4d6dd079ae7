"""Where an adopted repository may connect is what the operator sees and agrees to."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor.errors import Refused
from executor.git.agreed_remotes import agree_on_remotes
from executor.git.config_scrub import RemoteSetting, default_fetch
from executor.git.git_dirs import Remote


def agree(
    url: str | None, wanted: dict[str, str] | None = None, *, local: bool = False, place: Path = Path("/srv/tree")
) -> tuple[tuple[Remote, ...], list[str]]:
    found = [] if url is None else [RemoteSetting("origin", url, default_fetch("origin"))]
    agreed, dropped = agree_on_remotes(found, wanted or {}, forbidden=[place], allow_local=local)
    return agreed, [entry.what for entry in dropped]


@pytest.mark.parametrize(
    "url", ["ssh://git@host:2222/a/b.git", "git@host:a/b.git", "https://host/a/b.git", "https://host:8443/a"]
)
def test_ssh_and_https_are_taken_as_they_are(url: str) -> None:
    agreed, dropped = agree(url)

    assert [(remote.name, remote.url) for remote in agreed] == [("origin", url)]
    assert dropped == []


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c id", "fd::7", "git://host/a", "http://host/a", "ftp://host/a", "-oProxyCommand=x", "../up.git",
        "ssh://-oProxyCommand=x/a", "https://host/a\nb", "", "evil::https://host/a", "/srv/remote.git",
        "file:///srv/remote.git",
    ],
)  # fmt: skip
def test_another_kind_of_address_is_dropped_and_named(url: str) -> None:
    assert agree(url) == ((), ["remote origin"])


@pytest.mark.parametrize("url", ["https://ana:token@host/a", "ssh://git:pw@host/a", "https://:token@host/a"])
def test_c21_a_password_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(Refused) as caught:
        agree(url)

    assert caught.value.code == "password_in_url"
    assert "token" not in caught.value.message.replace("password or token", "")
    assert "pw" not in caught.value.message


def test_c21_a_user_name_in_an_https_address_is_taken_out_because_it_may_be_a_token() -> None:
    agreed, _ = agree("https://ghp_abc@host/a")

    assert agreed[0].url == "https://host/a"


def test_a_path_on_this_host_needs_permission_and_must_lie_outside_what_the_agent_writes(tmp_path: Path) -> None:
    inside = tmp_path / "tree" / "evil.git"
    (tmp_path / "tree").mkdir()

    assert agree("/srv/remote.git", local=True)[0][0].url == "/srv/remote.git"
    assert agree(str(inside), local=True, place=tmp_path / "tree") == ((), ["remote origin"])


def test_the_operators_address_wins_over_the_agents() -> None:
    agreed, dropped = agree("ext::sh -c id", {"origin": "ssh://git@host/a", "backup": "https://host/b"})

    assert [(remote.name, remote.url) for remote in agreed] == [
        ("origin", "ssh://git@host/a"),
        ("backup", "https://host/b"),
    ]
    assert dropped == []


def test_an_address_of_the_operator_that_is_not_allowed_is_an_error_and_not_dropped() -> None:
    with pytest.raises(Refused) as caught:
        agree(None, {"origin": "http://host/a"})

    assert caught.value.code == "remote_url"
