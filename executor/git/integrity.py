"""Whether a command that wrote the work tree wrote into the git directory behind git's back.

A process that may write both can be led from one into the other: the agent puts a link to the git directory where a
directory of the work tree was, and what should become a file becomes a hook, a setting or a ref. The kernel cannot
tell the two ways apart. So what no such command has a reason to change is looked at before and after it, and where it
changed, the repository is closed until a person has looked.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Failed, Refused
from executor.git.paths import RepositoryPaths

_FILES = frozenset({"config", "config.worktree", "commondir", "gitdir", "shallow", "info", "hooks", "worktrees"})
_TREES = ("info/", "hooks/", "worktrees/", "refs/", "objects/info/")
# Refs that commands on the work tree move: rebasing, stashing, bisecting; and the branch that HEAD is on.
_MOVING = ("refs/rewritten/", "refs/bisect/", "refs/stash")
_HEAD = re.compile(rb"(?:ref: (refs/heads/[^\n]+)|[0-9a-f]{40}|[0-9a-f]{64})\n?")
_SHOWN = 5
_Facts = tuple[int, int, int, int]  # inode, size, change time, mode


@dataclass(frozen=True, slots=True)
class Seal:
    """What was there before: facts of every guarded file, and the configuration, which git may add branches to."""

    guarded: Mapping[str, _Facts]
    config: bytes
    packed: frozenset[str]  # the lines of packed-refs: git writes that file anew whenever it deletes a ref
    branch: str  # the full name of the branch that HEAD is on, or empty


def check_untouched(paths: RepositoryPaths) -> None:
    """Raise Refused("git_dir_tampered") where an earlier command was found to have written where it must not."""
    try:
        said = paths.tampered.read_text(errors="replace")
    except FileNotFoundError:
        return
    raise Refused(
        "git_dir_tampered",
        f"The git directory of {paths.name} was written to from the work tree: {said.strip()}.",
        f"An operator has to look at {paths.local} on the host, put it right, and then remove {paths.tampered}.",
    )


@contextmanager
def sealed(paths: RepositoryPaths, words: Sequence[str] = ()) -> Iterator[None]:
    """Hold what runs in the block to leaving the guarded parts of the local repository alone.

    `words` are the command's: it may move the branch that HEAD is on, and the branches that it names. Raises
    Failed("git_dir_tampered") when it did more; the configuration is then put back, and the repository closed.
    """
    before = _look(paths.local)
    try:
        yield
    finally:
        found = _broken(before, paths.local, {f"refs/heads/{word.rpartition('=')[2]}" for word in words})
        if found:
            _close(paths, before, found)


def _close(paths: RepositoryPaths, before: Seal, found: tuple[str, ...]) -> None:
    if "config" in found:
        fresh = paths.local / "config.restored"
        fresh.write_bytes(before.config)
        fresh.chmod(0o600)
        fresh.replace(paths.local / "config")
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    said = ", ".join(found[:_SHOWN]) + more
    paths.tampered.write_text(said + "\n")
    raise Failed(
        "git_dir_tampered",
        f"The command was led from the work tree into the git directory ({said}); the repository is closed.",
        "An operator has to look at it on the host before anything else is done in this repository.",
    )


def _look(directory: Path) -> Seal:
    guarded = {name: facts for name, facts in _walk(directory, "") if _is_guarded(name)}
    return Seal(guarded, (directory / "config").read_bytes(), _packed(directory), _branch(directory) or "")


def _broken(before: Seal, directory: Path, named: set[str]) -> tuple[str, ...]:
    """Return what was changed, came or went although no command has a reason to, and everything that is no file."""
    after = dict(_walk(directory, ""))
    odd = {name for name, facts in after.items() if not stat.S_ISREG(facts[3]) and not stat.S_ISDIR(facts[3])}
    branch = None if "HEAD" in odd or "HEAD" not in after else _branch(directory)
    if branch is None:
        odd.add("HEAD")
    guarded = {name: facts for name, facts in after.items() if _is_guarded(name)}
    moved = {name for name in before.guarded.keys() | guarded.keys() if before.guarded.get(name) != guarded.get(name)}
    may_move = {before.branch, branch, *named}
    moved -= may_move
    if "packed-refs" not in odd and {_ref_of(line) for line in before.packed ^ _packed(directory)} - {
        before.branch,
        branch,
    }:
        moved.add("packed-refs")
    readable = "config" in after.keys() - odd
    if "config" in moved and readable and _only_branches(before.config, (directory / "config").read_bytes()):
        moved.discard("config")
    return tuple(sorted(odd | moved))


def _branch(directory: Path) -> str | None:
    """Return the branch that HEAD is on, "" when it is on none, None when HEAD says nothing that git would write."""
    found = _HEAD.fullmatch((directory / "HEAD").read_bytes())
    return None if found is None else (found[1] or b"").decode("utf-8", "surrogateescape")


def _packed(directory: Path) -> frozenset[str]:
    """Return the lines of packed-refs that are about refs which no command on the work tree moves."""
    try:
        lines = (directory / "packed-refs").read_text("utf-8", "surrogateescape").split("\n")
    except FileNotFoundError:
        return frozenset()
    return frozenset(
        line for line in lines if line[:1] not in ("", "#", "^") and not _ref_of(line).startswith(_MOVING)
    )


def _ref_of(line: str) -> str:
    return line.partition(" ")[2]


def _is_guarded(name: str) -> bool:
    return name in _FILES or (name.startswith(_TREES) and not name.startswith(_MOVING))


def _walk(directory: Path, prefix: str) -> Iterator[tuple[str, _Facts]]:
    """Yield (relative name, facts) of everything but object files and, for directories, of what cannot change."""
    with os.scandir(directory / prefix) as entries:
        for entry in entries:
            name = prefix + entry.name
            found = entry.stat(follow_symlinks=False)
            if not stat.S_ISDIR(found.st_mode):
                yield name, (found.st_ino, found.st_size, found.st_ctime_ns, found.st_mode)
                continue
            if not name.startswith("refs/"):  # directories of refs come and go with them
                yield name, (found.st_ino, 0, 0, found.st_mode)
            if not _holds_objects(name):
                yield from _walk(directory, name + "/")


def _holds_objects(name: str) -> bool:
    """Object files name their own content; what does not match its name is found when it is read or sent."""
    return name.startswith("objects/") and name != "objects/info"


def _only_branches(before: bytes, after: bytes) -> bool:
    """Whether the two configurations differ in `[branch …]` sections alone, by their plain lines."""
    return _without_branches(before) == _without_branches(after)


def _without_branches(config: bytes) -> list[bytes]:
    kept: list[bytes] = []
    skipping = False
    for line in config.splitlines():
        if line.startswith(b"["):
            skipping = line.startswith(b"[branch ") and line.endswith(b'"]')
        if not skipping or not _is_branch_line(line):
            kept.append(line)
    return kept


def _is_branch_line(line: bytes) -> bool:
    """What git writes into such a section: where the branch is merged from, and how."""
    word = line.strip().partition(b"=")[0].strip().lower()
    return line.startswith(b"[branch ") or word in (b"remote", b"merge", b"rebase", b"description", b"")
