"""The index lock that a killed git leaves behind: who holds it, since when, and whether it may be removed (C02)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Failed
from executor.git.repository import Git

STALE_SECONDS = 600.0  # far beyond the deadline of any operation that takes the lock


@dataclass(frozen=True, slots=True)
class IndexLock:
    """A lock file that exists. `holder` is the pid of a process that may be using it, or None."""

    path: Path
    age_seconds: float
    holder: int | None

    @property
    def stale(self) -> bool:
        return self.holder is None and self.age_seconds > STALE_SECONDS


def find_lock(git: Git, now: float | None = None) -> IndexLock | None:
    """Return the index lock of the repository, or None. `now` is in seconds since the epoch."""
    path = git.paths.local / "index.lock"
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    age = (time.time() if now is None else now) - found.st_mtime
    return IndexLock(path, age, _holder(found))


def clear_stale_lock(git: Git, now: float | None = None) -> str:
    """Remove a stale lock and return what was done, in words for the outcome; "" when there was no lock.

    Raises Failed("index_locked") for a lock that is young or held. Only for the one worker that runs this
    repository's operations: the caller holds that role, so nobody of ours is inside git now.
    """
    lock = find_lock(git, now)
    if lock is None:
        return ""
    minutes = max(0, round(lock.age_seconds / 60))
    if not lock.stale:
        held = f"held by process {lock.holder}" if lock.holder is not None else "held by no process that is seen"
        raise Failed(
            "index_locked",
            f"The index is locked since {minutes} min, {held}.",
            f"Try again later; a lock that nobody holds is removed once it is older than {STALE_SECONDS / 60:g} min.",
        )
    lock.path.unlink(missing_ok=True)
    return f"Removed an index lock that was left behind {minutes} min ago and that no process held.\n"


def _holder(lock: os.stat_result) -> int | None:
    """Return a process that has the lock open, or a git whose files cannot be looked at."""
    for pid in _processes():
        try:
            for name in os.listdir(f"/proc/{pid}/fd"):
                opened = os.stat(f"/proc/{pid}/fd/{name}")
                if (opened.st_dev, opened.st_ino) == (lock.st_dev, lock.st_ino):
                    return pid
        except PermissionError:
            if _program(pid) == "git":
                return pid
        except OSError:
            continue  # ended while we looked
    return None


def _processes() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid())


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
