"""Taking a request back before it has begun, whether it waits for operators or for its turn."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select

from executor.outcome import State
from executor.record import approvals
from executor.record.schema import requests, timestamp
from executor.record.store import Reading, Transaction
from executor.record.transitions import transition

NOT_BEGUN = frozenset({State.RECEIVED, State.QUEUED})


def withdraw(tx: Transaction, request_id: str, by: str, reason: str) -> bool:
    """Take a request back on behalf of `by`; return False, changing nothing, when it has begun or ended.

    The agent is told the `reason`, and that a person took it back, not which one.
    """
    if approvals.withdraw(tx, request_id, by, reason):
        return True
    error = {
        "code": "withdrawn",
        "message": f"it was taken back before it ran{f': {reason}' if reason else ''}",
        "hint": "ask again if it is still wanted",
    }
    told = {"by": by, "reason": reason}
    return transition(tx, request_id, NOT_BEGUN, State.WITHDRAWN, told, result={"error": error})


def count_withdrawn(tx: Reading, *, since: datetime) -> int:
    """Return how many requests were taken back after `since`, whoever did it."""
    query = select(func.count()).where(
        requests.c.host == tx.host, requests.c.state == State.WITHDRAWN, requests.c.finished_at > timestamp(since)
    )
    return tx.connection.scalar(query) or 0
