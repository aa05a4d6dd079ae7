"""Looking at what stands in the work tree, without ever leaving it by a link that an agent put there.

Everything goes through directory descriptors, one component at a time. What was seen may change at any moment: this
finds out what is in the way, and what writes afterwards is a git that the kernel confines.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from executor.errors import Refused
from executor.git.foreign_copy import directory

_ENTER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_DEPTH = 200  # directories in one another; each takes a descriptor


class Place(Enum):
    NOTHING = "nothing"
    DIRECTORY = "a directory"
    OTHER = "something else"  # a file, a link to anything, …


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands at a path, or (`at`) on the way to it where that is no directory."""

    place: Place
    at: str
    found: os.stat_result | None
    readable: bool = True  # of a regular file: whether this user may read it


class TreeView:
    """A work tree that is looked at. The directory that was entered last is kept open: ask in order of names."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._entered: list[tuple[str, int]] = []  # the names on the way down, each with its descriptor

    def look(self, path: str) -> Standing:
        """Return what stands at `path` (relative, `/` between its parts)."""
        *above, last = path.split("/")
        depth = self._keep(above)
        within = self._entered[-1][1] if self._entered else self._root
        for number in range(depth, len(above)):
            here = _stat(above[number], within)
            at = "/".join(above[: number + 1])
            if here is None or not stat.S_ISDIR(here.st_mode) or number >= _MAX_DEPTH:
                return Standing(Place.NOTHING if here is None else Place.OTHER, at, here)
            try:
                within = os.open(above[number], _ENTER, dir_fd=within)
            except OSError:  # it was exchanged just now, or may not be entered
                return Standing(Place.OTHER, at, here)
            self._entered.append((above[number], within))
        return _standing(path, last, within)

    def files_in(self, path: str) -> Iterator[str]:
        """Yield everything below the directory `path` that is no directory, links not followed.

        Raises Refused("cannot_preserve") where it cannot be looked through.
        """
        *above, last = path.split("/")
        self.look(path)
        if len(self._entered) == len(above):
            within = self._entered[-1][1] if self._entered else self._root
            yield from _below(within, last, path, 0)

    def _keep(self, above: list[str]) -> int:
        """Leave the directories that are not on the way to `above`; return how many are."""
        names = [name for name, _ in self._entered]
        depth = next((n for n, pair in enumerate(zip(names, above, strict=False)) if pair[0] != pair[1]), len(names))
        depth = min(depth, len(above))
        while len(self._entered) > depth:
            os.close(self._entered.pop()[1])
        return depth

    def close(self) -> None:
        self._keep([])


@contextmanager
def tree_view(root: Path) -> Iterator[TreeView]:
    """Look at the work tree `root` within the block."""
    with directory(root) as descriptor:
        view = TreeView(descriptor)
        try:
            yield view
        finally:
            view.close()


def _stat(name: str, within: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=within, follow_symlinks=False)
    except OSError:
        return None


def _standing(path: str, name: str, within: int) -> Standing:
    found = _stat(name, within)
    if found is None:
        return Standing(Place.NOTHING, path, None)
    if stat.S_ISDIR(found.st_mode):
        return Standing(Place.DIRECTORY, path, found)
    readable = not stat.S_ISREG(found.st_mode) or os.access(name, os.R_OK, dir_fd=within, follow_symlinks=False)
    return Standing(Place.OTHER, path, found, readable)


def _below(within: int, name: str, path: str, depth: int) -> Iterator[str]:
    try:
        here = os.open(name, _LIST, dir_fd=within)
    except OSError as error:
        raise _closed(path, "this user may not look into it, or it was exchanged") from error
    try:
        with os.scandir(here) as entries:
            found = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
        for entry, is_directory in found:
            if not is_directory:
                yield f"{path}/{entry}"
            elif depth < _MAX_DEPTH:
                yield from _below(here, entry, f"{path}/{entry}", depth + 1)
            else:
                raise _closed(path, "too many directories lie in one another")
    finally:
        os.close(here)


def _closed(path: str, why: str) -> Refused:
    return Refused(
        "cannot_preserve",
        f"What lies in {path} would be replaced, and it cannot be looked through: {why}.",
        "Move that directory out of the work tree first.",
    )
