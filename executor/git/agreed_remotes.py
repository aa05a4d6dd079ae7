"""Which remotes an adopted repository gets: what it says, what the operator says, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from executor.errors import Refused
from executor.git.config_scrub import Dropped, RemoteSetting, default_fetch, is_remote_name
from executor.git.git_dirs import Remote
from executor.git.remote_address import mask_userinfo, parse_remote


def agree_on_remotes(
    found: Iterable[RemoteSetting],
    wanted: Mapping[str, str],
    *,
    forbidden: Iterable[Path],
    allow_local: bool,
) -> tuple[tuple[Remote, ...], tuple[Dropped, ...]]:
    """Return the remotes to set up, and those of the repository that are dropped.

    `wanted` (name -> URL) is the operator's and wins; a URL of the repository that is not allowed is dropped, one of
    the operator's is Refused("remote_url"). A local path may not lie in one of the `forbidden` directories.
    Raises Refused("password_in_url") whoever wrote it: it would be shown and stored with the address.
    """
    places = tuple(place.resolve() for place in forbidden)
    agreed: dict[str, Remote] = {}
    dropped: list[Dropped] = []
    for remote in found:
        if remote.name in wanted:
            agreed[remote.name] = Remote(
                remote.name, _checked(wanted[remote.name], places, allow_local), remote.fetch
            )
            continue
        try:
            agreed[remote.name] = Remote(remote.name, _checked(remote.url or "", places, allow_local), remote.fetch)
        except Refused as refused:
            if refused.code != "remote_url":
                raise
            dropped.append(Dropped(f"remote {remote.name}", f"{refused.message} {refused.hint}"))
    for name, url in wanted.items():
        if not is_remote_name(name):
            raise Refused(
                "remote_name", f"{name!r} cannot be the name of a remote.", "Use letters, digits, . _ and -"
            )
        if name not in agreed:
            agreed[name] = Remote(name, _checked(url, places, allow_local), default_fetch(name))
    return tuple(agreed.values()), tuple(dropped)


def _checked(url: str, places: tuple[Path, ...], allow_local: bool) -> str:
    address = parse_remote(url, allow_local=True)
    if address.scheme == "file":
        _check_local(address.path, places, allow_local)
        return address.url
    if "://" not in url:
        return address.url
    parts = urlsplit(url)
    if parts.password is not None:
        raise Refused(
            "password_in_url",
            f"The remote address {mask_userinfo(url)} holds a password or token.",
            "Put it into the gateway's credential file (or use an ssh key), and give the address without it: "
            "--remote NAME=URL",
        )
    if address.scheme == "ssh":
        return address.url
    # A bare user name may be a token as well, and git has no use for it: the credential file names both.
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _check_local(path: str, places: tuple[Path, ...], allow_local: bool) -> None:
    if not allow_local:
        raise Refused(
            "remote_url",
            f"The remote {path} is a path on this host: talking to it starts a shell and its own hooks here.",
            "If that is what you want, set GATEWAY_UNSAFE_ALLOW_LOCAL_REMOTES=true.",
        )
    if any(Path(path).resolve().is_relative_to(place) for place in places):
        raise Refused(
            "remote_url",
            f"The remote {path} lies where the agent can write, so its hooks would be the agent's.",
            "Use a repository elsewhere.",
        )
