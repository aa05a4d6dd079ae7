"""Everything that is so only because the record is an SQLite file: opening it, transactions, errors, compaction."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from executor.errors import ConfigError, Unavailable

BUSY_TIMEOUT_MS = 10_000  # how long another process may hold the write lock before we say so
WAL_LIMIT_BYTES = 64 * 1024 * 1024  # what the write-ahead log is cut back to after a large transaction

_PRAGMAS = (  # of each connection
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
    "PRAGMA synchronous=FULL",  # what is committed has reached the disk: a decision must not be forgotten
    "PRAGMA foreign_keys=ON",
    f"PRAGMA journal_size_limit={WAL_LIMIT_BYTES}",
)
_FILE_PRAGMAS = (  # of the file, set once; readers and a writer do not hold each other up
    "PRAGMA auto_vacuum=INCREMENTAL",  # has effect only before the first table; lets `compact` give space back
    "PRAGMA journal_mode=WAL",
)

_CODES = (  # beginning of SQLite's error name, what it means, what to do
    ("SQLITE_FULL", "the disk that holds the record is full", "free some space on it"),
    ("SQLITE_READONLY", "the record cannot be written", "check the owner and the mode of the state directory"),
    ("SQLITE_BUSY", "another process holds the record locked", "see which one with `fuser` on the database file"),
    ("SQLITE_LOCKED", "another process holds the record locked", "see which one with `fuser` on the database file"),
    ("SQLITE_CANTOPEN", "the record cannot be opened", "check that the state directory exists and is ours"),
    ("SQLITE_PERM", "the record cannot be opened", "check the owner and the mode of the state directory"),
    ("SQLITE_CORRUPT", "the record is damaged", "stop the gateway, keep a copy, and restore the latest backup"),
    ("SQLITE_NOTADB", "the record is not a database", "check which file the database address names"),
    ("SQLITE_IOERR", "the disk that holds the record reports an error", "see `dmesg` for the device"),
)


def open_engine(url: URL) -> Engine:
    """Given an SQLite address, create its file for our eyes only where it is missing and return an engine on it.

    Raises ConfigError for a database in memory (it would forget), Unavailable when the file cannot be made.
    """
    if not url.database or url.database == ":memory:":
        raise ConfigError("record_in_memory", "the record must be a file", "set GATEWAY_DATABASE_URL or leave it out")
    _private_file(Path(url.database))
    _set_up_file(Path(url.database))
    engine = create_engine(url, max_overflow=-1)  # a reader never waits for another reader
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


def database_path(url: URL) -> Path:
    return Path(url.database or "")


def _private_file(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o077:
                os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Unavailable(
            "record_unwritable", f"the record {path} cannot be opened: {error.strerror}", "check the state directory"
        ) from error


def _set_up_file(path: Path) -> None:
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)) as connection:
            if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                for pragma in _FILE_PRAGMAS:
                    connection.execute(pragma).fetchall()
    except sqlite3.Error as error:
        raise in_plain_words(error) or error from error


def _on_connect(connection: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
    # The driver's own idea of when a transaction starts is switched off; `_on_begin` starts each one.
    connection.isolation_level = None
    with closing(connection.cursor()) as cursor:
        for pragma in _PRAGMAS:
            cursor.execute(pragma)


def _on_begin(connection: Connection) -> None:
    # IMMEDIATE takes the write lock at once: a transaction that has read can then no longer fail for lack of it.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def in_plain_words(error: BaseException) -> Unavailable | None:
    """Given what the driver raised, return it as a problem in plain words, or None when it is a bug of ours."""
    if not isinstance(error, sqlite3.Error):
        return None
    name = getattr(error, "sqlite_errorname", "")
    for beginning, what, mend in _CODES:
        if name.startswith(beginning):
            return Unavailable("record_unwritable", f"{what} ({error})", mend)
    return None


def compact(engine: Engine) -> None:
    """Write the log of changes back into the database file, and give free pages back to the file system."""
    with closing(engine.raw_connection()) as raw, closing(raw.cursor()) as cursor:
        # one page goes with each step of this statement, and only a script is stepped to its end
        cursor.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);")
