"""Where a remote is: its URL taken apart, judged and masked (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from executor.errors import Refused

_SCP_FORM = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9._-]*)@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*):(?!//)(?P<path>.+)", re.S
)
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*|[0-9A-Fa-f:]+")  # a name, or what stood in [] for IPv6
_USERINFO = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)[^/@\s]*@")
_DEFAULT_PORTS = {"ssh": 22, "https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """A remote's address. `scheme` is ssh, https, http or file; `host` and `port` are empty and 0 for file."""

    url: str
    scheme: str
    host: str
    port: int
    path: str

    @property
    def masked(self) -> str:
        return mask_userinfo(self.url)


def mask_userinfo(url: str) -> str:
    """Return the URL with user and password before `@` replaced, for http(s) and every other `scheme://` but ssh.

    The user name of an ssh URL is no secret ("git"); a password in one is masked like any other (C21).
    """

    def replaced(found: re.Match[str]) -> str:
        userinfo = found.group(0)[len(found["scheme"]) : -1]
        if found["scheme"].lower() == "ssh://" and ":" not in userinfo:
            return found.group(0)
        return f"{found['scheme']}***@"

    return _USERINFO.sub(replaced, url)


def parse_remote(url: str, *, allow_local: bool = False, allow_plain_http: bool = False) -> RemoteAddress:
    """Return where `url` leads.

    Raises Refused("remote_url") for what is not an ssh or https address, for a host that could be read as an option,
    and for control characters; a local path or `file://` needs `allow_local`, `http://` needs `allow_plain_http`.
    """
    if not url or any(ord(c) < 0x20 or ord(c) == 0x7F for c in url) or "::" in url.split("[")[0]:
        raise _refused(url, "it is no plain address")
    if url.startswith(("/", "file:///")):
        if not allow_local:
            raise _refused(url, "a local path is not allowed as a remote on this host")
        return RemoteAddress(url, "file", "", 0, url.removeprefix("file://"))
    if "://" not in url:
        found = _SCP_FORM.fullmatch(url)
        if found is None:
            raise _refused(url, "it is neither https://, ssh:// nor user@host:path")
        return RemoteAddress(url, "ssh", found["host"], 22, found["path"])
    return _parse_url(url, allow_plain_http=allow_plain_http)


def _parse_url(url: str, *, allow_plain_http: bool) -> RemoteAddress:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _refused(url, "it cannot be parsed") from error
    if parts.scheme not in _DEFAULT_PORTS or (parts.scheme == "http" and not allow_plain_http):
        raise _refused(url, f"{parts.scheme}:// is not allowed as a remote on this host")
    if not _HOST.fullmatch(host) or (parts.username or "").startswith("-"):
        raise _refused(url, "its host or user name is not a plain name")
    return RemoteAddress(url, parts.scheme, host, port or _DEFAULT_PORTS[parts.scheme], parts.path)


def _refused(url: str, why: str) -> Refused:
    return Refused(
        "remote_url",
        f"The remote address {mask_userinfo(url)!r} is refused: {why}.",
        "Use https://host/path or ssh://user@host/path.",
    )
