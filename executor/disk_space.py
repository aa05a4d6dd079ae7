"""How much room has to be left where the state lies before anything is done that keeps objects there."""

from __future__ import annotations

import os
from pathlib import Path

from executor.errors import Refused, Unavailable

_LEAST = 200 * 1000**2  # bytes; the record and the audit log go on in them
_SHARE = 0.02
_MOST = 5 * 1000**3  # 2 % of a large disk is more than anybody has to keep free


def floor(total: int) -> int:
    """Given a file system's size, return how much of it has to be free (bytes)."""
    least = min(_LEAST, total // 10)  # a file system of its own for the state may be small
    return max(least, min(int(total * _SHARE), _MOST))


def record_floor(total: int) -> int:
    """Given a file system's size, return how much of it (bytes) is left to the record of what operators do."""
    return min(_LEAST, total // 10) // 2


def require_record_space(directory: Path) -> None:
    """Raise Unavailable unless the file system of `directory` has room for requests of the agent to be recorded.

    Also what only reads is recorded, with what it was told: by the gigabyte, if an agent asks without end. Flags wait
    then where they lie, and the freeze, the no and the ends of what runs still find room.
    """
    found = os.statvfs(directory)
    if found.f_bavail * found.f_frsize < record_floor(found.f_blocks * found.f_frsize):
        raise Unavailable(
            "disk_full",
            "the disk that holds the record is nearly full, so no flags are taken and nothing more is run",
            "make room on it; what waits goes on by itself",
        )


def require_space(directory: Path) -> None:
    """Raise Refused("disk_low") unless the file system of `directory` has room for what a change may write.

    What git adds is kept as long as rescues are, so an agent could fill the disk, and the audit log would stop.
    """
    found = os.statvfs(directory)
    if found.f_bavail * found.f_frsize >= floor(found.f_blocks * found.f_frsize):
        return
    raise Refused(
        "disk_low",
        "the host's disk is nearly full, so only what reads is run",
        "tell an operator; ask again when there is room",
    )
