"""Upkeep of an adopted repository: what git's automatic gc would do were it on, and what a killed git leaves behind.

Automatic gc is off because it works in the background, where no deadline and no lock of ours holds it. Here it is
done by whoever holds the repository, in the same confinement as every git, and removes nothing that a rescue, a
reflog, the index or a ref of either git directory still leads to.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from executor.git.paths import RepositoryPaths
from executor.git.repository import Git

ABANDONED_SECONDS = 3600.0  # a temporary file of that age belongs to nobody; ours end with the lock anyway
UPKEEP_SECONDS = 300.0  # one git process
LOOSE_LIMIT = 2_000  # loose objects, beyond which those that refs lead to go into a pack
PACK_LIMIT = 50  # packs, beyond which they become one
_DAY = 24 * 3600.0
# As git 2.39 names them: half-written objects, packs, their indexes, and directories of incoming objects.
_TEMPORARY = re.compile(r"(tmp_[a-z]+_|tmp_objdir-|\.tmp-[0-9]+-).+")
_FAN_OUT = re.compile(r"[0-9a-f]{2}")
_OBJECT_NAMES = re.compile(r"[0-9a-f]{38}|[0-9a-f]{62}")


@dataclass(frozen=True, slots=True)
class Stock:
    """How many loose objects and packs there are; `oldest` is when the oldest loose one was written (s)."""

    loose: int
    packs: int
    oldest: float | None


def remove_abandoned(paths: RepositoryPaths, now: float, *, older_than: float = ABANDONED_SECONDS) -> int:
    """Remove temporary files from both object stores and `paths.tmp`; return the bytes freed.

    For the holder of the repository. `now` is in seconds since the epoch, `older_than` in seconds.
    """
    freed = 0
    for store in (paths.objects, paths.transfer / "objects"):
        places = [store, store / "pack", *(entry for entry in _children(store) if _FAN_OUT.fullmatch(entry.name))]
        for place in places:
            freed += sum(
                _remove(path, now - older_than) for path in _children(place) if _TEMPORARY.fullmatch(path.name)
            )
    return freed + sum(_remove(path, now - older_than) for path in _children(paths.tmp))


def keep_up(
    git: Git, keep_days: int, now: float, *, loose_limit: int = LOOSE_LIMIT, pack_limit: int = PACK_LIMIT
) -> tuple[str, ...]:
    """Pack what is loose and remove what nothing has led to for `keep_days`; return which git commands were run.

    For the holder of the repository. Raises Failed or TimedOut; what was done by then is complete in itself.
    """
    done = []
    stock = take_stock(git.paths.objects)
    if stock.loose > loose_limit or stock.packs > pack_limit:
        # `-k`: what is in a pack and led to by nothing stays there, however old; only loose objects are pruned.
        whole = ["-a", "-k"] if stock.packs > pack_limit else []
        for arguments in (["pack-refs", "--all"], ["repack", *whole, "-d", "-l", "-q"]):
            git.local(arguments, deadline=UPKEEP_SECONDS)
            done.append(arguments[0])
        stock = take_stock(git.paths.objects)
    if stock.oldest is not None and stock.oldest < now - keep_days * _DAY:
        git.local(["prune", f"--expire=@{int(now - keep_days * _DAY)}", "--", *_tips(git)], deadline=UPKEEP_SECONDS)
        done.append("prune")
    return tuple(done)


def take_stock(objects: Path) -> Stock:
    """Return what an object store holds, without asking git."""
    written = [
        found.st_mtime
        for fan_out in _children(objects)
        if _FAN_OUT.fullmatch(fan_out.name)
        for path in _children(fan_out)
        if _OBJECT_NAMES.fullmatch(path.name) and (found := _lstat(path)) is not None
    ]
    packs = sum(path.suffix == ".pack" for path in _children(objects / "pack"))
    return Stock(len(written), packs, min(written, default=None))


def _tips(git: Git) -> list[str]:
    """Return what only refs of the transfer repository lead to: it borrows the objects that are pruned here."""
    listing = ["for-each-ref", "--format=%(objectname)"]
    borrowed, own = (run(listing, exact=True).stdout.decode("ascii").split() for run in (git.transfer, git.local))
    return sorted(set(borrowed) - set(own))


def _children(directory: Path) -> Iterator[Path]:
    try:
        yield from [directory / name for name in os.listdir(directory)]
    except (FileNotFoundError, NotADirectoryError):
        return


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _remove(path: Path, last_written: float) -> int:
    found = _lstat(path)
    if found is None or found.st_mtime > last_written:
        return 0
    if stat.S_ISDIR(found.st_mode):
        size = sum(each.lstat().st_size for each in path.rglob("*"))
        shutil.rmtree(path, ignore_errors=True)
        return size
    path.unlink(missing_ok=True)
    return found.st_size
