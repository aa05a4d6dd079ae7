"""Putting a file where untrusted writers may put theirs: whole or not at all, and never through what lies there."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets

from executor.protocol.directory import Directory
from executor.protocol.names import set_aside_name, temporary_name

_CREATE = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o644  # for everybody to read, whatever the umask


def place(directory: Directory, name: bytes, data: bytes, also: bytes | None = None) -> None:
    """Make `name`, and `also` if given, a new file of ours that holds `data`. Raise OSError.

    The name is never opened: renaming onto it replaces a link, pipe or device as such. A directory cannot be
    replaced so and is set aside. Nothing is synced: whatever is published can be published again from the store.
    """
    fd = place_open(directory, name, data)
    try:
        linked = also is None or _link(directory, fd, also)
    finally:
        os.close(fd)
    if also is not None and not linked:
        place(directory, also, data)


def place_open(directory: Directory, name: bytes, data: bytes) -> int:
    """Make `name` a new file that holds `data`; return its descriptor, open for appending. Raise OSError."""
    temporary = temporary_name(secrets.token_hex(8))
    fd = os.open(temporary, _CREATE, _MODE, dir_fd=directory.fd)
    try:
        os.fchmod(fd, _MODE)
        write_all(fd, data)
        _rename_over(directory, temporary, name)
    except BaseException:
        os.close(fd)
        _forget(directory, temporary)
        raise
    return fd


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def set_aside(directory: Directory, name: bytes, as_name: bytes = b"") -> None:
    """Move what lies under `name` to a visible unique name, made of `as_name` or else of `name`. Raise OSError."""
    aside = set_aside_name(as_name or name, secrets.token_hex(8))
    os.rename(name, aside, src_dir_fd=directory.fd, dst_dir_fd=directory.fd)


def discard(directory: Directory, name: bytes, as_name: bytes = b"") -> None:
    """Remove what lies under `name`, whatever it is; a directory that holds something is set aside. Raise OSError."""
    try:
        os.unlink(name, dir_fd=directory.fd)
    except IsADirectoryError:
        try:
            os.rmdir(name, dir_fd=directory.fd)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            set_aside(directory, name, as_name)


def _link(directory: Directory, fd: int, name: bytes) -> bool:
    """Make `name` a second name of the open file; return whether that could be.

    A link costs less than a file. It is made from the descriptor, so it is our file whatever its name has become.
    """
    temporary = temporary_name(secrets.token_hex(8))
    try:
        os.link(f"/proc/self/fd/{fd}", temporary, dst_dir_fd=directory.fd)
    except OSError:  # no links on this file system, no /proc, or our file is gone already
        return False
    try:
        _rename_over(directory, temporary, name)
    except OSError:
        _forget(directory, temporary)
        raise
    return True


def _rename_over(directory: Directory, temporary: bytes, name: bytes) -> None:
    try:
        os.rename(temporary, name, src_dir_fd=directory.fd, dst_dir_fd=directory.fd)
    except IsADirectoryError:
        with contextlib.suppress(FileNotFoundError):
            set_aside(directory, name)
        os.rename(temporary, name, src_dir_fd=directory.fd, dst_dir_fd=directory.fd)


def _forget(directory: Directory, temporary: bytes) -> None:
    with contextlib.suppress(OSError):
        os.unlink(temporary, dir_fd=directory.fd)
