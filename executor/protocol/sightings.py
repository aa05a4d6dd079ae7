"""What a sweep sees of a flag before it takes it, and what follows from that. Pure."""

from __future__ import annotations

import stat
from dataclasses import dataclass

from executor.errors import Refused
from executor.policy.operations import OPERATIONS
from executor.protocol.bodies import BODY_LIMIT, body_too_large
from executor.protocol.names import FlagName

SETTLE = 1.0  # s a flag must lie unchanged before a sweep takes it (inotify takes it at once when it is closed)
CUT_OFF_GRACE = 10.0  # s that a typed request which looks cut off is given to be completed (report D02)

_KINDS = {
    stat.S_IFLNK: ("flag_is_symlink", "a symbolic link"),
    stat.S_IFDIR: ("flag_is_directory", "a directory"),
    stat.S_IFIFO: ("flag_is_fifo", "a named pipe"),
    stat.S_IFSOCK: ("flag_is_socket", "a socket"),
    stat.S_IFCHR: ("flag_is_device", "a device"),
    stat.S_IFBLK: ("flag_is_device", "a device"),
}


@dataclass(frozen=True, slots=True)
class Sighting:
    """A flag as a sweep saw it: its name and what lstat said. Nothing was opened; it may be anything but a file."""

    name: bytes
    flag: FlagName
    mode: int
    dev: int
    ino: int
    size: int  # bytes
    mtime_ns: int  # the writer's choice; only ever used for order
    ctime_ns: int  # the kernel's
    seen: float  # s, monotonic

    @property
    def identity(self) -> str:
        """Names this state of this file; equal to the identity of a claim that could not remove it."""
        return state_of(self.dev, self.ino, self.ctime_ns, self.mtime_ns)


def state_of(dev: int, ino: int, ctime_ns: int, mtime_ns: int) -> str:
    """Name one state of one file. The change time cannot be set; inode and mtime alone repeat in honest use."""
    return f"{dev}:{ino}:{ctime_ns}:{mtime_ns}"


def settled(sighting: Sighting, now: float, previous: Sighting | None) -> bool:
    """Whether a flag has lain unchanged for `SETTLE`, so that its writer is taken to be done.

    Given the wall clock `now` (s since the epoch) and the `previous` sighting of the same name, if there was one.
    The change time decides; where it says nothing because the clock was set back, two equal sightings do.
    """
    if now - sighting.ctime_ns / 1e9 >= SETTLE:
        return True
    return previous is not None and _unchanged(sighting, previous) and sighting.seen - previous.seen >= SETTLE


def may_still_grow(sighting: Sighting, now: float) -> bool:
    """Whether a typed request that looks cut off is young enough to be left for a later sweep."""
    return 0 <= now - sighting.ctime_ns / 1e9 < CUT_OFF_GRACE


def sweep_order(sighting: Sighting) -> tuple[int, int, bytes]:
    """Sort key of a sweep: time of writing, then the operations' own order, then the name.

    A typed request tells its operation only when it is read, so it comes after the flags of the same instant.
    """
    operation = sighting.flag.operation
    rank = len(OPERATIONS) if operation is None else OPERATIONS[operation].rank
    return sighting.mtime_ns, rank, sighting.name


def problem_with(mode: int, links: int, size: int) -> Refused | None:
    """Given a file's mode, link count and size in bytes, return why it is not read, or None."""
    if not stat.S_ISREG(mode):
        code, kind = _KINDS.get(stat.S_IFMT(mode), ("flag_is_device", "not a file"))
        return Refused(code, f"the flag is {kind}", "write the flag as an ordinary file")
    if links != 1:
        return Refused(
            "flag_is_hard_link",
            f"the flag has {links} names (hard links), so it may be a file from elsewhere",
            "write the flag as a new file",
        )
    return body_too_large(size) if size > BODY_LIMIT else None


def _unchanged(one: Sighting, other: Sighting) -> bool:
    return (one.identity, one.size, one.mode) == (other.identity, other.size, other.mode)
