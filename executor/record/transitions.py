"""Changes of a request's state: compare-and-set, and the audit event in the same transaction. Nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypedDict, Unpack

from sqlalchemy import Update, bindparam, or_, update

from executor.outcome import State
from executor.policy.model import RiskClass
from executor.record.columns import encoded
from executor.record.lifecycle import check_arrow
from executor.record.requests import RequestRow, in_state
from executor.record.schema import requests
from executor.record.store import Transaction

# What is verified of a request that was interrupted, until somebody has looked what it left.
UNKNOWN: Mapping[str, object] = {"effect": None}


class Changes(TypedDict, total=False):
    """What may change together with the state. `result` and `output` are masked as they are written."""

    risk: RiskClass
    argv: tuple[str, ...]
    decision: Mapping[str, object]
    binding: Mapping[str, object]
    digest: str
    result: Mapping[str, object]
    output: str
    expires_at: str


def transition(
    tx: Transaction,
    request_id: str,
    expected: State | frozenset[State],
    to: State,
    data: Mapping[str, object] | None = None,
    **changes: Unpack[Changes],
) -> bool:
    """Move a request from one of the `expected` states to `to`; return False, changing nothing, if it is in none.

    The event ("request." and the new state) is written in the same transaction. Start and end times are set by the
    states. Raises IllegalArrow (a bug) when one of `expected` may not become `to`.
    """
    befores = frozenset({expected}) if isinstance(expected, State) else expected
    for before in befores:
        check_arrow(before, to)
    if not _write(tx, request_id, befores, _values(tx, to, changes)):
        return False
    tx.append(f"request.{to}", request_id, data)
    return True


def found_afterwards(tx: Transaction, request_id: str, result: Mapping[str, object]) -> bool:
    """Give an interrupted request the `result` that says what it left; return False if it is in another state.

    Its state stays as it is. The event "request.found", with what is verified now, is in the same transaction.
    """
    if not _write(tx, request_id, frozenset({State.INTERRUPTED}), encoded({"result": result}, tx.redactor)):
        return False
    tx.append("request.found", request_id, {"verified": result.get("verified")})
    return True


def _write(tx: Transaction, request_id: str, befores: frozenset[State], values: Mapping[str, object]) -> bool:
    """Write columns of a request that is in one of `befores`, and the number of the event that is appended next."""
    parameters = {f"new_{name}": value for name, value in values.items()}
    parameters |= {"new_event_seq": tx.chain.next_seq, "of_host": tx.host, "of_id": request_id}
    return tx.connection.execute(_statement(befores, frozenset(values)), parameters).rowcount > 0


def _values(tx: Transaction, to: State, changes: Changes) -> dict[str, object]:
    values = encoded({"state": to, **changes}, tx.redactor)
    if to is State.RUNNING:
        values["started_at"] = tx.at
    elif to.final:
        values["finished_at"] = tx.at
    return values


@lru_cache(maxsize=256)
def _statement(befores: frozenset[State], columns: frozenset[str]) -> Update:
    """The update for one set of columns, built once: building it costs more than running it."""
    return (
        update(requests)
        .where(
            requests.c.host == bindparam("of_host"),
            requests.c.id == bindparam("of_id"),
            or_(*(requests.c.state == before for before in sorted(befores))),
        )
        .values({name: bindparam(f"new_{name}") for name in sorted(columns | {"event_seq"})})
    )


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was found running at start, and what became of it."""

    interrupted: tuple[RequestRow, ...]
    requeued: tuple[RequestRow, ...]


def recover_after_crash(tx: Transaction, run_again: Callable[[RequestRow], bool]) -> Recovery:
    """At start, before anything runs: end what was running as interrupted, or queue it again.

    `run_again` says which requests change nothing and can simply be run again. What was queued or awaiting approval
    stays so. The rows returned are as they were found.
    """
    interrupted: list[RequestRow] = []
    requeued: list[RequestRow] = []
    for row in in_state(tx, State.RUNNING):
        again = run_again(row)
        why = {"why": "the gateway stopped while it ran"}
        if again:
            transition(tx, row.id, State.RUNNING, State.QUEUED, why)
        else:
            transition(tx, row.id, State.RUNNING, State.INTERRUPTED, why, result={"verified": UNKNOWN})
        (requeued if again else interrupted).append(row)
    return Recovery(tuple(interrupted), tuple(requeued))
