"""Reading, copying and removing in a directory that an agent can change at any moment.

Everything goes through directory descriptors and one path component at a time; no link is followed, nothing blocks,
everything is bounded. A name is only ever a name: what it stood for a moment ago is not relied on.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from executor.errors import Refused

MAX_DEPTH = 24  # directories below the root; refs of sane names and objects need far less
MAX_ENTRIES = 2_000_000  # files and directories in one walk
_MAX_PASSES = 100_000  # of a removal: one a level, and whoever keeps adding files does not keep us busy for ever
_CHUNK = 1024 * 1024
_OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Kind(StrEnum):
    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symbolic link"
    FIFO = "FIFO"
    SOCKET = "socket"
    DEVICE = "device"
    MOUNT = "mount point"  # a directory of another file system; not entered
    TOO_DEEP = "directory nested too deeply"  # not entered


@dataclass(frozen=True, slots=True)
class Found:
    """One entry of a walk. `directory` is the descriptor it lies in and is valid until the walk goes on."""

    path: str  # relative to the root of the walk, as os.fsdecode gives it
    name: str
    kind: Kind
    size: int  # bytes
    links: int
    uid: int
    identity: tuple[int, int, int, int]  # inode, size, mtime and ctime in ns: differs when it was changed
    directory: int


@contextmanager
def directory(name: str | Path, within: int | None = None) -> Iterator[int]:
    """Open a directory without following a link in its last component, and give its descriptor."""
    descriptor = os.open(name, _OPEN_DIRECTORY, dir_fd=within)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def walk(root: int, prefix: str = "", depth: int = 0) -> Iterator[Found]:
    """Yield everything below the directory `root`, parents before their children, in the order of names.

    Raises Refused("git_dir_unreadable") for a directory that this user may not enter and Refused("git_dir_too_large")
    past MAX_ENTRIES entries.
    """
    for number, found in enumerate(_walk(root, prefix, depth, os.fstat(root).st_dev)):
        if number >= MAX_ENTRIES:
            raise Refused(
                "git_dir_too_large",
                f"There are more than {MAX_ENTRIES} files in the git directory.",
                "Pack the repository first: git gc",
            )
        yield found


def _walk(root: int, prefix: str, depth: int, device: int) -> Iterator[Found]:
    with os.scandir(root) as entries:
        names = sorted(entry.name for entry in entries)
    for name in names:
        try:
            found = os.stat(name, dir_fd=root, follow_symlinks=False)
        except FileNotFoundError:
            continue  # a temporary file of a git that is running; the caller compares before and after
        kind = _kind(found, device, depth)
        yield Found(
            path=prefix + name,
            name=name,
            kind=kind,
            size=found.st_size,
            links=found.st_nlink,
            uid=found.st_uid,
            identity=(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns),
            directory=root,
        )
        if kind is Kind.DIRECTORY:
            with _entered(root, name, prefix + name) as child:
                yield from _walk(child, f"{prefix}{name}/", depth + 1, device)


def _kind(found: os.stat_result, device: int, depth: int) -> Kind:
    mode = found.st_mode
    if stat.S_ISDIR(mode):
        if found.st_dev != device:
            return Kind.MOUNT
        return Kind.DIRECTORY if depth < MAX_DEPTH else Kind.TOO_DEEP
    for test, kind in (
        (stat.S_ISREG, Kind.FILE),
        (stat.S_ISLNK, Kind.SYMLINK),
        (stat.S_ISFIFO, Kind.FIFO),
        (stat.S_ISSOCK, Kind.SOCKET),
    ):
        if test(mode):
            return kind
    return Kind.DEVICE


@contextmanager
def _entered(within: int, name: str, path: str) -> Iterator[int]:
    try:
        descriptor = os.open(name, _OPEN_DIRECTORY, dir_fd=within)
    except PermissionError as error:
        raise _unreadable(path) from error
    except OSError as error:
        raise changed(path) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _regular(within: int, name: str) -> Iterator[int]:
    """Open a regular file for reading; anything that took its place meanwhile is Refused."""
    try:
        descriptor = os.open(name, _OPEN_FILE, dir_fd=within)
    except PermissionError as error:
        raise _unreadable(name) from error
    except OSError as error:
        raise changed(name) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise changed(name)
        yield descriptor
    finally:
        os.close(descriptor)


def read_file(within: int, name: str, limit: int) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    Raises Refused: `git_file_too_large`, `git_dir_unreadable`, or `git_dir_changed` when it is no regular file now.
    """
    parts: list[bytes] = []
    left = limit + 1
    with _regular(within, name) as source:
        while left and (part := os.read(source, min(left, _CHUNK))):
            parts.append(part)
            left -= len(part)
    if not left:
        raise Refused("git_file_too_large", f"{name!r} in the git directory is larger than {limit} bytes.")
    return b"".join(parts)


def copy_file(within: int, name: str, target: Path, limit: int) -> None:
    """Copy a regular file of at most `limit` bytes into a new file (0600) of a directory that is ours.

    Always a fresh inode: whoever holds the old one open, or has another link to it, cannot change the copy.
    Raises Refused as `read_file` does; a file that has grown past `limit` is `git_dir_changed`.
    """
    with _regular(within, name) as source:
        destination = os.open(target, _CREATE_FILE, 0o600)
        try:
            if _pour(source, destination, limit) > limit:
                raise changed(name)
        finally:
            os.close(destination)


def _pour(source: int, destination: int, limit: int) -> int:
    copied = 0
    while copied <= limit and (part := os.read(source, _CHUNK)):
        copied += len(part)
        view = memoryview(part)
        while view:
            view = view[os.write(destination, view) :]
    return copied


def copy_tree_into(source: Path, within: int, name: str) -> None:
    """Copy a tree of ours (regular files and directories) to a new directory `name` in a foreign directory.

    Written only through descriptors of directories made here: a link that is put in the way makes it fail.
    Raises OSError, FileExistsError among them.
    """
    os.mkdir(name, 0o700, dir_fd=within)
    with directory(name, within) as target, os.scandir(source) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                copy_tree_into(Path(entry.path), target, entry.name)
            elif entry.is_file(follow_symlinks=False):
                _copy_out(Path(entry.path), target, entry.name)


def _copy_out(source: Path, within: int, name: str) -> None:
    with source.open("rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        destination = os.open(name, _CREATE_FILE, mode & 0o755, dir_fd=within)
        try:
            _pour(file.fileno(), destination, os.fstat(file.fileno()).st_size)
        finally:
            os.close(destination)


def write_new(within: int, name: str, content: bytes, mode: int = 0o600) -> None:
    """Create the file `name` with `content` in a foreign directory and bring it to disk. Raises FileExistsError."""
    descriptor = os.open(name, _CREATE_FILE, mode, dir_fd=within)
    try:
        os.fchmod(descriptor, mode)
        os.write(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_tree(within: int, name: str) -> None:
    """Remove a directory and all that is in it, however deep, without leaving it by a link. Raises OSError.

    A sub-directory that is not empty is first moved up, so that two descriptors are enough for any depth.
    """
    with directory(name, within) as top:
        number = 0
        for _ in range(_MAX_PASSES):
            entries = os.listdir(top)
            if not entries:
                break
            for entry in entries:
                number = _remove_entry(top, entry, number)
    os.rmdir(name, dir_fd=within)


def _remove_entry(top: int, entry: str, number: int) -> int:
    if not stat.S_ISDIR(os.stat(entry, dir_fd=top, follow_symlinks=False).st_mode):
        os.unlink(entry, dir_fd=top)
        return number
    with directory(entry, top) as child:
        for name in os.listdir(child):
            try:
                os.unlink(name, dir_fd=child)
            except OSError as error:
                if error.errno not in (errno.EISDIR, errno.EPERM):
                    raise
                number += 1
                os.rename(name, f".removed-{number}-{os.getpid()}", src_dir_fd=child, dst_dir_fd=top)
    os.rmdir(entry, dir_fd=top)
    return number


def changed(path: str) -> Refused:
    """Return the Refused for a file that is not what it was a moment ago."""
    return Refused(
        "git_dir_changed",
        f"{path!r} in the git directory was changed while it was being read.",
        "Stop the agent (and other git processes) and try again.",
    )


def _unreadable(path: str) -> Refused:
    return Refused(
        "git_dir_unreadable",
        f"uid {os.geteuid()} may not read {path!r} in the git directory.",
        "Give it to the user that the gateway runs as: chown -R.",
    )
