"""git_cmd for remotes: showing them, pruning, and changing which there are.

The address of a remote stands in the transfer repository alone. The local repository knows only the names and which
tracking refs belong to them; in place of the address it has one that leads nowhere.
"""

from __future__ import annotations

from executor.errors import Failed, Refused
from executor.git.git_dirs import INERT_URL
from executor.git.questions import HEADS, config_value, refs, remotes
from executor.git.remote_address import mask_userinfo, parse_remote
from executor.git.reports import listing, succeeded
from executor.git.repository import Git
from executor.git.run_transfers import default_remote, fetch_as_told, given, told
from executor.git.transfer import RefChange, address_of, ls_remote, update_refs
from executor.outcome import Outcome
from executor.policy.model import Command

_DRY = frozenset({"-n", "--dry-run"})


def show(git: Git, command: Command) -> Outcome:
    """Tell a remote's address (masked) and how its branches relate to the tracking refs."""
    remote = command.operands[0] if command.operands else default_remote(git)
    address = address_of(git, remote)
    theirs = _branches(ls_remote(git, remote))
    ours = refs(git, f"refs/remotes/{remote}/")
    tracked = {name.removeprefix(f"refs/remotes/{remote}/"): commit for name, commit in ours.items()}
    lines = [f"{name} {_state(tracked.get(name), commit)}" for name, commit in sorted(theirs.items())]
    lines += [f"{name} stale (gone at the remote)" for name in sorted(set(tracked) - set(theirs) - {"HEAD"})]
    text = f"remote {remote}\n  URL: {address.masked}\n  branches:\n"
    return succeeded(command.argv, text + listing(f"  {line}" for line in lines) + "\n")


def _state(tracked: str | None, commit: str) -> str:
    if tracked is None:
        return "new (not fetched yet)"
    return "tracked" if tracked == commit else "tracked, behind the remote"


def _branches(theirs: dict[str, str]) -> dict[str, str]:
    return {name.removeprefix(HEADS): commit for name, commit in theirs.items() if name.startswith(HEADS)}


def prune(git: Git, command: Command) -> Outcome:
    """Drop tracking refs whose branch is gone at the remote; with `--dry-run` only say which."""
    remote = command.operands[0] if command.operands else default_remote(git)
    theirs = _branches(ls_remote(git, remote))
    prefix = f"refs/remotes/{remote}/"
    stale = [
        RefChange(ref, commit, None)
        for ref, commit in sorted(refs(git, prefix).items())
        if ref.removeprefix(prefix) not in theirs and ref != f"{prefix}HEAD"
    ]
    if not given(command) & _DRY:
        for change in stale:
            git.transfer(["update-ref", "-d", change.ref])
        update_refs(git, stale, f"prune {remote}")
    return succeeded(command.argv, told(stale), verified={"effect": not given(command) & _DRY, "pruned": len(stale)})


def update(git: Git, command: Command) -> Outcome:
    """Fetch from the named remotes, or from all."""
    changes = [
        change
        for remote in command.operands or sorted(remotes(git))
        for change in fetch_as_told(git, remote, (), command)
    ]
    return succeeded(command.argv, told(changes), verified={"effect": True, "moved": len(changes)})


def configure(git: Git, command: Command) -> Outcome:
    """Add, change, rename or remove a remote, in both git directories, and read it back."""
    verb = command.subcommand.removeprefix("remote ")
    name = command.operands[0]
    known = remotes(git)
    if verb == "add" and name in known:
        raise Failed(
            "already_exists", f"There is a remote named {name!r} already.", f"remote set-url {name} URL changes it"
        )
    if verb != "add" and name not in known:
        raise Failed("no_remote", f"There is no remote named {name!r}.", "git_check lists them.")
    if verb in ("add", "set-url"):
        return _set_address(git, command, verb, name, command.operands[1])
    words = ["remote", verb, *command.inject, *command.argv[3:]]
    git.local(words)
    if verb != "set-head":  # which branch is the default is nothing that the transfer repository knows
        git.transfer(words)
    now = remotes(git)
    gone = verb in ("remove", "rename") and name in now
    missing = verb == "rename" and command.operands[1] not in now
    return succeeded(command.argv, _list(now), verified={"effect": not gone and not missing})


def _set_address(git: Git, command: Command, verb: str, name: str, url: str) -> Outcome:
    access = git.access
    address = parse_remote(url, allow_local=access.allow_local_remote, allow_plain_http=access.allow_plain_http)
    if mask_userinfo(url) != url:
        raise Refused(
            "remote_url", "A password in an address would be shown and stored.", "Give the address without it."
        )
    git.transfer(["remote", verb, "--", name, address.url])
    if config_value(git, f"remote.{name}.url") is None:
        git.local(["remote", "add", "--", name, f"{INERT_URL}/{name}"])
    now = remotes(git)
    return succeeded(command.argv, _list(now), verified={"effect": now.get(name) == url, "remote": name})


def _list(known: dict[str, str]) -> str:
    if not known:
        return "No remote is configured.\n"
    return "".join(f"{name}\t{mask_userinfo(url)}\n" for name, url in sorted(known.items()))
