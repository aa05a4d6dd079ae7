"""The monitor's requests for a restart: how one is raised, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from executor.decided import unflagged
from executor.outcome import State
from executor.policy.model import Ask, Operation, Run
from executor.record import approvals, requests
from executor.record.forms import Form
from executor.record.requests import RequestRow
from executor.record.store import Reading, Transaction
from executor.record.withdrawal import withdraw
from gateway.schedule.queue_state import LastRestart, RestartState

BY = "the queue monitor"


def raise_restart(tx: Transaction, queues: Sequence[str], decision: Run | Ask, lane: str, at: datetime) -> str:
    """Record a request to restart the workers of congested `queues`, decided already; return its id.

    One queue is named in it; for several it is a restart of all workers.
    """
    named = ", ".join(queues)
    new = unflagged(
        Form.MONITOR,
        Operation.RESTART_QUEUE,
        lane,
        decision,
        occasion=f"{at.isoformat()} {' '.join(queues)}",
        reason=f"asked for by {BY}: {named} congested",
        text=queues[0] if len(queues) == 1 else "",
    )
    return requests.insert_one(tx, new).row.id


def take_back(tx: Transaction, request_id: str) -> bool:
    """Take a restart back that is not needed any more; return False when it has begun or ended."""
    return withdraw(tx, request_id, BY, "the queues are clear again")


def last_restart(view: Reading, request_id: str) -> LastRestart | None:
    """Return what became of the request of that id; None for ""."""
    if not request_id:
        return None
    row = requests.get(view, request_id)
    if row is None:
        return LastRestart(RestartState.UNVERIFIED, "its record is gone")
    if not row.state.final:
        return LastRestart(RestartState.OPEN)
    return _ended(view, row)


def _ended(view: Reading, row: RequestRow) -> LastRestart:
    result = row.result or {}
    if row.state is State.SUCCEEDED:
        verified = result.get("verified") or {}
        if verified.get("effect") is True:
            return LastRestart(RestartState.VERIFIED)
        return LastRestart(RestartState.UNVERIFIED, str(verified.get("why") or "its effect was not seen"))
    if row.state in (State.DENIED, State.WITHDRAWN):
        approval = approvals.latest_of(view, row.id)
        return LastRestart(RestartState.DENIED, approval.decision_reason if approval is not None else "")
    if row.state in (State.EXPIRED, State.UNDELIVERABLE):
        return LastRestart(RestartState.FAILED, "it needed an operator's yes, and nobody answered")
    error = result.get("error") or {}
    return LastRestart(RestartState.FAILED, str(error.get("message") or f"it ended as {row.state}"))
