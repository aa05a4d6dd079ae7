"""git_cmd for fetch and ls-remote: what a person typed, done through the transfer repository."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from executor.errors import Failed
from executor.git.command_words import given, spelled
from executor.git.pushing import remote_of, set_upstream
from executor.git.questions import head, refs, remotes
from executor.git.refnames import HEADS, TAGS
from executor.git.reports import listing, spoken, succeeded
from executor.git.repository import Git
from executor.git.transfer import (
    address_of,
    fetch,
    fetch_into,
    ls_remote,
    update_refs,
)
from executor.git.transfer_plan import RefChange
from executor.outcome import Outcome
from executor.policy.model import Command

# Options of fetch and pull that reach git as they are; the others are done here or only change what is shown.
_PASSED = frozenset(
    {
        "--depth", "--deepen", "--shallow-since", "--unshallow", "--update-shallow", "--tags", "-t", "--no-tags",
        "-n", "--dry-run", "--no-write-fetch-head", "-4", "-6", "--ipv4", "--ipv6", "--jobs", "-j",
    }
)  # fmt: skip
_PRUNE = frozenset({"-p", "--prune"})
_PRUNE_TAGS = frozenset({"-P", "--prune-tags"})
_FORCE = frozenset({"-f", "--force"})


def default_remote(git: Git) -> str:
    """Return the remote that a command means that names none."""
    return remote_of(git, head(git).branch or "")


def named_remote(git: Git, command: Command) -> str:
    """Return the remote that a command names as its first word, or means."""
    return command.operands[0] if command.operands else default_remote(git)


def ls_remote_command(git: Git, command: Command) -> Outcome:
    """List what a remote has."""
    remote, *patterns = command.operands or (default_remote(git),)
    options = [spelled(*option) for option in command.options]
    done = git.transfer(["ls-remote", *options, "--", remote, *patterns], address=address_of(git, remote))
    return succeeded(spoken(done), truncated=done.truncated)


def fetch_command(git: Git, command: Command) -> Outcome:
    """Fetch, and say which refs moved."""
    remote, *refspecs = command.operands or (default_remote(git),)
    names = sorted(remotes(git)) if "--all" in given(command) else [remote]
    changes = [change for name in names for change in fetch_as_told(git, name, refspecs, command)]
    if "--set-upstream" in given(command):
        follow(git, remote, refspecs)
    return succeeded(told(changes), verified={"effect": True, "moved": len(changes)})


def fetch_as_told(git: Git, remote: str, refspecs: Sequence[str], command: Command) -> list[RefChange]:
    """Fetch from one remote with the options of `command`, and return which local refs moved."""
    names = given(command)
    forced = bool(names & _FORCE)
    options = [spelled(*option) for option in command.options if option[0] in _PASSED]
    specs = [_Refspec.of(spec) for spec in refspecs]
    changes = fetch(git, remote, [spec.source for spec in specs], options=options, prune=bool(names & _PRUNE),
                    move_tags=forced)  # fmt: skip
    stored = [
        fetch_into(git, remote, spec.source, spec.destination, force=forced or spec.force)
        for spec in specs
        if spec.destination and "--dry-run" not in names
    ]
    dropped = drop_tags(git, remote) if names & _PRUNE_TAGS and "--dry-run" not in names else []
    return [*changes, *(change for change in stored if change is not None), *dropped]


def drop_tags(git: Git, remote: str) -> list[RefChange]:
    """Delete the local tags that `remote` does not have, and return them (`--prune-tags`)."""
    theirs = ls_remote(git, remote)
    gone = [RefChange(ref, old, None) for ref, old in sorted(refs(git, TAGS).items()) if ref not in theirs]
    update_refs(git, gone, f"fetch --prune-tags {remote}")
    return gone


def follow(git: Git, remote: str, refspecs: Sequence[str]) -> None:
    """Make the current branch follow the one branch that was fetched (`--set-upstream`)."""
    branch = head(git).branch
    if branch is None or len(refspecs) != 1:
        raise Failed(
            "no_upstream", "An upstream is one branch, for the branch that is checked out.", "Name one branch."
        )
    source = _Refspec.of(refspecs[0]).source
    set_upstream(git, branch, remote, source if source.startswith("refs/") else HEADS + source)


@dataclass(frozen=True, slots=True)
class _Refspec:
    source: str
    destination: str
    force: bool

    @classmethod
    def of(cls, word: str) -> _Refspec:
        source, _, destination = word.removeprefix("+").partition(":")
        return cls(source, destination, word.startswith("+"))


def told(changes: Sequence[RefChange]) -> str:
    """Return the moves of refs in words."""
    if not changes:
        return "Everything is up to date.\n"
    return listing(_move(change) for change in changes) + "\n"


def _move(change: RefChange) -> str:
    if change.new is None:
        return f"{change.ref} is gone"
    return f"{change.ref} {change.old[:10] if change.old else '(new)'} -> {change.new[:10]}"
