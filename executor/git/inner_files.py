"""Files inside a directory that git processes write too: read, written and removed without following a link.

A git that writes the work tree can be led into the git directory that it was given (see `command_dir`), and leave a
link there to anything on the host. So what Python itself does there goes through directory descriptors, one component
at a time, and takes nothing but a regular file with one name.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from executor.errors import Failed, Refused
from executor.git.foreign_copy import Kind, directory, read_file, walk, write_new

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK = 1024 * 1024
SMALL = 4 * 1024 * 1024  # bytes; of files that hold some lines
LIST_BYTES = 64 * 1024 * 1024  # of lists of refs or commits
INDEX_BYTES = 1024 * 1024 * 1024


def read_inner(root: Path, name: str, limit: int) -> bytes | None:
    """Return the content of the file `name` below `root`, or None when it is not there.

    Raises Refused("git_dir_special") for anything but a regular file with one name, also on the way to it, and
    Failed("git_file_too_large") past `limit` bytes.
    """
    with opened(root, name) as file:
        return None if file is None else content_of(file, name, limit)


@contextmanager
def opened(root: Path, name: str) -> Iterator[int | None]:
    """Give the descriptor of the file `name` below `root`, or None when it is not there. Raises as `read_inner`."""
    above, _, last = name.rpartition("/")
    with _reached(root, above) as within:
        try:
            descriptor = -1 if within is None else os.open(last, _OPEN, dir_fd=within)
        except FileNotFoundError:
            descriptor = -1
        except OSError as error:
            raise special(name) from error
        try:
            if descriptor >= 0:
                found = os.fstat(descriptor)
                if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
                    raise special(name)
            yield None if descriptor < 0 else descriptor
        finally:
            if descriptor >= 0:
                os.close(descriptor)


def content_of(file: int, name: str, limit: int) -> bytes:
    """Return the rest of an open file. Raises Failed("git_file_too_large") past `limit` bytes."""
    parts: list[bytes] = []
    left = limit + 1
    while left and (part := os.read(file, min(left, _CHUNK))):
        parts.append(part)
        left -= len(part)
    if not left:
        raise Failed("git_file_too_large", f"{name!r} in the git directory is larger than {limit} bytes.")
    return b"".join(parts)


def write_inner(root: Path, name: str, content: bytes) -> None:
    """Make `name` below `root` a new file with `content`, in one step, and the directories that it needs.

    What was there, a link too, is replaced and never written through. Raises as `read_inner`, and OSError.
    """
    above, _, last = name.rpartition("/")
    with _reached(root, above, make=True) as within:
        assert within is not None
        fresh = f".{secrets.token_hex(8)}"
        write_new(within, fresh, content)
        try:
            os.rename(fresh, last, src_dir_fd=within, dst_dir_fd=within)
        except OSError as error:
            os.unlink(fresh, dir_fd=within)
            raise special(name) from error


def copy_inner(root: Path, name: str, target: Path, limit: int) -> None:
    """Make `target`, a new file in a directory of ours, a copy of `name` below `root`, with its time.

    Raises as `read_inner`, and FileExistsError.
    """
    with opened(root, name) as file, directory(target.parent) as within:
        if file is None:
            raise FileNotFoundError(name)
        found = os.fstat(file)
        _write_scratch(within, target.name, content_of(file, name, limit))
        os.utime(target.name, ns=(found.st_mtime_ns, found.st_mtime_ns), dir_fd=within, follow_symlinks=False)


@contextmanager
def scratch_name(place: Path, name: str) -> Iterator[Path]:
    """Give a path in the directory `place` for git to make a file at; it and git's lock of it go afterwards.

    Its name is never the same, so nothing can be waiting there.
    """
    fresh = f"{name}.{secrets.token_hex(8)}"
    try:
        yield place / fresh
    finally:
        with directory(place) as within:
            for left in (fresh, f"{fresh}.lock"):
                with suppress(FileNotFoundError):
                    os.unlink(left, dir_fd=within)


@contextmanager
def scratch_file(place: Path, name: str, content: bytes) -> Iterator[Path]:
    """The same with a file that is there already."""
    with scratch_name(place, name) as path:
        with directory(place) as within:
            _write_scratch(within, path.name, content)
        yield path


def _write_scratch(within: int, name: str, content: bytes) -> None:
    """Make a new file that need not outlive a crash, so nobody waits for the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(name, flags, 0o600, dir_fd=within), "wb") as file:
        file.write(content)


def remove_inner(root: Path, name: str) -> None:
    """Remove the file or the link `name` below `root`, if it is there. Raises as `read_inner`."""
    above, _, last = name.rpartition("/")
    with _reached(root, above) as within:
        try:
            if within is not None:
                os.unlink(last, dir_fd=within)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise special(name) from error


def files_below(root: Path, name: str) -> tuple[str, ...]:
    """Return the regular files in the directory `name` below `root`, by names relative to `root`, in order.

    Where there is no directory of that name there are none. Raises Refused("git_dir_special") for anything in it
    that is neither a file nor a directory.
    """
    with _reached(root, name) as within:
        found = [] if within is None else [(one.path, one.kind) for one in walk(within, f"{name}/")]
    odd = next((path for path, kind in found if kind not in (Kind.FILE, Kind.DIRECTORY)), None)
    if odd is not None:
        raise special(odd)
    return tuple(path for path, kind in found if kind is Kind.FILE)


def read_below(root: Path, name: str, limit: int) -> dict[str, bytes]:
    """Return the content of the regular files in the directory `name` below `root`, by names relative to `root`.

    For many small files: each directory is opened once. Locks are left out. Raises as `read_inner`.
    """
    found: dict[str, bytes] = {}
    with _reached(root, name) as within:
        for one in walk(within, f"{name}/") if within is not None else ():
            if one.kind is Kind.FILE and one.links == 1:
                if not one.name.endswith(".lock"):
                    found[one.path] = read_file(one.directory, one.name, limit)
            elif one.kind is not Kind.DIRECTORY:
                raise special(one.path)
    return found


def remove_if_empty(root: Path, name: str) -> None:
    """Remove the directory `name` directly below `root`, and what is below it, as far as there are no files."""
    with _reached(root, name) as within:
        below = [] if within is None else [one.path for one in walk(within) if one.kind is Kind.DIRECTORY]
        for path in reversed(below):
            _remove_directory(root, f"{name}/{path}")
    _remove_directory(root, name)


def _remove_directory(root: Path, name: str) -> None:
    above, _, last = name.rpartition("/")
    with _reached(root, above) as within:
        try:
            if within is not None:
                os.rmdir(last, dir_fd=within)
        except OSError:
            return  # something is in it, or it is not there


@contextmanager
def _reached(root: Path, name: str, *, make: bool = False) -> Iterator[int | None]:
    """Give the descriptor of the directory `name` below `root` ("" is `root`), or None when it is not there."""
    with ExitStack() as held:
        at: int | None = held.enter_context(directory(root))
        for part in name.split("/") if name else ():
            at = None if at is None else _entered(at, part, name, make=make)
            if at is not None:
                held.callback(os.close, at)
        yield at


def _entered(within: int, part: str, name: str, *, make: bool) -> int | None:
    """Return a descriptor of the directory `part` in `within`, or None when it is not there."""
    try:
        if make:
            with suppress(FileExistsError):
                os.mkdir(part, 0o700, dir_fd=within)
        return os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=within)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise special(name) from error


def special(name: str) -> Refused:
    """Return the Refused for something that stands where git would have a file or a directory of its own."""
    return Refused(
        "git_dir_special",
        f"{name!r} in the git directory is a link or another thing that git does not put there; it was left alone.",
        "An operator has to look at it on the host: something was led into the git directory.",
    )
