"""Every place that a path leads through, links and mounts included: each of them decides what is found at its end."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_LINKS_MOST = 40  # as the kernel follows
_ENTRIES_MOST = 200_000


@dataclass(frozen=True, slots=True)
class Place:
    """A directory, file or link at a path without links before its end; `facts` are of itself, never of a target.

    `shared` says that it lies in a directory in which others may put things, too.
    """

    path: Path
    facts: os.stat_result
    shared: bool = False

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.facts.st_mode)

    @property
    def is_sticky(self) -> bool:
        """Whether it is a directory like /tmp: what is in it can only be replaced by its owner."""
        return stat.S_ISDIR(self.facts.st_mode) and bool(self.facts.st_mode & stat.S_ISVTX)

    @property
    def is_common(self) -> bool:
        """Whether others may put things into it, beside what is there."""
        return self.is_sticky and bool(self.facts.st_mode & (stat.S_IWOTH | stat.S_IWGRP))


def way(path: Path) -> Iterator[Place]:
    """Yield all that decides what is found at `path` (absolute): each directory and link on the way, its end last.

    Raises OSError where it cannot be followed.
    """
    here = Place(Path("/"), os.lstat("/"))
    yield here
    ahead, links = list(path.parts[1:]), 0
    while ahead:
        name = ahead.pop(0)
        at = here.path.parent if name == ".." else here.path / name
        found = Place(at, at.lstat(), here.is_common)
        yield found
        if not found.is_link:
            here = found
            continue
        links += 1
        if links > _LINKS_MOST:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = Path(os.readlink(at))
        ahead = [*target.parts[1 if target.is_absolute() else 0 :], *ahead]
        if target.is_absolute():
            here = Place(Path("/"), os.lstat("/"))


def below(root: Path, leave_out: frozenset[str]) -> Iterator[Place]:
    """Yield what lies below a directory, and the way of each link in it, with what lies below the link's end.

    What is directly below and named in `leave_out` is left out, and what this user may not list: nor may a program
    that it starts. Raises OSError where something cannot be looked at, or where there is more than is looked at.
    """
    looked, top = 0, Place(root, root.lstat())
    seen, waiting = {_identity(top.facts)}, [top]
    while waiting:
        directory = waiting.pop()
        for entry in _listed(directory.path):
            if directory is top and entry.name in leave_out:
                continue
            looked += 1
            if looked > _ENTRIES_MOST:
                raise OSError(errno.EFBIG, f"there are more than {_ENTRIES_MOST} files", str(root))
            place = Place(Path(entry.path), entry.stat(follow_symlinks=False), directory.is_common)
            yield place
            if place.is_link:
                with suppress(FileNotFoundError):  # where its end is not there, the way to it shows who could make it
                    for place in way(Path(entry.path)):
                        yield place
            if stat.S_ISDIR(place.facts.st_mode) and _identity(place.facts) not in seen:
                seen.add(_identity(place.facts))
                waiting.append(place)


def _listed(directory: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return sorted(entries, key=lambda each: each.name)
    except PermissionError:
        return []


def _identity(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_dev, facts.st_ino
