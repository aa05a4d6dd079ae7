"""What a request may say about remotes: their names, addresses, and what is moved where (refspecs). Pure."""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple, NoReturn

from executor.errors import Refused
from executor.git.pathspecs import components_problem
from executor.git.refnames import require_ref_name
from executor.git.revisions import check_commit
from executor.policy.model import RiskClass

_REMOTE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9_][A-Za-z0-9._-]*)*", re.ASCII)
_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
_URL_PATH = r"(?P<path>[A-Za-z0-9._~/+-]+)"
_URL = re.compile(rf"(?:https://|ssh://(?:{_NAME}@)?)(?P<host>{_NAME})(?::\d{{1,5}})?/{_URL_PATH}", re.ASCII)
_SCP = re.compile(rf"{_NAME}@(?P<host>{_NAME}):(?!-){_URL_PATH}", re.ASCII)
_BRANCHES_AND_TAGS = ("refs/heads/", "refs/tags/", "refs/remotes/")


class Effect(NamedTuple):
    """What a word does beyond its command: it raises the class to `risk`, for `reason`."""

    risk: RiskClass
    reason: str


def _bad(code: str, message: str, hint: str) -> NoReturn:
    raise Refused(code, message, hint)


def check_remote(word: str) -> None:
    if not _REMOTE.fullmatch(word) or ".." in word or components_problem(word.split("/")):
        _bad(
            "bad_remote_name",
            f"{word!r} is not the name of a remote",
            "only configured remotes are talked to, by name, such as origin; git remote -v lists them",
        )


def check_url(word: str) -> None:
    """An address that may become a remote's: https or ssh, no password, no host that is this one."""
    found = _URL.fullmatch(word) or _SCP.fullmatch(word)
    if found is None:
        _bad(
            "bad_url",
            "this is not an address that a remote can have here",
            "write https://host/path without user or password, ssh://user@host/path or user@host:path",
        )
    if components_problem(found["path"].split("/")) not in {None, "git's own directory is not part of the work tree"}:
        _bad("bad_url", "the path of this address holds '..'", "write the plain path of the repository")
    if _is_own_host(found["host"]):
        _bad("bad_url", f"{found['host']} is this host or its network's own service", "name another host")


def _is_own_host(host: str) -> bool:
    if re.fullmatch(r"[\d.]+|0x[0-9A-Fa-f.x]+", host):
        try:
            address = ipaddress.IPv4Address(host)
        except ValueError:
            return True  # a number that only resolvers understand: 2130706433, 127.1
        return address.is_loopback or address.is_link_local or address.is_unspecified
    return host.lower() == "localhost" or host.lower().endswith(".localhost")


def _refspec(word: str) -> tuple[bool, str, str | None]:
    """Return (forced, source, destination) of a refspec; destination is None without a colon."""
    forced, body = word.startswith("+"), word.removeprefix("+")
    source, colon, destination = body.partition(":")
    if "*" in body:
        _bad("bad_refspec", f"{word!r} holds a wildcard", "name each branch")
    if body in {"", ":", "-", "tag"} or ".." in source or ":" in destination or (colon and not destination):
        _bad("bad_refspec", f"{word!r} is not understood", "write BRANCH, SOURCE:BRANCH or refs/tags/NAME")
    if source:
        check_commit(source)
    if destination:
        require_ref_name(destination, "ref")
        if destination.startswith("refs/") and not destination.startswith(_BRANCHES_AND_TAGS):
            _bad("bad_refspec", f"{destination!r} is neither a branch nor a tag", "write SOURCE:BRANCH")
    return forced, source, destination if colon else None


def check_push_refspec(word: str) -> Effect | None:
    """A refspec of `git push`; `:branch` deletes, `+branch` overwrites, a tag is moved."""
    forced, source, destination = _refspec(word)
    target = destination or source
    if target.startswith("refs/") and not target.startswith(("refs/heads/", "refs/tags/")):
        _bad("bad_refspec", f"{word!r} would push to what is neither a branch nor a tag", "write SOURCE:BRANCH")
    if not source:
        return Effect(RiskClass.FORCE, f"deletes {destination} on the remote")
    if forced:
        return Effect(RiskClass.FORCE, f"overwrites {target} on the remote, whatever is there")
    if target.startswith("refs/tags/"):
        return Effect(RiskClass.FORCE, f"pushes the tag {target.removeprefix('refs/tags/')}, which others keep")
    if destination is not None and destination.removeprefix("refs/heads/") != source.removeprefix("refs/heads/"):
        return Effect(RiskClass.PUBLISH, f"pushes {source} under another name, {destination}")
    return None


def check_fetch_refspec(word: str) -> Effect | None:
    """A refspec of `git fetch` or `pull`; a destination is a local ref that moves."""
    forced, source, destination = _refspec(word)
    if not source:
        _bad("bad_refspec", f"{word!r} has no source", "write BRANCH or SOURCE:BRANCH")
    if destination and forced:
        return Effect(RiskClass.REWRITE, f"overwrites the local {destination}")
    return Effect(RiskClass.CHANGE, f"moves the local {destination}") if destination else None


def check_lease(word: str) -> None:
    """The value of `--force-with-lease=`: a ref, and perhaps the id it is expected to have."""
    name, _, expected = word.partition(":")
    require_ref_name(name, "ref")
    if expected:
        check_commit(expected)
