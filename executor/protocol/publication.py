"""The published copy of the audit log: `commands.log` in the shared directory.

It may be lost, edited or replaced by the agent at any moment; the original lies elsewhere and the copy is made anew
from it. What is in a line is not decided here.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable

from executor.errors import Unavailable
from executor.protocol.directory import Directory, unavailable
from executor.protocol.names import COMMANDS_LOG
from executor.protocol.placing import place_open, write_all
from executor.protocol.results import one_line

LOG_LIMIT = 1024 * 1024  # bytes; then it begins anew with its newest half

_NAME = COMMANDS_LOG.encode()


class PublishedLog:
    """Given a function that returns the shared directory, keep `commands.log` in it.

    Lines are appended through the descriptor of the file that we created, and only as long as the name still is that
    very file. So a link or another file under the name is never written to.
    """

    def __init__(self, root: Callable[[], Directory], limit: int = LOG_LIMIT) -> None:
        self._root = root
        self._limit = limit
        self._lock = threading.Lock()
        self._fd: int | None = None
        self._size = 0  # bytes we wrote to it

    def append(self, lines: Iterable[str], history: Callable[[], Iterable[str]]) -> bool:
        """Append `lines`, or if that cannot be, write the file anew from `history`; return whether it was made anew.

        `history` is only called in the latter case; it returns all lines, the new ones included, oldest first. Raise
        `Unavailable`; then the next call writes the file anew, so nothing is missing for long.
        """
        data = b"".join(map(_encoded, lines))
        with self._lock:
            try:
                root = self._root()
                if self._fd is not None and self._fits(root, self._fd, len(data)):
                    write_all(self._fd, data)
                    self._size += len(data)
                    return False
                self.close()
                data = _newest(map(_encoded, history()), self._limit // 2)
                self._fd, self._size = place_open(root, _NAME, data), len(data)
            except Unavailable:
                self.close()
                raise
            except OSError as error:
                self.close()
                raise unavailable(f"writing {COMMANDS_LOG}", error) from error
        return True

    def close(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            with contextlib.suppress(OSError):
                os.close(fd)

    def _fits(self, root: Directory, fd: int, size: int) -> bool:
        """Whether the name still is our file, as long as we made it, with room for `size` bytes more."""
        try:
            named = root.lstat(_NAME)
        except FileNotFoundError:
            return False
        ours = os.fstat(fd)
        same = (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino) and ours.st_size == self._size
        return same and self._size + size <= self._limit


def _encoded(line: str) -> bytes:
    return one_line(line).encode("utf-8", "replace") + b"\n"


def _newest(lines: Iterable[bytes], limit: int) -> bytes:
    """The last lines that fit into `limit` bytes, whole ones only; holds no more than that."""
    kept: deque[bytes] = deque()
    size = 0
    for line in lines:
        kept.append(line)
        size += len(line)
        while size > limit:
            size -= len(kept.popleft())
    return b"".join(kept)
