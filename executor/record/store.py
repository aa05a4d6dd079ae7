"""The record: one database in which a change of state and the event that tells of it are one transaction."""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from sqlalchemy import URL, Connection, Engine, insert, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from executor.errors import ConfigError, Unavailable
from executor.record import schema, sqlite
from executor.record.anchor import AnchorFile, BadAnchor, examine
from executor.record.chain import EMPTY, Chain
from executor.record.redaction import Redactor

LOCK_SECONDS = 60.0  # how long a thread waits for the others of this process before it says so


class Reading:
    """A consistent view of the record. `at` is the moment it was taken, as the tables write it."""

    def __init__(self, connection: Connection, host: str, at: str) -> None:
        self.connection = connection
        self.host = host
        self.at = at


class Transaction(Reading):
    """A view that may also change the record. All it changes, and the events that tell of it, happen or do not."""

    def __init__(self, connection: Connection, host: str, at: str, chain: Chain, redactor: Redactor) -> None:
        super().__init__(connection, host, at)
        self.chain = chain
        self.redactor = redactor

    def append(self, kind: str, request_id: str = "", data: Mapping[str, object] | None = None) -> int:
        """Add an event to the audit log (data masked first) and return its number."""
        return self.chain.append(kind, request_id, data or {})


class Store:
    """The record of one host. Used by several threads and several processes at once."""

    def __init__(
        self,
        engine: Engine,
        anchor: AnchorFile,
        *,
        host: str,
        key: bytes,
        redactor: Redactor,
        clock: Callable[[], datetime],
    ) -> None:
        self.engine = engine
        self.anchor = anchor
        self.host = host
        self.key = key
        self.redactor = redactor
        self.told: Callable[[], None] = lambda: None  # called, in any thread, when the log has grown
        self.added = 0  # number of the last event that this process added
        self.anchor_problem: str | None = None  # why the anchor is not being written, to be said in the status
        self._clock = clock
        self._writing = threading.Lock()
        self._writer: int | None = None  # the thread that is in a transaction
        self._connection: Connection | None = None

    @classmethod
    def open(
        cls,
        url: str,
        *,
        host: str,
        key: bytes,
        anchor: Path | None = None,
        redactor: Redactor | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> Self:
        """Open the record at the SQLAlchemy address `url`, making it where there is none.

        `host` names whose rows are read and written, `key` seals the audit log, `anchor` is the anchor file (default:
        `audit.anchor` beside the database). Raises ConfigError for an address, schema or key that does not fit,
        Unavailable when the database cannot be used.
        """
        address = _address(url)
        engine = sqlite.open_engine(address)
        path = anchor or sqlite.database_path(address).with_name("audit.anchor")
        store = cls(
            engine, AnchorFile(path, host, key), host=host, key=key, redactor=redactor or Redactor(), clock=clock
        )
        try:
            store._prepare()
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close every connection, after the transaction that is under way."""
        with self._one_at_a_time():
            self._close_writing_connection()
            self.engine.dispose()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction that may write; commits at the end of the block, rolls back when the block raises.

        Raises Unavailable("record_unwritable") when the database cannot be read or written; then nothing changed.
        Transactions do not nest.
        """
        with self._one_at_a_time(), self._storage_problems(), self._writing_connection() as connection:
            with connection.begin():
                at = self.now()
                chain = Chain(connection, self.host, at, self.key, self.redactor)
                yield Transaction(connection, self.host, at, chain, self.redactor)
                chain.flush()
            if chain.head and self.anchor_problem is None:
                try:
                    self.anchor.raise_to(chain.head)
                except (OSError, BadAnchor) as error:
                    self.anchor_problem = str(error)  # what was committed stays committed
            if chain.head:
                self.added = chain.head.seq
                self.told()

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """A consistent view that neither waits for writers nor holds them up. Raises Unavailable as `transaction`."""
        with self._storage_problems(), self.engine.connect() as connection, connection.begin():
            yield Reading(connection, self.host, self.now())

    def now(self) -> str:
        """Return the present moment as the tables write it."""
        return schema.timestamp(self._clock())

    def compact(self) -> None:
        """Give the space of removed rows back to the file system."""
        with self._one_at_a_time(), self._storage_problems():
            sqlite.compact(self.engine)

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        """Queue this process's writers fairly; among processes the database's own lock decides, by polling."""
        if self._writer == threading.get_ident():
            raise RuntimeError("transactions do not nest")
        if not self._writing.acquire(timeout=LOCK_SECONDS):
            raise Unavailable(
                "record_unwritable", "the record is held by another thread", "see what hangs in the log"
            )
        self._writer = threading.get_ident()
        try:
            yield
        finally:
            self._writer = None
            self._writing.release()

    @contextmanager
    def _writing_connection(self) -> Iterator[Connection]:
        """The one connection that writes, kept open between transactions; made anew after the database failed."""
        if self._connection is None:
            self._connection = self.engine.connect().execution_options(writes=True)
        try:
            yield self._connection
        except DBAPIError:
            self._close_writing_connection()
            raise

    def _close_writing_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _storage_problems(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            problem = sqlite.in_plain_words(error.orig) if error.orig else None
            if problem is None:
                raise
            raise problem from error

    def _prepare(self) -> None:
        with self.transaction() as tx:
            schema.marks.create(tx.connection, checkfirst=True)
            version = _mark(tx, "schema", str(schema.VERSION))
            if version != str(schema.VERSION):
                raise ConfigError(
                    "record_newer",
                    f"the record has schema version {version}, this program knows {schema.VERSION}",
                    "install the version of ops-gateway that wrote it, or a later one",
                )
            fingerprint = hmac.digest(self.key, f"key of {self.host}".encode(), "sha256").hex()
            if not hmac.compare_digest(_mark(tx, f"audit-key:{self.host}", fingerprint), fingerprint):
                raise ConfigError(
                    "audit_key_changed",
                    "the audit log was begun with another key",
                    "put the audit key back; without it the log can neither be continued nor verified",
                )
            schema.metadata.create_all(tx.connection)
            self._take_up_anchor(tx)

    def _take_up_anchor(self, tx: Transaction) -> None:
        """Start the anchor of a new log; leave one that disagrees with the log as it is, for it is the evidence."""
        try:
            found = examine(tx.connection, self.host, self.anchor)
            self.anchor_problem = found.message if found else None
            if found is None and self.anchor.read() is None:
                self.anchor.replace(EMPTY)
        except OSError as error:
            raise Unavailable(
                "record_unwritable",
                f"the anchor {self.anchor.path} cannot be written: {error.strerror}",
                "check the owner and the mode of the state directory",
            ) from error


def _mark(tx: Transaction, name: str, default: str) -> str:
    """Return the mark `name`, set to `default` first where there is none."""
    value = tx.connection.scalar(select(schema.marks.c.value).where(schema.marks.c.name == name))
    if value is None:
        tx.connection.execute(insert(schema.marks).values(name=name, value=default))
        return default
    return str(value)


def _address(url: str) -> URL:
    try:
        address = make_url(url)
        backend = address.get_backend_name()
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError(
            "record_address", "the database address cannot be read", "use sqlite:////path/file.db"
        ) from error
    if backend != "sqlite":
        raise ConfigError("record_address", f"{backend} databases are not supported", "use sqlite:////path/file.db")
    return address
