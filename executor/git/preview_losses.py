"""What a command that discards work would lose: uncommitted files, and commits that nothing else leads to.

What is lost can be brought back from the rescue that is made before the command runs; operators are told anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from executor.git.command_words import given
from executor.git.preview_words import commit_lines, file_lines, named_commit, uncommitted
from executor.git.push_facts import commit_facts
from executor.git.questions import head, resolve, text
from executor.git.refnames import HEADS, TAGS
from executor.git.repository import Git
from executor.git.tree_changes import tree_changes
from executor.policy.model import Command, Contact

_FORCES = frozenset({"--force", "-f", "--discard-changes"})
_ABORTS = frozenset({"--abort"})
_DELETES = frozenset({"-d", "-D", "--delete"})
_MOVES = frozenset({"-B", "-C", "--force-create"})  # with the name of a branch that may be there already
_QUIET = frozenset({"-f", "--force", "-q", "--quiet", "-n", "--dry-run"})


def lost_lines(git: Git, command: Command) -> tuple[str, ...]:
    """Return in lines what `command` would lose, () where it loses nothing. Raises Failed."""
    finder = _FINDERS.get(command.subcommand)
    return tuple(finder(git, command)) if finder is not None else ()


def _reset(git: Git, command: Command) -> Iterator[str]:
    options = given(command)
    if "--hard" in options:
        yield from file_lines("Uncommitted changes", uncommitted(git, ()))
    elif "--merge" in options:
        yield from file_lines("Staged changes", [one for one in uncommitted(git, ()) if one[0] != " "])
    target = named_commit(git, command.operands[0]) if command.operands else None
    at = head(git)
    if target is not None and at.commit is not None:
        yield from _lonely(git, at.commit, HEADS + at.branch if at.branch else "HEAD", [target])


def _checkout(git: Git, command: Command) -> Iterator[str]:
    options = given(command)
    if command.paths:
        from_index = not command.operands and not options & {"--source", "-s", "--staged", "-S"}
        changed = uncommitted(git, command.paths)
        lost = [one for one in changed if one[1] != " "] if from_index else changed
        yield from file_lines("Uncommitted changes", lost)
    elif options & _FORCES:
        yield from file_lines("Uncommitted changes", uncommitted(git, ()))
    start = command.operands[0] if command.operands else "HEAD"
    for name, value in command.options:
        if name in _MOVES and value:
            yield from _overwritten(git, HEADS + value, start)


def _restore(git: Git, command: Command) -> Iterator[str]:
    if not given(command) & {"--staged", "-S"} or given(command) & {"--worktree", "-W"}:
        yield from _checkout(git, command)


def _clean(git: Git, command: Command) -> Iterator[str]:
    """Say what git itself says that it would delete, in its words."""
    options = [
        name if value is None else f"--exclude={value}" for name, value in command.options if name not in _QUIET
    ]
    done = git.local(["clean", "--dry-run", *options, "--", *command.paths], contact=Contact.READ, exact=True)
    yield from text(done.stdout).splitlines()


def _stash_drop(git: Git, command: Command) -> Iterator[str]:
    word = command.operands[0] if command.operands else "stash@{0}"
    stash = resolve(git, f"stash@{{{word}}}" if word.isdigit() else word)
    if stash is None:
        return
    found, _ = commit_facts(git, ["--no-walk", stash])
    yield from commit_lines(f"The stash {word}", found, 1)
    changed = tree_changes(git, f"{stash}^1", stash)
    yield from file_lines("Files in it", [f"{one.status}  {one.path}" for one in changed])


def _stash_clear(git: Git, command: Command) -> Iterator[str]:
    done = git.local(["log", "-g", "--format=%gd: %s", "refs/stash", "--"], check=False, exact=True)
    stashes = text(done.stdout).splitlines() if done.exit_code == 0 else []
    yield f"All stashes ({len(stashes)}):"
    yield from (f"  {stash}" for stash in stashes)


def _branch(git: Git, command: Command) -> Iterator[str]:
    options = given(command)
    if options & _DELETES:
        for name in command.operands if not options & {"-r", "--remotes"} else ():
            yield from _deleted(git, name, HEADS + name.removeprefix(HEADS))
    elif options & {"-m", "--move", "-M", "-c", "--copy", "-C"}:
        if options & {"-M", "-C", "-f", "--force"}:
            source = command.operands[0] if len(command.operands) > 1 else "HEAD"
            yield from _overwritten(git, HEADS + command.operands[-1], source)
    elif options & {"-f", "--force"} and command.operands:
        start = command.operands[1] if len(command.operands) > 1 else "HEAD"
        yield from _overwritten(git, HEADS + command.operands[0], start)


def _tag(git: Git, command: Command) -> Iterator[str]:
    options = given(command)
    if options & {"-d", "--delete"}:
        for name in command.operands:
            yield from _deleted(git, name, TAGS + name)
    elif options & {"-f", "--force"} and command.operands:
        start = command.operands[1] if len(command.operands) > 1 else "HEAD"
        yield from _overwritten(git, TAGS + command.operands[0], start)


def _abort(git: Git, command: Command) -> Iterator[str]:
    if given(command) & _ABORTS:
        yield from file_lines("Uncommitted changes", uncommitted(git, ()))


def _remove(git: Git, command: Command) -> Iterator[str]:
    if given(command) & _FORCES and "--cached" not in given(command):
        yield from file_lines("Uncommitted changes", uncommitted(git, command.paths))


def _deleted(git: Git, name: str, ref: str) -> Iterator[str]:
    commit = resolve(git, ref)
    if commit is not None:
        yield f"{name} is at {commit[:10]}."
        yield from _lonely(git, commit, ref, [])


def _overwritten(git: Git, ref: str, start: str) -> Iterator[str]:
    commit, target = resolve(git, ref), named_commit(git, start)
    if commit is not None and target is not None and commit != target:
        yield f"{ref} is at {commit[:10]} now, and would be at {target[:10]}."
        yield from _lonely(git, commit, ref, [target])


def _lonely(git: Git, commit: str, ref: str, keeps: Sequence[str]) -> Iterator[str]:
    """Say which commits nothing leads to any more once `ref` no longer does, `keeps` and other refs aside."""
    others = [f"--exclude={ref}", "--glob=refs/heads/*", f"--exclude={ref}", "--glob=refs/tags/*",
              "--glob=refs/remotes/*"]  # fmt: skip
    found, total = commit_facts(git, [commit, "--not", *keeps, *others])
    yield from commit_lines("Commits that no other branch or tag has", found, total)


_FINDERS: Mapping[str, Callable[[Git, Command], Iterator[str]]] = {
    "reset": _reset,
    "checkout": _checkout,
    "switch": _checkout,
    "restore": _restore,
    "clean": _clean,
    "rm": _remove,
    "stash drop": _stash_drop,
    "stash clear": _stash_clear,
    "branch": _branch,
    "tag": _tag,
    "merge": _abort,
    "rebase": _abort,
    "cherry-pick": _abort,
    "revert": _abort,
}
