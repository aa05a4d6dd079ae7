"""Who besides the gateway's user could change a file, or put another one in its place."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gateway.setup import mends
from gateway.setup.check import Check, fail


@dataclass(frozen=True, slots=True)
class Loose:
    """A place that somebody else can write, and how that comes."""

    path: Path
    why: str
    mode: str  # what `chmod` is to be told; empty where it belongs to somebody else


def loose(path: Path) -> Loose | None:
    """Return how others than us and root can write `path` itself; None if they cannot."""
    facts = path.lstat()
    if facts.st_uid not in (0, os.geteuid()):
        return Loose(path, f"belongs to uid {facts.st_uid}", "")
    if stat.S_ISLNK(facts.st_mode):
        return None
    if facts.st_mode & stat.S_IWOTH:
        return Loose(path, f"can be written by every user (mode {stat.S_IMODE(facts.st_mode):04o})", "go-w")
    if facts.st_mode & stat.S_IWGRP and facts.st_gid not in (0, os.getegid()):
        return Loose(path, f"can be written by the group {facts.st_gid}", "g-w")
    return None


def loose_ancestors(path: Path) -> Iterator[Loose]:
    """Yield each directory above `path` whose writer could move it away and put something else there.

    In a sticky directory (/tmp) only the owner of an entry can move it, so there the entry is what counts.
    """
    for parent in Path(os.path.realpath(path)).parents:
        found = loose(parent)
        if found is not None and not (found.mode and parent.stat().st_mode & stat.S_ISVTX):
            yield found


def replaceable(name: str, path: Path, otherwise: str) -> Iterator[Check]:
    """Yield a failure for each directory above `path`, called `name`, whose writer could replace what is there.

    `otherwise` is what to do about one that belongs to somebody else, where closing it would not help.
    """
    for found in loose_ancestors(path):
        command = mends.as_owner(found.path, "chmod", found.mode, found.path) if found.mode else ""
        mend = "close it" if command else otherwise
        yield fail(f"above the {name}", f"{found.path} {found.why}: they can replace {path}", mend, command)


def foreign_entries(root: Path, limit: int) -> list[Path]:
    """Return what lies below `root` and belongs to others or can be written by them; at most `limit` are looked at.

    `objects` directories are left out: what is in them is named by its content and checked by git.
    """
    found = []
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if name != "objects"]
        for name in (*names, *files):
            limit -= 1
            path = Path(directory, name)
            facts = path.lstat()
            link = stat.S_ISLNK(facts.st_mode)
            if facts.st_uid != os.geteuid() or (not link and facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
                found.append(path)
            if limit <= 0:
                return found
    return found
