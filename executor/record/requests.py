"""Requests in the record: as they come in, and as they are asked for. Their changes of state are in `transitions`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy import BindParameter, Row, Select, bindparam, func, insert, or_, select, union_all

from executor.outcome import OPEN_STATES, State
from executor.policy.model import Operation, RiskClass
from executor.record.columns import decoded, encoded
from executor.record.forms import Form
from executor.record.lifecycle import check_first
from executor.record.schema import canonical_json, requests
from executor.record.store import Reading, Transaction

_LOOKUP = 400  # identities (and as many ids) in one query; SQLite takes at least 999 values


@dataclass(frozen=True, slots=True)
class NewRequest:
    """A request as it is first recorded: already decided. `identity` is the claim's, `text` the body or JSON as read.

    `result` and `output` are given when it ends at once (refused); `argv` and `decision` as far as they are known.
    """

    id: str
    operation: Operation | None  # None: a typed request that could not be read
    repo: str
    form: Form
    text: str
    identity: str
    state: State
    generated: bool = False  # the agent gave no id, we made one
    reason: str = ""
    dry_run: bool = False
    risk: RiskClass | None = None
    argv: tuple[str, ...] = ()
    decision: Mapping[str, object] = field(default_factory=dict)
    binding: Mapping[str, object] | None = None
    digest: str | None = None
    result: Mapping[str, object] | None = None
    output: str | None = None
    received_at: str | None = None  # None: the transaction's moment
    expires_at: str | None = None

    @property
    def content_hash(self) -> str:
        """What makes two requests under one id the same request."""
        content = canonical_json([self.operation, self.repo, self.form, self.text])
        return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class RequestRow:
    """A request as the record holds it. `argv`, `text`, `reason` and `binding` are as they were given, not masked;
    `result` and `output` were masked when they were written. Times are UTC text, None where not yet reached."""

    id: str
    operation: Operation | None
    repo: str
    form: Form
    text: str
    content_hash: str
    identity: str
    reason: str
    dry_run: bool
    generated: bool
    state: State
    risk: RiskClass | None
    argv: tuple[str, ...]
    decision: Mapping[str, Any]
    binding: Mapping[str, Any] | None
    digest: str | None
    result: Mapping[str, Any] | None
    output: str | None
    received_at: str
    started_at: str | None
    finished_at: str | None
    expires_at: str | None
    event_seq: int


class Arrival(StrEnum):
    """What a request turned out to be when it was recorded."""

    NEW = "new"
    SEEN = "seen"  # this very flag is recorded already: a crash came between recording and removing it
    REPEAT = "repeat"  # the same id with the same content: answer with the same result
    CONFLICT = "conflict"  # the same id with other content: to be refused; it was not recorded


@dataclass(frozen=True, slots=True)
class Inserted:
    """`row` is the new request, or the one that stood there already."""

    arrival: Arrival
    row: RequestRow


_COLUMNS = [requests.c[name] for name in RequestRow.__slots__]
_INSERT = insert(requests)
DUE = (State.QUEUED, State.RECEIVED)  # to be run, or to be put to operators


_OF_HOST = requests.c.host == bindparam("of_host")


def _next_due() -> Select[Any]:
    """The query for the next requests of a repository.

    The least numbers of each state come straight from the index, however many requests are waiting.
    """
    of_repo = _OF_HOST & (requests.c.repo == bindparam("of_repo"))
    count: BindParameter[int] = bindparam("count")
    firsts = (
        select(requests.c.arrival).where(of_repo, requests.c.state == state).order_by(requests.c.arrival).limit(count)
        for state in DUE
    )
    either = union_all(*(select(each.subquery().c.arrival) for each in firsts))
    return select(*_COLUMNS).where(requests.c.arrival.in_(either)).order_by(requests.c.arrival).limit(count)


# What is asked for every request is built once: building a query costs more than running it.
_NEXT_DUE = _next_due()
_GET = select(*_COLUMNS).where(_OF_HOST, requests.c.id == bindparam("of_id"))
_COUNT_OPEN = select(func.count()).where(_OF_HOST, requests.c.state.in_(sorted(OPEN_STATES)))
_DUE_REPOSITORIES = select(requests.c.repo).where(_OF_HOST, requests.c.state.in_(DUE)).distinct()
_ALREADY_THERE = select(*_COLUMNS).where(
    _OF_HOST,
    or_(
        requests.c.identity.in_(bindparam("identities", expanding=True)),
        requests.c.id.in_(bindparam("ids", expanding=True)),
    ),
)


def insert_many(tx: Transaction, new: Sequence[NewRequest]) -> list[Inserted]:
    """Record requests in their order of arrival, each with its audit event; return what each turned out to be.

    Safe to repeat: a flag that is recorded already is returned as SEEN. Raises IllegalArrow (a bug) when one begins
    in a state that no request begins in.
    """
    by_identity: dict[str, RequestRow] = {}
    by_id: dict[str, RequestRow] = {}
    for row in _already_there(tx, new):
        by_identity[row.identity] = by_id[row.id] = row
    inserted: list[Inserted] = []
    fresh: list[dict[str, object]] = []
    for request in new:
        known = _known(request, by_identity.get(request.identity), by_id.get(request.id))
        if known is None:
            row = _begin(tx, request)
            by_identity[row.identity] = by_id[row.id] = row
            fresh.append(_stored(tx, row))
            known = Inserted(Arrival.NEW, row)
        elif known.arrival is Arrival.CONFLICT:
            data = {"content": request.content_hash, "recorded": known.row.content_hash}
            tx.append("request.id_conflict", request.id, data)
        inserted.append(known)
    if fresh:
        tx.connection.execute(_INSERT, fresh)
    return inserted


def insert_one(tx: Transaction, new: NewRequest) -> Inserted:
    """Record one request; see `insert_many`."""
    return insert_many(tx, [new])[0]


def get(tx: Reading, request_id: str) -> RequestRow | None:
    """Return the request of that id, or None."""
    row = tx.connection.execute(_GET, {"of_host": tx.host, "of_id": request_id}).first()
    return _read(row) if row else None


def next_due(tx: Reading, repo: str, count: int = 1) -> list[RequestRow]:
    """Return the `count` requests of `repo` that come next: the earliest of those to be run or put to operators."""
    due = tx.connection.execute(_NEXT_DUE, {"of_host": tx.host, "of_repo": repo, "count": count})
    return [_read(row) for row in due]


def in_state(tx: Reading, *states: State) -> list[RequestRow]:
    """Return the requests in any of `states`, in order of arrival."""
    return _all(tx, _select(tx).where(requests.c.state.in_(states)).order_by(requests.c.arrival))


def count_open(tx: Reading) -> int:
    """Return how many requests have not ended."""
    return tx.connection.scalar(_COUNT_OPEN, {"of_host": tx.host}) or 0


def due_repositories(tx: Reading) -> list[str]:
    """Return the repositories that have a request to be run or put to operators."""
    return sorted(tx.connection.scalars(_DUE_REPOSITORIES, {"of_host": tx.host}))


def open_requests(tx: Reading) -> list[RequestRow]:
    """Return the requests that have not ended, in order of arrival."""
    return in_state(tx, *sorted(OPEN_STATES))


def latest_by_operation(tx: Reading, repo: str, operation: Operation) -> RequestRow | None:
    """Return the request of that operation that arrived last in `repo`, whatever its state."""
    of_kind = _select(tx).where(requests.c.repo == repo, requests.c.operation == operation)
    return _first(tx, of_kind.order_by(requests.c.arrival.desc()).limit(1))


def recent(tx: Reading, limit: int) -> list[RequestRow]:
    """Return the requests that arrived last, the latest first."""
    return _all(tx, _select(tx).order_by(requests.c.arrival.desc()).limit(limit))


def _select(tx: Reading) -> Select[Any]:
    return select(*_COLUMNS).where(requests.c.host == tx.host)


def _first(tx: Reading, query: Select[Any]) -> RequestRow | None:
    row = tx.connection.execute(query).first()
    return _read(row) if row else None


def _all(tx: Reading, query: Select[Any]) -> list[RequestRow]:
    return [_read(row) for row in tx.connection.execute(query)]


def _already_there(tx: Reading, new: Sequence[NewRequest]) -> Iterator[RequestRow]:
    for start in range(0, len(new), _LOOKUP):
        part = new[start : start + _LOOKUP]
        keys = {"identities": [request.identity for request in part], "ids": [request.id for request in part]}
        for row in tx.connection.execute(_ALREADY_THERE, {"of_host": tx.host, **keys}):
            yield _read(row)


def _known(request: NewRequest, same_flag: RequestRow | None, same_id: RequestRow | None) -> Inserted | None:
    if same_flag is not None:
        return Inserted(Arrival.SEEN, same_flag)
    if same_id is None:
        return None
    same = same_id.content_hash == request.content_hash
    return Inserted(Arrival.REPEAT if same else Arrival.CONFLICT, same_id)


def _begin(tx: Transaction, new: NewRequest) -> RequestRow:
    check_first(new.state)
    content_hash = new.content_hash
    told = {
        "operation": new.operation,
        "repo": new.repo,
        "class": new.risk,
        "argv": new.argv,
        "reason": new.reason,
        "dry_run": new.dry_run,
        "content": content_hash,
        "decision": new.decision,
    }
    return RequestRow(
        id=new.id,
        operation=new.operation,
        repo=new.repo,
        form=new.form,
        text=new.text,
        content_hash=content_hash,
        identity=new.identity,
        reason=new.reason,
        dry_run=new.dry_run,
        generated=new.generated,
        state=new.state,
        risk=new.risk,
        argv=new.argv,
        decision=new.decision,
        binding=new.binding,
        digest=new.digest,
        result=new.result,
        output=new.output,
        received_at=new.received_at or tx.at,
        started_at=None,
        finished_at=tx.at if new.state.final else None,
        expires_at=new.expires_at,
        event_seq=tx.append(f"request.{new.state}", new.id, told),
    )


def _stored(tx: Transaction, row: RequestRow) -> dict[str, object]:
    values = {name: getattr(row, name) for name in RequestRow.__slots__}
    return encoded(values, tx.redactor) | {"host": tx.host, "operation": row.operation or ""}


def _read(row: Row[Any]) -> RequestRow:
    values = decoded(row._asdict())
    values["operation"] = Operation(values["operation"]) if values["operation"] else None
    values["form"] = Form(values["form"])
    values["state"] = State(values["state"])
    values["risk"] = RiskClass(values["risk"]) if values["risk"] else None
    return RequestRow(**values)
