"""What a command on the work tree may see of the git directory, and what it may change there. Pure.

An allow-list by names (gitrepository-layout(5)). What is not named here is not given to such a command, and where it
turns up afterwards something of the work tree was written there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from executor.git.git_dir_layout import clean_reflog, is_ref_name
from executor.git.refnames import HEADS
from executor.git.rescue_record import NOTE_DIRECTORIES

# Given to be read; no such command has a reason to change them. A branch that a linked work tree is on is in use.
_READ_ONLY = re.compile(r"shallow|info/(?:exclude|sparse-checkout)|worktrees/[^/]+/(?:HEAD|gitdir|commondir|locked)")
CARRIED_DIRECTORIES = ("info", "worktrees", *NOTE_DIRECTORIES, "logs")
# git's notes about something unfinished, and what it leaves for the next command.
_STATE = re.compile(
    r"(?:MERGE_(?:HEAD|MODE|MSG|RR|AUTOSTASH)|(?:ORIG|CHERRY_PICK|REVERT|REBASE|FETCH)_HEAD|SQUASH_MSG|AUTO_MERGE"
    r"|COMMIT_EDITMSG|BISECT_[A-Z_]+|(?:rebase-merge|rebase-apply|sequencer)/[^\n]+)"
)
OBJECT = re.compile(r"objects/([0-9a-f]{2})/([0-9a-f]{38}|[0-9a-f]{62})")
PACK = re.compile(r"objects/pack/(pack-[0-9a-f]+)\.pack")
LFS_OBJECT = re.compile(r"lfs/objects/([0-9a-f]{2})/([0-9a-f]{2})/(\1\2[0-9a-f]{60})")
_LFS_SCRATCH = re.compile(r"lfs/(?:tmp|cache|logs)/[^\n]+")
_MADE_AGAIN = re.compile(r"objects/pack/pack-[0-9a-f]+\.(?:idx|rev)|packed-refs")
_LEFT_OVER = re.compile(
    r".*\.lock|objects/(?:[0-9a-f]{2}|pack)/(?:tmp|\.tmp)[^/]*|index\.stash\.\d+|packed-refs\.new"
)
# Refs that commands on the work tree move whatever their words: rebasing, stashing, bisecting.
_MOVING = ("refs/rewritten/", "refs/bisect/", "refs/stash")
_HEAD = re.compile(r"(?:ref: (refs/heads/[^\n]+)|[0-9a-f]{40}|[0-9a-f]{64})\n?")
_SECTION = re.compile(rb'\[branch "((?:[^"\\\n]|\\["\\])+)"\]')
# As git writes them: bare, or in quotes where a character needs it. No comment, and no line that goes on.
_BRANCH_LINE = re.compile(
    rb'\s*(?:remote|merge|rebase|description) = (?:[^"\\;#\n]*|"(?:[^"\\\n]|\\["\\])*")\s*', re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Contents:
    """What of a git directory is carried to and fro, but for index and objects.

    `files` are those that `is_carried` names; `refs` are as `ref_files` reads them.
    """

    head: str
    config: bytes
    refs: Mapping[str, str]
    files: Mapping[str, bytes]


def is_carried(name: str) -> bool:
    """Whether the file `name` is one of `Contents.files`: git's notes, what is only read, and the reflogs."""
    if name.startswith("logs/"):
        return not name.endswith(".lock")
    return _STATE.fullmatch(name) is not None or _READ_ONLY.fullmatch(name) is not None


def without_idle_logs(contents: Contents, words: Sequence[str]) -> Contents:
    """Return `contents` without the reflogs that a command with these `words` does not read: there can be thousands.

    It reads them for `-`, `x@{1}`, or a rebase onto what the branch follows. To the others it can only add lines,
    which it can do without knowing them.
    """
    branch = branch_of(contents.head) or ""
    followed = _taken_apart(contents.config.splitlines())[1].get(branch.removeprefix(HEADS), [])
    said = " ".join([*words, *(line.decode("utf-8", "surrogateescape") for line in followed)])

    def idle(name: str) -> bool:
        ref = name.removeprefix("logs/")
        of_branch = name.startswith(("logs/refs/heads/", "logs/refs/remotes/"))
        return of_branch and ref != branch and ref.rpartition("/")[2] not in said

    kept = {name: content for name, content in contents.files.items() if not idle(name)}
    return replace(contents, files=kept)


def is_expected(name: str, *, lfs: bool) -> bool:
    """Whether a file of this name may be there after a command, whatever is in it; with `lfs` that of Git LFS too."""
    known = name in ("HEAD", "config", "index") or name.startswith("refs/") or is_carried(name)
    if lfs and any(form.fullmatch(name) for form in (LFS_OBJECT, _LFS_SCRATCH)):
        return True
    return known or any(form.fullmatch(name) for form in (OBJECT, PACK, _MADE_AGAIN, _LEFT_OVER))


def branch_of(head: str) -> str | None:
    """Return the full name of the branch that HEAD is on, "" when it is on none, None for what git does not write."""
    found = _HEAD.fullmatch(head)
    if found is None or (found[1] and not is_ref_name(found[1])):
        return None
    return found[1] or ""


def intrusions(before: Contents, after: Contents, words: Sequence[str]) -> tuple[str, ...]:
    """Return the names of what a command with these `words` has no reason to have changed, in order."""
    branch = branch_of(after.head)
    if branch is None:
        return ("HEAD",)
    may_move = {f"{HEADS}{word.rpartition('=')[2]}" for word in words} | {branch, branch_of(before.head) or ""}
    any_branch = "--update-refs" in words or "rebase-merge/update-refs" in before.files

    def movable(ref: str) -> bool:
        return ref in may_move or ref.startswith(_MOVING) or (any_branch and ref.startswith(HEADS))

    found = {name for name in changed(before.refs, after.refs) if not movable(name) or _odd(name, after.refs)}
    for name in changed(before.files, after.files):
        if _READ_ONLY.fullmatch(name):
            found.add(name)
        if name.startswith("logs/"):
            ref = name.removeprefix("logs/")
            lines_wrong = clean_reflog(after.files.get(name, b""))[1]
            if lines_wrong or not (ref == "HEAD" or _STATE.fullmatch(ref) or movable(ref)):
                found.add(name)
    sections = changed_branches(before.config, after.config)
    if sections is None or not all(movable(HEADS + name) for name in sections):
        found.add("config")
    return tuple(sorted(found))


def _odd(name: str, refs: Mapping[str, str]) -> bool:
    return not is_ref_name(name) or refs.get(name, "").startswith("ref: ")


def changed(before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    """Return the keys whose value came, went or is another one."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def changed_branches(before: bytes, after: bytes) -> frozenset[str] | None:
    """Return which branches' `[branch …]` sections differ between two configurations, None where more differs."""
    others_before, branches_before = _taken_apart(before.splitlines())
    others_after, branches_after = _taken_apart(after.splitlines())
    if others_before != others_after:
        return None
    return frozenset(changed(branches_before, branches_after))


def _unescaped(name: bytes) -> str:
    return re.sub(rb'\\(["\\])', rb"\1", name).decode("utf-8", "surrogateescape")


def _taken_apart(lines: Iterable[bytes]) -> tuple[list[tuple[bytes, bytes]], dict[str, list[bytes]]]:
    """Return (section, line) of everything but what git writes about branches, and that by branch."""
    others: list[tuple[bytes, bytes]] = []
    branches: dict[str, list[bytes]] = {}
    section, branch = b"", None
    for line in lines:
        if line.startswith(b"["):
            found = _SECTION.fullmatch(line)
            section, branch = line, None if found is None else _unescaped(found[1])
            if branch is not None:
                continue
        if branch is not None and _BRANCH_LINE.fullmatch(line):
            branches.setdefault(branch, []).append(line)
        else:
            others.append((section, line))
    return others, branches
