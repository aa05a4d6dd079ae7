"""Lock files that a killed git leaves behind: who holds one, since when, and whether it may be removed (C02).

git locks the index, each ref, `packed-refs`, `config` and more by a file NAME.lock next to it, and waits for nobody:
one that stays ends every later git that needs it.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Failed
from executor.git.command_dir import LOCK_MARK
from executor.git.recovery_model import STALE_LOCK_SECONDS
from executor.git.repository import Git
from executor.sandbox.processes import other_processes, owner_of, program_of, writes_to

_SUFFIX = ".lock"
_DEEP = ("refs", "logs", "objects/info")  # where locks lie below the top of a git directory


@dataclass(frozen=True, slots=True)
class LockFile:
    """A lock file that exists. `name` tells which one; `holder` is the pid of a process that may be using it.

    `ours` says that a command of the gateway made it. Such a command ends before the next one looks, so what is left
    is of a gateway that was killed.
    """

    path: Path
    name: str
    age_seconds: float
    holder: int | None
    ours: bool

    @property
    def stale(self) -> bool:
        return self.holder is None and (self.ours or self.age_seconds > STALE_LOCK_SECONDS)


def find_lock(git: Git, now: float | None = None) -> LockFile | None:
    """Return the lock of the index, or None. `now` is in seconds since the epoch."""
    path = git.paths.local / "index.lock"
    return next(iter(_looked_at({path: path.name}, now)), None)


def find_locks(git: Git, now: float | None = None) -> tuple[LockFile, ...]:
    """Return every lock file in the two git directories, those of the transfer repository named as such."""
    found = {path: str(path.relative_to(git.paths.local)) for path in _lock_paths(git.paths.local)}
    transfer = git.paths.transfer
    found |= {path: f"{transfer.name}/{path.relative_to(transfer)}" for path in _lock_paths(transfer)}
    return _looked_at(found, now)


def clear_stale_lock(git: Git, now: float | None = None) -> str:
    """Remove a stale lock of the index and return what was done, in words for the outcome; "" without a lock.

    Raises Failed("index_locked") for a lock that is young or held. Only for the one worker that runs this
    repository's operations: the caller holds that role, so nobody of ours is inside git now.
    """
    lock = find_lock(git, now)
    if lock is None:
        return ""
    if not lock.stale:
        held = f"held by process {lock.holder}" if lock.holder is not None else "held by no process that is seen"
        raise Failed(
            "index_locked",
            f"The index is locked since {_minutes(lock)} min, {held}.",
            f"Try again later; a lock that nobody holds is removed once it is older than "
            f"{STALE_LOCK_SECONDS / 60:g} min.",
        )
    lock.path.unlink(missing_ok=True)
    return f"Removed an index lock that was left behind {_minutes(lock)} min ago and that no process held.\n"


def clear_stale_locks(git: Git, now: float | None = None) -> tuple[str, ...]:
    """Remove every stale lock file and return their names. For the one worker, as `clear_stale_lock`.

    Raises Failed("locked") where one is young or held; none is removed then.
    """
    locks = find_locks(git, now)
    for lock in locks:
        if not lock.stale:
            said = f"{lock.name} is {_minutes(lock)} min old, or a process holds it."
            raise Failed("locked", said, "Try again later.")
    for lock in locks:
        lock.path.unlink(missing_ok=True)
    return tuple(lock.name for lock in locks)


def _minutes(lock: LockFile) -> int:
    return max(0, round(lock.age_seconds / 60))


def _lock_paths(git_dir: Path) -> Iterator[Path]:
    yield from (path for path in sorted(git_dir.iterdir()) if path.name.endswith(_SUFFIX))
    for part in _DEEP:
        for directory, _, names in os.walk(git_dir / part):
            yield from (Path(directory, name) for name in sorted(names) if name.endswith(_SUFFIX))


def _looked_at(names: Mapping[Path, str], now: float | None) -> tuple[LockFile, ...]:
    moment = time.time() if now is None else now
    there = {}
    for path in names:
        try:
            there[path] = path.lstat()
        except FileNotFoundError:
            continue
    ours = {path: _is_ours(path) for path in there}
    holders = _holders(
        {_file(found) for found in there.values()}, {_file(there[path]) for path in there if ours[path]}
    )
    return tuple(
        LockFile(path, names[path], moment - found.st_mtime, holders.get(_file(found)), ours[path])
        for path, found in there.items()
    )


def _file(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _is_ours(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return path.read_bytes() == LOCK_MARK if path.lstat().st_size == len(LOCK_MARK) else False
    return False


def _holders(wanted: set[tuple[int, int]], ours: set[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return, by device and inode, a process that has the file open to write, or a git that may have.

    Nobody but the gateway's user and root comes into its git directories, so an agent's program that is called git
    holds nothing, and neither does one that only reads in a container. What is `ours` only our own user's can hold,
    and their files can be looked at.
    """
    found: dict[tuple[int, int], int] = {}
    for pid in other_processes() if wanted else ():
        try:
            found |= dict.fromkeys(_written_by(pid, wanted), pid)
        except PermissionError:
            if program_of(pid) == "git" and owner_of(pid) in (0, os.geteuid()):
                found |= dict.fromkeys(wanted - ours - found.keys(), pid)
        except OSError:
            continue  # ended while we looked
    return found


def _written_by(pid: int, wanted: set[tuple[int, int]]) -> set[tuple[int, int]]:
    found = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed while we looked
            file = _file(os.stat(f"/proc/{pid}/fd/{name}"))
            if file in wanted and writes_to(pid, name):
                found.add(file)
    return found
