"""An open directory in a place that untrusted writers share: reached by descriptor, never by following a link."""

from __future__ import annotations

import errno
import os
import weakref
from collections.abc import Iterator

from executor.errors import Unavailable

_OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_WORDS = {
    errno.ENOSPC: ("disk_full", "free some space on that file system"),
    errno.EDQUOT: ("disk_full", "raise the quota or free some space"),
    errno.EROFS: ("read_only", "mount the shared directory read-write for the gateway"),
    errno.EACCES: ("not_permitted", "let the gateway's user own the shared directory, or share a group (setgid)"),
    errno.EMFILE: ("too_many_files", "raise the limit of open files (LimitNOFILE)"),
    errno.ENFILE: ("too_many_files", "raise the limit of open files (fs.file-max)"),
    errno.EPERM: ("not_permitted", "let the gateway's user own the shared directory, or share a group (setgid)"),
}


_PASSING = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EINTR)


class Directory:
    """A directory held open. The descriptor is closed when nobody holds this object any more.

    It is never closed by hand: a thread that is still working in a directory that was just replaced must not find its
    descriptor's number given to some other file.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        weakref.finalize(self, os.close, fd)
        status = os.fstat(fd)
        self.dev, self.ino, self.uid = status.st_dev, status.st_ino, status.st_uid

    def is_at(self, name: str | bytes, parent: int | None = None) -> bool:
        """Whether `name` (in the directory `parent`) still is this very directory. Raise OSError if it is nothing.

        The inode number cannot have been given away meanwhile, because an open descriptor keeps it in use.
        """
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        return (status.st_dev, status.st_ino) == (self.dev, self.ino)

    def names(self) -> Iterator[bytes]:
        """List the names in it, in no order, without ever holding them all.

        Through a descriptor of its own, because the position in a directory is shared by all who use one.
        """
        fd = os.open(b".", _OPEN_DIRECTORY, dir_fd=self.fd)
        try:
            with os.scandir(fd) as entries:
                for entry in entries:
                    yield os.fsencode(entry.name)
        finally:
            os.close(fd)

    def lstat(self, name: bytes) -> os.stat_result:
        """Say what lies under `name` itself; a link is not followed. Raise OSError."""
        return os.stat(name, dir_fd=self.fd, follow_symlinks=False)


def open_directory(name: str | bytes, parent: int | None = None) -> Directory:
    """Open `name` (in the directory `parent`) if it is itself a directory; a link is not followed. Raise OSError."""
    return Directory(os.open(name, _OPEN_DIRECTORY, dir_fd=parent))


def passes(error: OSError) -> bool:
    """Whether an error is the host's own and may be gone in a moment, so that nobody is refused because of it."""
    return error.errno in _PASSING


def unavailable(doing: str, error: OSError) -> Unavailable:
    """Put an operating system error into words; `doing` is what could not be done, as in "writing git_status.txt"."""
    code, hint = _WORDS.get(error.errno or 0, ("shared_dir_error", ""))
    return Unavailable(code, f"{doing} failed: {os.strerror(error.errno or 0)}", hint)
