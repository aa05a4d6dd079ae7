"""The hash chain of the audit log: each event is sealed together with the one before it.

    hash = HMAC-SHA256(key, hash of the event before + canonical JSON [seq, at, host, request_id, kind, data])

Without the key no event can be changed, removed from the middle, or moved without showing. That the end was cut
off shows against the anchor (`anchor.py`) and against heads that were posted elsewhere.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, bindparam, insert, select

from executor.record.bounded import bounded
from executor.record.redaction import Redactor
from executor.record.schema import canonical_json, events

GENESIS = "0" * 64  # stands for the hash before the first event


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain: the number and the hash of its last event. `Head(0, GENESIS)` is the empty chain's."""

    seq: int
    hash: str


EMPTY = Head(0, GENESIS)


class BreakKind(StrEnum):
    """What happened to an audit log that does not verify."""

    CHANGED = "changed"  # an event says something else than when it was written
    REMOVED = "removed"  # events are missing from the middle or the beginning
    REORDERED = "reordered"  # an event stands in another's place
    CUT_OFF = "cut_off"  # the last events are missing, the rest of the database is newer
    ROLLED_BACK = "rolled_back"  # the whole database is an older copy, or went on from one
    ANCHOR_MISSING = "anchor_missing"  # nothing to compare the end with
    ANCHOR_FORGED = "anchor_forged"  # the anchor was not written with this host's key


@dataclass(frozen=True, slots=True)
class Break:
    """The first thing wrong with an audit log: its kind, the number of the event, and a sentence for people."""

    kind: BreakKind
    seq: int
    message: str


def event_hash(key: bytes, before: str, row: tuple[int, str, str, str, str], data: str) -> str:
    """Return the hash of an event in hexadecimal.

    `before` is the hash of the event before it, `row` its (seq, at, host, request_id, kind), `data` its data as
    canonical JSON text. The text is set into the JSON array as it is: the words before it end where they end.
    """
    message = f"{before}{canonical_json(row)[:-1]},{data}]"
    return hmac.digest(key, message.encode(), "sha256").hex()


_HEAD = select(events.c.seq, events.c.hash).where(events.c.host == bindparam("of_host"))
_HEAD = _HEAD.order_by(events.c.seq.desc()).limit(1)
_INSERT = insert(events)


def read_head(connection: Connection, host: str) -> Head:
    """Return the end of the chain of `host` as the database holds it."""
    row = connection.execute(_HEAD, {"of_host": host}).first()
    return Head(row.seq, row.hash) if row else EMPTY


class Chain:
    """The events of one transaction: sealed as they are appended, written together by `flush` before it commits.

    That costs the same however long the log is, and one statement however many events a transaction has.
    """

    def __init__(self, connection: Connection, host: str, at: str, key: bytes, redactor: Redactor) -> None:
        self._connection = connection
        self._host = host
        self._at = at
        self._key = key
        self._redactor = redactor
        self._rows: list[dict[str, object]] = []
        self._before: Head | None = None  # the end as this transaction found it, once it was read
        self.head: Head | None = None  # the end as this transaction leaves it, None as long as it adds nothing

    @property
    def next_seq(self) -> int:
        """The number that the next event will have."""
        return self._end().seq + 1

    def append(self, kind: str, request_id: str, data: Mapping[str, object]) -> int:
        """Seal an event, its data masked and then cut to what an event holds, and return its number."""
        before = self._end()
        seq = before.seq + 1
        text = canonical_json(bounded(self._redactor.redact_data(data)))
        sealed = event_hash(self._key, before.hash, (seq, self._at, self._host, request_id, kind), text)
        self._rows.append(
            {
                "host": self._host,
                "seq": seq,
                "at": self._at,
                "request_id": request_id,
                "kind": kind,
                "data": text,
                "hash": sealed,
            }
        )
        self.head = Head(seq, sealed)
        return seq

    def flush(self) -> None:
        """Write the events appended so far."""
        if self._rows:
            self._connection.execute(_INSERT, self._rows)
            self._rows = []

    def _end(self) -> Head:
        if self._before is None:
            self._before = read_head(self._connection, self._host)
        return self.head or self._before
