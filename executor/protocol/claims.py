"""Looking at one file that an untrusted writer may swap at any moment, without following, blocking or overreading."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

from executor.errors import Refused
from executor.protocol.bodies import BODY_LIMIT, body_too_large
from executor.protocol.directory import Directory, passes
from executor.protocol.sightings import problem_with, state_of

# No terminal becomes ours, no pipe and no file lease makes us wait, no link is followed.
_OPEN_FLAG = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Claim:
    """A flag taken out of the agent's hands: its bytes, or the problem for which it is refused.

    `private` is the name it has until it is released; empty if it could not be taken (`flag_not_removable`) or was
    only looked at. `identity` is the private name, which is random and given once: whatever is done to the file's
    owner, mode or times afterwards, it is known again. What has no private name is known by what lstat says of it
    (`sightings.state_of`).
    """

    name: bytes
    private: bytes
    identity: str
    content: bytes | None
    problem: Refused | None
    mtime_ns: int


def look(directory: Directory, name: bytes, at: bytes, private: bytes) -> Claim | None:
    """Read the flag `name`, which lies under the file name `at`. Return None if it is gone.

    Raise OSError where the host cannot read anything just now (`directory.passes`).

    The file is judged before it is opened, so that opening has no side effect on a device or pipe, and again by its
    descriptor, because it may have been swapped in between.
    """
    try:
        before = directory.lstat(at)
    except FileNotFoundError:
        return None
    problem = _problem(directory, before)
    if problem is None:
        try:
            return _read(directory, name, at, private)
        except FileNotFoundError:
            return None
        except OSError as error:
            if passes(error):
                raise
            problem = _unreadable(error)
    return Claim(name, private, _identity(private, before), None, problem, before.st_mtime_ns)


def not_removable(directory: Directory, name: bytes, error: OSError) -> Claim | None:
    """The claim of a flag that cannot be renamed: it must not run, as it would run again and again (report D06)."""
    try:
        status = directory.lstat(name)
    except FileNotFoundError:
        return None
    problem = Refused(
        "flag_not_removable",
        f"the flag cannot be removed ({os.strerror(error.errno or 0)}), so it is not run",
        "let the gateway's user own the shared directory, or share a group (setgid); no sticky, no immutable bit",
    )
    return Claim(name, b"", _identity(b"", status), None, problem, status.st_mtime_ns)


def _read(directory: Directory, name: bytes, at: bytes, private: bytes) -> Claim:
    fd = os.open(at, _OPEN_FLAG, dir_fd=directory.fd)
    try:
        status = os.fstat(fd)
        problem = _problem(directory, status)
        content = b"" if problem else _read_bounded(fd)
    finally:
        os.close(fd)
    if len(content) > BODY_LIMIT:  # it grew while it was read
        problem = body_too_large(len(content))
    return Claim(name, private, _identity(private, status), None if problem else content, problem, status.st_mtime_ns)


def _read_bounded(fd: int) -> bytes:
    """Read to the end, or one byte more than a body may have."""
    chunks: list[bytes] = []
    left = BODY_LIMIT + 1
    while left and (chunk := os.read(fd, left)):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def _problem(directory: Directory, status: os.stat_result) -> Refused | None:
    if status.st_dev != directory.dev:
        return Refused(
            "flag_is_elsewhere", "the flag is on another file system", "write the flag as an ordinary file"
        )
    return problem_with(status.st_mode, status.st_nlink, status.st_size)


def _unreadable(error: OSError) -> Refused:
    if error.errno == errno.ELOOP:  # swapped for a link after it was judged
        return Refused("flag_is_symlink", "the flag is a symbolic link", "write the flag as an ordinary file")
    return Refused(
        "flag_unreadable",
        f"the flag cannot be read ({os.strerror(error.errno or 0)})",
        "write it readable for the gateway's user (mode 0644) and hold no lock or lease on it",
    )


def _identity(private: bytes, status: os.stat_result) -> str:
    if private:
        return private.decode("ascii")
    return state_of(status.st_dev, status.st_ino, status.st_ctime_ns, status.st_mtime_ns)
