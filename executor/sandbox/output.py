"""Keeping a bounded part of what a program writes, while it writes. Pure."""

from __future__ import annotations


class BoundedOutput:
    """The first and the last bytes of a stream, never more than about twice `limit` in memory (C22).

    Errors are told at the end and contexts at the start, so both are kept: half of `limit` each.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head_limit = limit - limit // 2
        self._tail_limit = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0  # bytes seen

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._tail_limit:  # trimmed now and then: each byte is moved at most twice
            self._cut_tail()

    @property
    def truncated(self) -> bool:
        return self.total > self._limit

    def value(self) -> bytes:
        """Return what was kept; where something is missing, a line in its place says how much."""
        if not self.truncated:
            return bytes(self._head + self._tail)
        self._cut_tail()
        left_out = self.total - len(self._head) - len(self._tail)
        return bytes(self._head + b"\n... %d bytes left out ...\n" % left_out + self._tail)

    def _cut_tail(self) -> None:
        del self._tail[: max(0, len(self._tail) - self._tail_limit)]
