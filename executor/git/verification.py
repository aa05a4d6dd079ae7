"""Reading back whether a command that git called a success had the effect that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from executor.git.command_words import given
from executor.git.guards import Before
from executor.git.questions import Head, conflicted, head, in_progress, is_ancestor, resolve, upstream
from executor.git.refnames import HEADS
from executor.git.repository import Git
from executor.policy.model import Command

Verified = dict[str, object]
_Check = Callable[[Git, Command, Before, Head], bool | None]
_DELETES = frozenset({"-d", "-D", "--delete"})
_MOVES = frozenset({"-m", "-M", "--move", "-c", "-C", "--copy"})
_NEW_BRANCH = frozenset({"-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan"})


def verify(git: Git, command: Command, before: Before) -> Verified:
    """Return where HEAD is after the command and, where its effect can be read back, whether it was seen."""
    now = head(git)
    found: Verified = {"branch": now.branch, "commit": now.commit}
    going_on = in_progress(git)
    if going_on is not None:
        found |= {"in_progress": going_on, "conflicted": list(conflicted(git))}
    check = _CHECKS.get(command.subcommand)
    seen = check(git, command, before, now) if check is not None else None
    if seen is not None:
        found["effect"] = seen
        if not seen:
            found["why"] = f"what {command.subcommand} asks for was not found afterwards, whatever git reported"
    return found


def _switched(git: Git, command: Command, before: Before, now: Head) -> bool | None:
    """HEAD is on the branch, or at the commit, that was asked for."""
    for name, value in command.options:
        if name in _NEW_BRANCH and value:
            return now.branch == value
    if command.paths or not command.operands:
        return None
    wanted = command.operands[0]
    if now.branch is not None and wanted in (now.branch, "-"):
        return True
    return now.branch is None and now.commit == before.targets.get(wanted)


def _reset(git: Git, command: Command, before: Before, now: Head) -> bool | None:
    if command.paths:
        return None
    wanted = before.targets.get(command.operands[0]) if command.operands else before.at.commit
    return now.commit == wanted


def _contains(git: Git, command: Command, before: Before, now: Head) -> bool | None:
    """What was merged, or rebased onto, is in the history of HEAD now."""
    if not before.targets or now.commit is None or {"--squash", "--abort", "--quit"} & given(command):
        return None
    return all(is_ancestor(git, commit, now.commit) for commit in before.targets.values())


def _moved(git: Git, command: Command, before: Before, now: Head) -> bool | None:
    if {"--no-commit", "-n", "--abort", "--quit", "--skip"} & given(command):
        return None
    return now.commit != before.at.commit


def _branch(git: Git, command: Command, before: Before, now: Head) -> bool | None:
    names, options = command.operands, given(command)
    if options & _DELETES:
        prefix = "refs/remotes/" if options & {"-r", "--remotes"} else HEADS
        return all(resolve(git, prefix + name) is None for name in names)
    if options & _MOVES and names:
        return resolve(git, HEADS + names[-1]) is not None
    if options & {"-u", "--set-upstream-to", "--unset-upstream"}:
        return _upstream(git, command, before, now)
    return resolve(git, HEADS + names[0]) is not None if names else None


def _upstream(git: Git, command: Command, before: Before, now: Head) -> bool | None:
    options = dict(command.options)
    branch = command.operands[0] if command.operands else now.branch
    if branch is None:
        return None
    follows = upstream(git, branch)
    if "--unset-upstream" in options:
        return follows is None
    wanted = options.get("--set-upstream-to") or options.get("-u")
    if follows is None or wanted is None:
        return False
    if follows.remote == ".":
        return follows.merge == HEADS + wanted
    return wanted in (f"{follows.remote}/{follows.merge.removeprefix(HEADS)}", follows.ref)


def _tag(git: Git, command: Command, before: Before, now: Head) -> bool | None:
    names, options = command.operands, given(command)
    if options & _DELETES:
        return all(resolve(git, f"refs/tags/{name}", "object") is None for name in names)
    return resolve(git, f"refs/tags/{names[0]}", "object") is not None if names else None


def _bisecting(git: Git, command: Command, before: Before, now: Head) -> bool | None:
    return (in_progress(git) == "bisect") == (command.subcommand == "bisect start")


_CHECKS: Mapping[str, _Check] = {
    "bisect start": _bisecting,
    "bisect reset": _bisecting,
    "checkout": _switched,
    "switch": _switched,
    "reset": _reset,
    "merge": _contains,
    "pull": _contains,
    "rebase": _contains,
    "cherry-pick": _moved,
    "revert": _moved,
    "commit": _moved,
    "branch": _branch,
    "tag": _tag,
}
