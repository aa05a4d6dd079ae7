"""Taking a request back before it has begun, whether it waits for operators or for its turn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select

from executor.outcome import State
from executor.record import approvals
from executor.record.forms import Form
from executor.record.schema import requests, timestamp
from executor.record.store import Reading, Transaction
from executor.record.transitions import transition

NOT_BEGUN = frozenset({State.RECEIVED, State.QUEUED})
_LOOKUP = 500  # ids in one query; SQLite takes at least 999 values


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


def agent_may_withdraw(tx: Reading, ids: Sequence[str]) -> dict[str, bool]:
    """Return for each of these requests that is known whether the agent may take it back.

    It may as long as the request has not begun, and only if the agent raised it: not what an operator or the queue
    monitor asked for, whose ids it can read in the results.
    """
    found: dict[str, bool] = {}
    for start in range(0, len(ids), _LOOKUP):
        these = requests.c.id.in_(ids[start : start + _LOOKUP])
        query = select(requests.c.id, requests.c.form, requests.c.state).where(requests.c.host == tx.host, these)
        for request_id, form, state in tx.connection.execute(query):
            found[request_id] = Form(form).of_the_agent and State(state) in NOT_BEGUN | {State.AWAITING_APPROVAL}
    return found


def count_withdrawn(tx: Reading, *, since: datetime) -> int:
    """Return how many requests were taken back after `since`, whoever did it."""
    query = select(func.count()).where(
        requests.c.host == tx.host, requests.c.state == State.WITHDRAWN, requests.c.finished_at > timestamp(since)
    )
    return tx.connection.scalar(query) or 0
