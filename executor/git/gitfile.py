"""The name `.git` in the work tree: what stands there, and changing it in one step that survives a crash.

The work tree is the agent's, so everything here goes through its directory descriptor and follows no link. What a
change is about is first written to a journal in the state directory; whoever comes after a crash reads it.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from executor.errors import Unavailable
from executor.git.foreign_copy import directory, read_file, write_new
from executor.git.git_dirs import write_private
from executor.git.paths import RepositoryPaths

DOT_GIT = ".git"
_GITFILE_LIMIT = 8192  # bytes
_RENAME_EXCHANGE = 2  # renameat2(2)
_libc = ctypes.CDLL(None, use_errno=True)


class Standing(StrEnum):
    """What stands at `.git`."""

    OURS = "a gitfile that points to the adopted repository"
    OTHER_GITFILE = "a gitfile that points elsewhere"
    DIRECTORY = "a directory"
    SYMLINK = "a symbolic link"
    MISSING = "nothing"
    OTHER = "neither a file nor a directory"


class Phase(StrEnum):
    SWAPPING = "swapping"  # adoption: the copy is complete, `.git` may or may not have been exchanged
    SWAPPED = "swapped"  # adoption: exchanged and compared; the old directory is still to be removed
    RELEASING = "releasing"  # release: `.git` may or may not have been exchanged
    RELEASED = "released"  # release: exchanged; what the state directory holds is still to be removed


@dataclass(frozen=True, slots=True)
class Journal:
    """A change in progress.

    `directory` is device and inode of the git directory in the work tree: the old one when adopting, the new one when
    releasing ((0, 0) before it is made). It stands at `.git` or at `aside`.
    """

    phase: Phase
    aside: str  # name in the work tree under which the other of the two stands
    directory: tuple[int, int]
    fingerprint: str = ""


@contextmanager
def repository_lock(paths: RepositoryPaths) -> Iterator[None]:
    """Hold the repository (`paths.root` exists) against every other process that takes this lock.

    Raises Unavailable("repository_busy") at once when another has it.
    """
    with directory(paths.root) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Unavailable(
                "repository_busy",
                f"The repository {paths.name!r} is in use by the gateway or by another adopt or release.",
                "Wait until it is done, or stop the gateway: systemctl stop ops-gateway",
            ) from error
        yield


def gitfile_content(paths: RepositoryPaths) -> bytes:
    return b"gitdir: " + os.fsencode(paths.local) + b"\n"


def look(tree: int, paths: RepositoryPaths) -> Standing:
    """Return what stands at `.git` in the work tree `tree`."""
    try:
        found = os.stat(DOT_GIT, dir_fd=tree, follow_symlinks=False)
    except FileNotFoundError:
        return Standing.MISSING
    if stat.S_ISDIR(found.st_mode):
        return Standing.DIRECTORY
    if stat.S_ISLNK(found.st_mode):
        return Standing.SYMLINK
    if not stat.S_ISREG(found.st_mode):
        return Standing.OTHER
    is_ours = found.st_size <= _GITFILE_LIMIT and read_file(tree, DOT_GIT, _GITFILE_LIMIT) == gitfile_content(paths)
    return Standing.OURS if is_ours else Standing.OTHER_GITFILE


def identity(tree: int, name: str) -> tuple[int, int] | None:
    """Return device and inode of the directory `name` in the work tree, or None when it is no directory."""
    try:
        found = os.stat(name, dir_fd=tree, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def fresh_name(kind: str) -> str:
    """Return a name for something that stands beside `.git` for a while."""
    return f"{DOT_GIT}.{kind}-{os.urandom(4).hex()}"


def write_gitfile(tree: int, name: str, paths: RepositoryPaths) -> None:
    write_new(tree, name, gitfile_content(paths), 0o644)


def exchange(tree: int, aside: str) -> None:
    """Exchange `.git` and `aside` in one step; in three where the file system has no such call (NFS, some FUSE)."""
    if _libc.renameat2(tree, os.fsencode(DOT_GIT), tree, os.fsencode(aside), _RENAME_EXCHANGE) != 0:
        number = ctypes.get_errno()
        if number not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
            raise OSError(number, os.strerror(number), aside)
        for source, target in ((DOT_GIT, _third(aside)), (aside, DOT_GIT), (_third(aside), aside)):
            os.rename(source, target, src_dir_fd=tree, dst_dir_fd=tree)
    os.fsync(tree)


def mend_exchange(tree: int, aside: str) -> None:
    """Bring an exchange in three steps that was cut off back to its beginning, or to its end."""
    with suppress(FileNotFoundError):
        os.stat(_third(aside), dir_fd=tree, follow_symlinks=False)
        try:
            os.stat(DOT_GIT, dir_fd=tree, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(_third(aside), DOT_GIT, src_dir_fd=tree, dst_dir_fd=tree)
        else:
            os.rename(_third(aside), aside, src_dir_fd=tree, dst_dir_fd=tree)


def _third(aside: str) -> str:
    return f"{aside}.old"


def move_aside(tree: int, kind: str) -> str:
    """Give `.git`, whatever it is, a name that people see, and return that name."""
    name = fresh_name(kind)
    os.rename(DOT_GIT, name, src_dir_fd=tree, dst_dir_fd=tree)
    return name


def journal_path(paths: RepositoryPaths) -> Path:
    return paths.root / "adoption.journal"


def read_journal(paths: RepositoryPaths) -> Journal | None:
    """Return the change that was in progress, or None. The file is ours, so it is well-formed or a bug."""
    try:
        found = json.loads(journal_path(paths).read_bytes())
    except FileNotFoundError:
        return None
    device, inode = found["directory"]
    return Journal(Phase(found["phase"]), found["aside"], (device, inode), found["fingerprint"])


def write_journal(paths: RepositoryPaths, journal: Journal) -> None:
    write_private(journal_path(paths), json.dumps(asdict(journal)).encode(), durable=True)
    sync_directory(paths.root)


def end_journal(paths: RepositoryPaths) -> None:
    journal_path(paths).unlink(missing_ok=True)
    sync_directory(paths.root)


def sync_directory(path: Path) -> None:
    """Bring renames in a directory of ours to disk."""
    with directory(path) as descriptor:
        os.fsync(descriptor)
