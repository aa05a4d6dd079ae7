"""Count queues in the `jobs` table, and failed jobs in `failed_jobs`: SQLite, PostgreSQL, MySQL and MariaDB.

pending: not reserved, and available by now; delayed: not reserved, and available later. `available_at` is written by
the application's clock, which is this host's or one kept like it, so it is compared with this host's time and not
with the database's. Only reads, and SQLite is opened so that it cannot be written or made.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.exc import SQLAlchemyError

from executor.errors import ConfigError, Unavailable
from executor.laravel.config import SqlSource
from executor.laravel.model import QueueCount
from executor.record.display import visible

SECONDS = 5  # for connecting, and for a query
_CUT_SECONDS = 20.0  # after which a server that says nothing at all is given up
_JOBS = sa.table("jobs", *map(sa.column, ("queue", "reserved_at", "available_at", "created_at")))
_FAILED = sa.table("failed_jobs", sa.column("queue"))
# The driver of each kind of database that an extra brings along.
DRIVERS = {"postgresql": "psycopg", "postgres": "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}
_EXTRAS = {"psycopg": "postgresql", "pymysql": "mysql"}


def count_in_database(source: SqlSource, queues: tuple[str, ...], now: float) -> Mapping[str, QueueCount]:
    """Return the counts by queue. Raises Unavailable where the database or its `jobs` table cannot be read."""
    with _connected(source.url) as connection:
        rows = {row.queue: row for row in connection.execute(counting(queues, now))}
        try:
            failed: dict[str, int] | None = _failed(connection, queues)
            problem = ""
        except SQLAlchemyError as error:
            failed, problem = None, f"failed jobs are not known: {_said(error)}"
    return {queue: _counted(queue, rows.get(queue), failed, problem, now) for queue in queues}


def count_failed(url: str, queues: tuple[str, ...]) -> Mapping[str, int]:
    """Return how many jobs of each queue have failed. Raises Unavailable where that cannot be read."""
    with _connected(url) as connection:
        return _failed(connection, queues)


def counting(queues: tuple[str, ...], now: float) -> sa.Select[Any]:
    """Return the query: a row for each queue of which there are jobs (pure)."""
    free = _JOBS.c.reserved_at.is_(None)
    ready = sa.and_(free, _JOBS.c.available_at <= int(now))
    return (
        sa.select(
            _JOBS.c.queue,
            sa.func.sum(sa.case((ready, 1), else_=0)).label("pending"),
            sa.func.sum(sa.case((sa.and_(free, sa.not_(ready)), 1), else_=0)).label("delayed"),
            sa.func.sum(sa.case((_JOBS.c.reserved_at.is_not(None), 1), else_=0)).label("reserved"),
            sa.func.min(sa.case((ready, _JOBS.c.available_at))).label("oldest"),
        )
        .where(_JOBS.c.queue.in_(queues))
        .group_by(_JOBS.c.queue)
    )


def _failed(connection: Connection, queues: tuple[str, ...]) -> dict[str, int]:
    count = sa.func.count().label("failed")
    query = sa.select(_FAILED.c.queue, count).where(_FAILED.c.queue.in_(queues)).group_by(_FAILED.c.queue)
    found = {row.queue: int(row.failed) for row in connection.execute(query)}
    return {queue: found.get(queue, 0) for queue in queues}


def _counted(queue: str, row: Any, failed: dict[str, int] | None, problem: str, now: float) -> QueueCount:
    failures = failed.get(queue, 0) if failed is not None else None
    if row is None:
        return QueueCount(queue, 0, 0, 0, failures, problem=problem, existed=bool(failures))
    oldest = max(0.0, now - int(row.oldest)) if row.oldest is not None else None
    return QueueCount(queue, int(row.pending), int(row.delayed), int(row.reserved), failures, oldest, problem)


@contextmanager
def _connected(url: str) -> Iterator[Connection]:
    """Open the database for reading as long as the block lasts."""
    address = _address(url)
    try:
        engine = sa.create_engine(address, poolclass=sa.NullPool, connect_args=_limits(address))
    except ImportError as error:
        extra = _EXTRAS.get(address.get_driver_name(), "")
        hint = f"pip install 'ops-gateway[{extra}]'" if extra else f"install {error.name}"
        raise ConfigError("extra_missing", "counting queues there needs a Python driver for it", hint) from None
    try:
        with engine.connect() as connection, _bounded(connection):
            yield connection
    except SQLAlchemyError as error:
        raise Unavailable(
            "database_unavailable",
            f"the queues' database could not be read: {_said(error)}",
            "look whether it runs, and whether this user may read jobs and failed_jobs",
        ) from None
    finally:
        engine.dispose()


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except SQLAlchemyError:
        raise ConfigError("queue_source", "that is no database URL of SQLAlchemy's form") from None
    kind, _, driver = address.drivername.partition("+")
    if not driver and kind in DRIVERS:
        kind = "postgresql" if kind == "postgres" else kind
        address = address.set(drivername=f"{kind}+{DRIVERS[kind]}")
    if kind == "sqlite" and address.database:
        address = address.set(database=f"file:{quote(address.database)}", query={"mode": "ro", "uri": "true"})
    return address


def _limits(address: URL) -> dict[str, Any]:
    """What the driver is told so that no query waits for ever."""
    match address.get_driver_name():
        case "psycopg":
            return {"connect_timeout": SECONDS}
        case "pymysql":
            return {"connect_timeout": SECONDS, "read_timeout": SECONDS, "write_timeout": SECONDS}
        case "pysqlite":
            return {"timeout": SECONDS}
        case _:
            return {}


@contextmanager
def _bounded(connection: Connection) -> Iterator[None]:
    """Let no query wait for ever: the driver for PostgreSQL has no time-out of its own, so its line is cut.

    The server is told as well, for this transaction (a pooler refuses it among the options of a connection).
    """
    if connection.dialect.driver != "psycopg":
        yield
        return
    line = socket.socket(fileno=os.dup(connection.connection.dbapi_connection.fileno()))  # type: ignore[union-attr]
    cut = threading.Timer(_CUT_SECONDS, _cut, [line])
    cut.daemon = True
    cut.start()
    try:
        connection.execute(sa.text(f"SET LOCAL statement_timeout = {SECONDS * 1000}"))
        yield
    finally:
        cut.cancel()
        line.close()


def _cut(line: socket.socket) -> None:
    with suppress(OSError):  # it has ended meanwhile
        line.shutdown(socket.SHUT_RDWR)


def _said(error: SQLAlchemyError) -> str:
    """The driver's own words, without the statement and without the address."""
    cause = getattr(error, "orig", None) or error
    return visible(" ".join(str(cause).split())[:200])
