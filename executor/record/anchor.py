"""The anchor: the audit log's end, kept in a file beside the database, so that a cut or restored log shows.

The file holds the highest event's number and hash under a MAC. It is written after each commit, in place and under a
lock: one record of fixed size, a few microseconds, no new file. It is not flushed to the disk by itself, so after a
power cut it may lag behind the database, never run ahead of it; a lower bound is all that is asked of it.
"""

from __future__ import annotations

import fcntl
import hmac
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, func, select

from executor.record.chain import EMPTY, Break, BreakKind, Head, read_head
from executor.record.schema import canonical_json, events, requests

_SIZE = 512  # bytes; one disk sector, so that it is written whole or not at all


class BadAnchor(Exception):
    """The anchor file is not what this host's key has signed."""


class AnchorFile:
    """The anchor of one host's audit log at `path`. Several processes may use it at once."""

    def __init__(self, path: Path, host: str, key: bytes) -> None:
        self.path = path
        self._host = host
        self._key = key

    def read(self) -> Head | None:
        """Return what is anchored, None when there is no file. Raises BadAnchor, OSError."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        with _locked(descriptor, fcntl.LOCK_SH):
            return self._parse(os.pread(descriptor, _SIZE, 0))

    def raise_to(self, head: Head) -> None:
        """Anchor `head` unless a later one is anchored already. Raises BadAnchor, OSError; makes no new file."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        with _locked(descriptor, fcntl.LOCK_EX):
            if self._parse(os.pread(descriptor, _SIZE, 0)).seq < head.seq:
                os.pwrite(descriptor, self._record(head), 0)

    def replace(self, head: Head) -> None:
        """Anchor `head` whatever was anchored before: for a new log, or when an operator accepted the present one."""
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.write(descriptor, self._record(head))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        draft.replace(self.path)

    def _record(self, head: Head) -> bytes:
        record = {"hash": head.hash, "host": self._host, "mac": self._mac(head), "seq": head.seq}
        return canonical_json(record).encode().ljust(_SIZE - 1) + b"\n"

    def _parse(self, data: bytes) -> Head:
        try:
            record = json.loads(data)
            head = Head(record["seq"], record["hash"])
            authentic = hmac.compare_digest(str(record["mac"]), self._mac(head))
        except (ValueError, KeyError, TypeError) as error:
            raise BadAnchor(f"{self.path} is not an anchor") from error
        if not authentic:
            raise BadAnchor(f"{self.path} was not written with this host's audit key")
        return head

    def _mac(self, head: Head) -> str:
        message = "anchor" + canonical_json([self._host, head.seq, head.hash])
        return hmac.digest(self._key, message.encode(), "sha256").hex()


def examine(connection: Connection, host: str, anchor: AnchorFile) -> Break | None:
    """Compare the anchor with the log's end as the database holds it; None when they agree. Reads a few rows only."""
    try:
        anchored = anchor.read()
    except BadAnchor as error:
        return Break(BreakKind.ANCHOR_FORGED, 0, str(error))
    except OSError as error:
        return Break(BreakKind.ANCHOR_MISSING, 0, f"the anchor cannot be read: {error}")
    head = read_head(connection, host)
    if anchored is None:
        missing = Break(BreakKind.ANCHOR_MISSING, 0, f"the anchor {anchor.path} is gone")
        return None if head == EMPTY else missing
    if anchored.seq > head.seq:
        return _shortened(connection, host, head, anchored)
    found = connection.scalar(select(events.c.hash).where(events.c.host == host, events.c.seq == anchored.seq))
    if anchored.seq and found != anchored.hash:
        message = f"event {anchored.seq} is not the one that was anchored: the log went on from an older copy"
        return Break(BreakKind.ROLLED_BACK, anchored.seq, message)
    return None


def _shortened(connection: Connection, host: str, head: Head, anchored: Head) -> Break:
    """Tell a log whose end was cut from a database that is older as a whole: requests remember their last event."""
    known = connection.scalar(select(func.max(requests.c.event_seq)).where(requests.c.host == host)) or 0
    ends = f"the log ends with event {head.seq}, but event {max(known, anchored.seq)} was written"
    if known > head.seq:
        return Break(BreakKind.CUT_OFF, head.seq + 1, f"{ends}: its end was cut off")
    return Break(
        BreakKind.ROLLED_BACK, head.seq + 1, f"{ends}: the database is an older copy, or its end was cut off"
    )


@contextmanager
def _locked(descriptor: int, how: int) -> Iterator[None]:
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)
