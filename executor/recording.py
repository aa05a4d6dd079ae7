"""How the run of a request gets into the record: that it began, and how it ended, each with its audit event."""

from __future__ import annotations

from executor.answers import error_data
from executor.arrival import restore_arrival
from executor.errors import Failed, Problem, Refused, TimedOut, Unavailable
from executor.git.reports import fallen
from executor.outcome import Outcome, State
from executor.policy.model import Request
from executor.record import requests
from executor.record.forms import Form
from executor.record.requests import RequestRow
from executor.record.store import Transaction
from executor.record.transitions import UNKNOWN, transition

STOPPED = frozenset({"cancelled", "stopping"})  # codes of what was ended because the gateway stops


def restored(row: RequestRow) -> Request:
    """Return what a recorded request asks for. Raises Refused where that cannot be read any more."""
    operation = None if row.form is Form.TYPED else row.operation
    arrival = restore_arrival(operation, row.repo, row.id, row.text)
    if arrival.request is None:  # an upgrade may read differently what was recorded before
        raise arrival.refusal or Refused("unreadable", "the request cannot be read any more")
    return arrival.request


def begin(tx: Transaction, row: RequestRow) -> None:
    """Record that a request runs. One that turned out to need nobody's yes is queued first, as every other is."""
    if row.state is State.RECEIVED:
        transition(tx, row.id, State.RECEIVED, State.QUEUED)
    if not transition(tx, row.id, State.QUEUED, State.RUNNING, data={"argv": row.argv, "digest": row.digest}):
        raise Unavailable("changed_meanwhile", f"the request {row.id} changed while it was looked at")


def end(tx: Transaction, request_id: str, outcome: Outcome) -> None:
    """Record how a running request ended."""
    verified = dict(outcome.verified) or (dict(UNKNOWN) if was_stopped(outcome) else {})
    result: dict[str, object] = {
        "exit_code": outcome.exit_code,
        "truncated": outcome.truncated,
        "verified": verified,
    }
    told: dict[str, object] = {"exit_code": outcome.exit_code, "verified": verified}
    if outcome.error is not None:
        result["error"] = error_data(outcome.error)
        told |= {"code": outcome.error.code, "message": outcome.error.message}
    transition(tx, request_id, State.RUNNING, _end_state(outcome), data=told, result=result, output=outcome.output)


def whole(tx: Transaction, row: RequestRow, outcome: Outcome) -> RequestRow:
    """Record the run of a request that changed nothing, and return the request as it is then."""
    begin(tx, row)
    end(tx, row.id, outcome)
    recorded = requests.get(tx, row.id)
    assert recorded is not None  # it has just been changed
    return recorded


def not_begun(tx: Transaction, row: RequestRow, problem: Problem) -> None:
    """End a request that cannot be begun: refused, or failed or timed out while it was looked into."""
    if isinstance(problem, TimedOut):  # it was looked into by a program that was ended
        begin(tx, row)
        end(tx, row.id, fallen(row.argv, problem))
        return
    to = State.REFUSED if isinstance(problem, Refused) else State.FAILED
    decision = {"answer": "refuse", "reasons": [problem.message], "code": problem.code, "hint": problem.hint}
    told = {"code": problem.code, "message": problem.message}
    changes = frozenset({State.RECEIVED, State.QUEUED})
    transition(tx, row.id, changes, to, data=told, result={"error": error_data(problem)}, decision=decision)


def bug(so_far: str) -> Failed:
    """Return what is told of an error of our own; `so_far` says what became of the request."""
    return Failed(
        "internal_error",
        f"the gateway met an error of its own; {so_far}",
        "look at the state (git_status, git_check); an operator finds the error in the gateway's log",
    )


def was_stopped(outcome: Outcome) -> bool:
    """Whether an operation was ended because the gateway stops: what it came to is not known."""
    return outcome.error is not None and outcome.error.code in STOPPED


def _end_state(outcome: Outcome) -> State:
    return State.INTERRUPTED if was_stopped(outcome) else outcome.state
