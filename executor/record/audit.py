"""The audit log as it is read: its key, its events, and the proof that it is whole.

Events are appended through `Transaction.append`; how they are sealed is in `chain`, the anchor in `anchor`.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Row, Select, bindparam, select

from executor.errors import ConfigError, Unavailable
from executor.record.anchor import examine
from executor.record.chain import EMPTY, Break, BreakKind, Head, event_hash, read_head
from executor.record.schema import events
from executor.record.store import Reading, Store

KEY_BYTES = 32
_CHUNK = 10_000  # events read at once while verifying; bounds memory and lets the database move on
_SEARCH = 1_000  # events looked at to tell whether an event that does not fit was moved


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the audit log. `request_id` is "" for events that concern no request; `data` is masked."""

    seq: int
    at: str
    host: str
    request_id: str
    kind: str
    data: Mapping[str, Any]
    hash: str


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """What verifying found: how many events were good, the end of the log, and the first thing wrong, if any."""

    events: int
    head: Head
    found: Break | None

    @property
    def ok(self) -> bool:
        return self.found is None


def load_or_create_key(path: Path) -> bytes:
    """Return the audit key kept in `path`, made (32 random bytes, mode 0600) where there is none.

    Raises ConfigError when the file is not a key or others can read it, Unavailable when it cannot be used.
    """
    try:
        _create_key(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            key, mode = os.read(descriptor, KEY_BYTES + 1), os.fstat(descriptor).st_mode
        finally:
            os.close(descriptor)
    except OSError as error:
        what = f"the audit key {path} cannot be used: {error.strerror}"
        raise Unavailable(
            "audit_key_unusable", what, "check the owner and the mode of the state directory"
        ) from error
    if len(key) != KEY_BYTES:
        raise ConfigError(
            "audit_key_damaged", f"the audit key {path} is not 32 bytes long", "restore it from a backup"
        )
    if mode & 0o077:
        raise ConfigError("audit_key_readable", f"others can read the audit key {path}", f"run: chmod 600 {path}")
    return key


def _create_key(path: Path) -> None:
    """Make the key file whole or not at all: a second process that starts now sees no half of it."""
    if path.exists():
        return
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(descriptor, secrets.token_bytes(KEY_BYTES))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass  # another process was first; its key counts
    finally:
        os.unlink(draft)


def last_events(tx: Reading, limit: int) -> list[Event]:
    """Return the latest events, oldest first."""
    rows = tx.connection.execute(_select(tx).order_by(events.c.seq.desc()).limit(limit)).all()
    return [_read(row) for row in reversed(rows)]


def events_of(tx: Reading, request_id: str) -> list[Event]:
    """Return what happened to one request, oldest first."""
    rows = tx.connection.execute(_select(tx).where(events.c.request_id == request_id).order_by(events.c.seq))
    return [_read(row) for row in rows]


def events_since(tx: Reading, seq: int, limit: int) -> list[Event]:
    """Return up to `limit` events after number `seq`, oldest first."""
    rows = tx.connection.execute(_SINCE, {"of_host": tx.host, "after": seq, "count": limit})
    return [_read(row) for row in rows]


def head(tx: Reading) -> Head:
    """Return the end of the log: post it where nobody can change it, and a cut or restored log will show."""
    return read_head(tx.connection, tx.host)


def verify(
    store: Store, *, progress: Callable[[int, int], None] | None = None, posted: Sequence[Head] = ()
) -> AuditVerdict:
    """Check every event of the log against its key, then its end against the anchor.

    `posted` are ends that were noted elsewhere before; each must be part of the log. `progress` is called with
    (events checked, events there are) about every 10,000 events. Raises Unavailable when the record cannot be read.
    """
    with store.reading() as tx:
        total = head(tx).seq
        found = examine(tx.connection, store.host, store.anchor)
    checked = EMPTY
    expected = {noted.seq: noted.hash for noted in posted}
    for rows in _chunks(store):
        checked, broken = _check(store, rows, checked, expected)
        if broken:
            return AuditVerdict(checked.seq, checked, broken)
        if progress:
            progress(checked.seq, max(total, checked.seq))
    beyond = [seq for seq in expected if seq > checked.seq]
    if found is None and beyond:
        message = f"event {min(beyond)} was posted, but the log ends with event {checked.seq}"
        found = Break(BreakKind.ROLLED_BACK, min(beyond), message)
    return AuditVerdict(checked.seq, checked, found)


def accept(store: Store, by: str, reason: str) -> Head:
    """Take the log's present end as right, as an operator decided (after a restored backup), and anchor it anew.

    That it was accepted, by whom and what was wrong becomes an event. What `verify` finds inside the chain itself
    cannot be accepted away. Returns the new end.
    """
    with store.transaction() as tx:
        found = examine(tx.connection, store.host, store.anchor)
        told = {"by": by, "reason": reason, "found": found.message if found else ""}
        tx.append("audit.accepted", data=told)
    with store.reading() as view:
        end = head(view)
    store.anchor.replace(end)
    store.anchor_problem = None
    return end


_Raw = tuple[int, str, str, str, str, str]  # seq, at, request_id, kind, data, hash
_RAW = (
    select(events.c.seq, events.c.at, events.c.request_id, events.c.kind, events.c.data, events.c.hash)
    .where(events.c.host == bindparam("of_host"), events.c.seq > bindparam("after"))
    .order_by(events.c.seq)
    .limit(bindparam("count"))
)


def _chunks(store: Store) -> Iterator[Sequence[_Raw]]:
    after = 0
    while rows := _raw(store, after, _CHUNK):
        yield rows
        after = rows[-1][0]


def _raw(store: Store, after: int, count: int) -> Sequence[_Raw]:
    with store.reading() as tx:
        found = tx.connection.execute(_RAW, {"of_host": store.host, "after": after, "count": count})
        return [tuple(row) for row in found]


def _check(
    store: Store, rows: Sequence[_Raw], before: Head, expected: Mapping[int, str]
) -> tuple[Head, Break | None]:
    """Check a run of events that follows `before`; return the last good one, and what is wrong with the next."""
    key, host = store.key, store.host
    last_seq, last_hash = before.seq, before.hash
    for seq, at, request_id, kind, data, sealed in rows:
        if seq != last_seq + 1:
            message = f"event {last_seq + 1} is missing: after event {last_seq} comes event {seq}"
            return Head(last_seq, last_hash), Break(BreakKind.REMOVED, last_seq + 1, message)
        if event_hash(key, last_hash, (seq, at, host, request_id, kind), data) != sealed:
            return Head(last_seq, last_hash), _misfit(store, Head(last_seq, last_hash))
        if expected and expected.get(seq, sealed) != sealed:
            message = f"event {seq} is not the one that was posted: the log went on from an older copy"
            return Head(last_seq, last_hash), Break(BreakKind.ROLLED_BACK, seq, message)
        last_seq, last_hash = seq, sealed
    return Head(last_seq, last_hash), None


def _misfit(store: Store, before: Head) -> Break:
    """Tell an event that was changed from one that was moved: the one that belongs here then stands further on."""
    seq = before.seq + 1
    for found, at, request_id, kind, data, sealed in _raw(store, before.seq, _SEARCH):
        if event_hash(store.key, before.hash, (seq, at, store.host, request_id, kind), data) == sealed:
            return Break(BreakKind.REORDERED, seq, f"the event that belongs at {seq} stands at {found}")
    return Break(BreakKind.CHANGED, seq, f"event {seq} does not say what it said when it was written")


_EVENT_COLUMNS = [events.c[name] for name in Event.__slots__]
_SINCE = (  # built once: it is asked after every request
    select(*_EVENT_COLUMNS)
    .where(events.c.host == bindparam("of_host"), events.c.seq > bindparam("after"))
    .order_by(events.c.seq)
    .limit(bindparam("count"))
)


def _select(tx: Reading) -> Select[Any]:
    return select(*_EVENT_COLUMNS).where(events.c.host == tx.host)


def _read(row: Row[Any]) -> Event:
    values = row._asdict()
    values["data"] = json.loads(values["data"])
    return Event(**values)
