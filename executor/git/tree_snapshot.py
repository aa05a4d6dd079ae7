"""The files of the work tree as a tree object, byte for byte."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from executor.git.questions import index_gitlinks, text
from executor.git.repository import Git
from executor.git.snapshot_directory import directory, environment, prepare, run, seal
from executor.git.tree_view import tree_view
from executor.policy.model import Contact

_LIST = ("ls-files", "-z", "--exclude-standard")


@dataclass(frozen=True, slots=True)
class SnapshotLimits:
    """How much uncommitted work is kept before an operation, in bytes and files."""

    file_bytes: int = 512 * 1024 * 1024
    total_bytes: int = 2 * 1024 * 1024 * 1024
    files: int = 200_000


@dataclass(frozen=True, slots=True)
class TreeSnapshot:
    """`tree` holds every file that git does not ignore. `left_out` are those it could not take, each with the reason;
    `embedded` are directories with a git repository of their own, which are never entered."""

    tree: str
    left_out: tuple[str, ...] = ()
    embedded: tuple[str, ...] = ()


def take(git: Git, limits: SnapshotLimits, also: Iterable[str] = ()) -> TreeSnapshot:
    """Return the work tree as it is now. Files that are ignored and not tracked are no part of it, but for `also`.

    Raises Failed or TimedOut where git could not read the tree.
    """
    prepare(git)
    listed = _fields(run(git, [*_LIST, "--others", "--modified", "-t"], Contact.READ))
    seen = {field[2:] for field in listed}
    tracked = _ignored_yet_tracked(git, {}) | {os.fsencode(path) for path in also}
    stale = _ignored_yet_tracked(git, environment(git)) - tracked
    embedded = {path for path in seen if path.endswith(b"/")}
    there = _presence(git.paths.work_tree, (seen | tracked) - embedded - stale)
    present, absent = there.present, there.absent
    left_out = there.unreadable | _over_limits(git, present, limits)
    _update(git, "--force-remove", sorted(absent | stale | set(left_out)))
    fed = sorted(set(present) - set(left_out))
    _update(git, "--add", fed)
    if fed:
        embedded |= _drop_gitlinks(git)
        new = {field[2:] for field in listed if field.startswith(b"? ")}
        refused = new.intersection(_fields(run(git, [*_LIST, "--others"], Contact.READ)), fed)
        left_out |= dict.fromkeys(refused, "git does not take its name")
    tree = text(run(git, ["write-tree"], Contact.NONE)).strip()
    seal(git)
    reasons = tuple(f"{text(path)} ({why})" for path, why in sorted(left_out.items()))
    return TreeSnapshot(tree, reasons, tuple(sorted(text(path.rstrip(b"/")) for path in embedded)))


def _fields(output: bytes) -> list[bytes]:
    return output.split(b"\0")[:-1]


def _ignored_yet_tracked(git: Git, variables: dict[str, str]) -> set[bytes]:
    done = git.local([*_LIST, "--cached", "--ignored"], contact=Contact.READ, exact=True, env=variables)
    return set(_fields(done.stdout))


@dataclass(frozen=True, slots=True)
class _Presence:
    """What of some paths is there: path -> size of files and symlinks, those of them that may not be read, and the
    paths that are gone, are something else, or could only be reached through a link."""

    present: dict[bytes, int]
    unreadable: dict[bytes, str]
    absent: set[bytes]


def _presence(root: Path, paths: Iterable[bytes]) -> _Presence:
    result = _Presence({}, {}, set())
    with tree_view(root) as view:
        for path in sorted(paths):
            standing = view.look(os.fsdecode(path))
            found = standing.found if standing.at == os.fsdecode(path) else None
            if found is None or not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
                result.absent.add(path)
                continue
            result.present[path] = found.st_size
            if not standing.readable:
                result.unreadable[path] = "the host may not read it"
    return result


def _over_limits(git: Git, present: dict[bytes, int], limits: SnapshotLimits) -> dict[bytes, str]:
    """Return what is too much to keep, with the reason. What git has committed anyway does not count."""

    def too_much(sizes: dict[bytes, int]) -> bool:
        return len(sizes) > limits.files or sum(sizes.values()) > limits.total_bytes

    if not too_much(present) and max(present.values(), default=0) <= limits.file_bytes:
        return {}
    done = git.local([*_LIST, "--others", "--modified"], contact=Contact.READ, exact=True)
    at_risk = {path: present[path] for path in set(_fields(done.stdout)) & present.keys()}
    over = {path: f"{size} bytes" for path, size in at_risk.items() if size > limits.file_bytes}
    rest = {path: size for path, size in at_risk.items() if path not in over}
    if too_much(rest):
        over |= {path: f"one of {len(rest)} files, {sum(rest.values())} bytes in all" for path in rest}
    return over


def _update(git: Git, how: str, paths: Sequence[bytes]) -> None:
    if paths:
        stdin = b"".join(path + b"\0" for path in paths)
        options = ["--add", "--remove", "--replace"] if how == "--add" else [how]
        run(git, ["update-index", *options, "-z", "--stdin"], Contact.READ, stdin)


def _drop_gitlinks(git: Git) -> set[bytes]:
    """Take out what turned into a repository while we looked; with a gitlink in an index git would run inside it."""
    links = {os.fsencode(path) for path in index_gitlinks(git, index=directory(git) / "index")}
    _update(git, "--force-remove", sorted(links))
    return links
