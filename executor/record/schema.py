"""The tables of the record. Each row carries its host's name, so that several hosts can share one database.

Times are text in UTC, `2026-01-31T12:00:00.000000Z`: they sort as they are and read without a tool. JSON is text in
canonical form (`canonical_json`), so that it means the same bytes in every database.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

VERSION = 1  # of this schema; a database with another one is not touched

_HOST = String(100)
_ID = String(100)
_HASH = String(64)  # hexadecimal SHA-256
_TIME = String(27)

metadata = MetaData()

# facts about the database itself: its schema version, and which audit key each host's chain was begun with
marks = Table(
    "marks",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("value", Text, nullable=False),
)

requests = Table(
    "requests",
    metadata,
    Column("arrival", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),  # order of arrival
    Column("host", _HOST, nullable=False),
    Column("id", _ID, nullable=False),
    Column("operation", String(40), nullable=False),
    Column("repo", String(100), nullable=False),
    Column("form", String(10), nullable=False),
    Column("text", Text, nullable=False),
    Column("content_hash", _HASH, nullable=False),
    Column("identity", String(300), nullable=False),
    Column("reason", Text, nullable=False),
    Column("dry_run", Boolean, nullable=False),
    Column("generated", Boolean, nullable=False),
    Column("state", String(20), nullable=False),
    Column("risk", String(20)),
    Column("argv", Text, nullable=False),
    Column("decision", Text, nullable=False),
    Column("binding", Text),
    Column("digest", _HASH),
    Column("result", Text),
    Column("output", Text),
    Column("received_at", _TIME, nullable=False),
    Column("started_at", _TIME),
    Column("finished_at", _TIME),
    Column("expires_at", _TIME),
    Column("event_seq", BigInteger, nullable=False),  # the request's latest event; shows when the log was cut
    UniqueConstraint("host", "id"),
    UniqueConstraint("host", "identity"),
    Index("requests_by_state", "host", "state", "repo", "arrival"),
    Index("requests_by_operation", "host", "repo", "operation", "arrival"),
)

approvals = Table(
    "approvals",
    metadata,
    Column("host", _HOST, primary_key=True),
    Column("id", _ID, primary_key=True),
    Column("request_id", _ID, nullable=False),
    Column("round", Integer, nullable=False),
    Column("digest", _HASH, nullable=False),
    Column("risk", String(20), nullable=False),
    Column("reasons", Text, nullable=False),
    Column("quorum", Integer, nullable=False),
    Column("shown", Text, nullable=False),
    Column("state", String(20), nullable=False),
    Column("created_at", _TIME, nullable=False),
    Column("expires_at", _TIME, nullable=False),
    Column("decided_at", _TIME),
    Column("decided_by", Text, nullable=False),
    Column("decision_reason", Text, nullable=False),
    UniqueConstraint("host", "request_id", "round"),
    ForeignKeyConstraint(["host", "request_id"], ["requests.host", "requests.id"], ondelete="CASCADE"),
    Index("approvals_by_state", "host", "state", "expires_at"),
)

votes = Table(
    "votes",
    metadata,
    Column("host", _HOST, primary_key=True),
    Column("approval_id", _ID, primary_key=True),
    Column("operator", String(100), primary_key=True),
    Column("verdict", String(10), nullable=False),
    Column("reason", Text, nullable=False),
    Column("at", _TIME, nullable=False),
    ForeignKeyConstraint(["host", "approval_id"], ["approvals.host", "approvals.id"], ondelete="CASCADE"),
)

# the audit log; `host` and `seq` are its order, so the rows lie in that order too
events = Table(
    "events",
    metadata,
    Column("host", _HOST, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("at", _TIME, nullable=False),
    Column("request_id", _ID, nullable=False),
    Column("kind", String(40), nullable=False),
    Column("data", Text, nullable=False),
    Column("hash", _HASH, nullable=False),
    Index("events_by_request", "host", "request_id", "seq"),
    sqlite_with_rowid=False,
)

# switches that operators throw and that outlive a restart
controls = Table(
    "controls",
    metadata,
    Column("host", _HOST, primary_key=True),
    Column("name", String(40), primary_key=True),
    Column("reason", Text, nullable=False),
    Column("by", String(100), nullable=False),
    Column("at", _TIME, nullable=False),
)

# what the chat shows of a request (or of another subject): one message, and what stands in it
cards = Table(
    "cards",
    metadata,
    Column("host", _HOST, primary_key=True),
    Column("subject", _ID, primary_key=True),
    Column("chat_id", BigInteger, nullable=False),
    Column("message_id", BigInteger),  # none: not sent, or not known to have been
    Column("shown", _HASH, nullable=False),  # of what stands there; "" is nothing yet
    Column("uncertain", Boolean, nullable=False),  # whether a copy of it may stand in the chat beside it
    Column("asked", _ID, nullable=False),  # the approval that it asks for as it stands there
    Column("menu", String(20), nullable=False),  # which of its keyboards an operator opened
    Column("reminded", _ID, nullable=False),  # the approval that was reminded of
    Column("updated_at", _TIME, nullable=False),
)

# buttons under cards: what comes back from a press is a random token, and this is what it means
buttons = Table(
    "buttons",
    metadata,
    Column("host", _HOST, primary_key=True),
    Column("token", String(64), primary_key=True),
    Column("subject", _ID, nullable=False),
    Column("action", String(20), nullable=False),
    Column("target", _ID, nullable=False),
    Column("digest", _HASH, nullable=False),
    Column("argument", String(200), nullable=False),
    Column("message_id", BigInteger),  # of the question that an operator is to reply to
    Column("created_at", _TIME, nullable=False),
    UniqueConstraint("host", "subject", "action", "target", "digest", "argument"),
    Index("buttons_by_message", "host", "message_id"),
)

# where the chat stands: which events are reflected in it, which updates were handled, what was said when
chat_state = Table(
    "chat_state",
    metadata,
    Column("host", _HOST, primary_key=True),
    Column("name", String(100), primary_key=True),
    Column("value", Text, nullable=False),
)

# how each watched queue stood at each look that is kept; what could not be counted is NULL
queue_samples = Table(
    "queue_samples",
    metadata,
    Column("host", _HOST, primary_key=True),
    Column("at", _TIME, primary_key=True),
    Column("queue", String(128), primary_key=True),
    Column("pending", BigInteger),
    Column("delayed", BigInteger),
    Column("reserved", BigInteger),
    Column("failed", BigInteger),
    Column("oldest_seconds", Float),
    Column("problem", Text, nullable=False),
    Column("existed", Boolean, nullable=False),
    sqlite_with_rowid=False,
)

# what the queue monitor remembers from one look to the next, as JSON
queue_watch = Table(
    "queue_watch",
    metadata,
    Column("host", _HOST, primary_key=True),
    Column("state", Text, nullable=False),
)

_ENCODER = json.JSONEncoder(ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))


def canonical_json(data: object) -> str:
    """Return `data` as JSON of one spelling: keys sorted, no blanks, ASCII only. Raises ValueError on NaN."""
    return _ENCODER.encode(data)


def timestamp(moment: datetime) -> str:
    """Return an aware `moment` as the text that the tables hold. Raises ValueError when it knows no time zone."""
    if moment.tzinfo is None:
        raise ValueError("a moment without a time zone")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
