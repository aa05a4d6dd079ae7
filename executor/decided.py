"""How a request is recorded that was decided: in which state, with what decision; and those that no flag raised."""

from __future__ import annotations

import hashlib

from executor.errors import Problem
from executor.outcome import State
from executor.policy.model import Ask, Decision, Operation, Refuse, Run
from executor.record.forms import Form
from executor.record.requests import NewRequest


def first_state(decision: Decision, *, dry_run: bool = False) -> State:
    """Return the state in which a request is recorded that was decided so."""
    if isinstance(decision, Refuse):
        return State.REFUSED
    if dry_run:
        return State.SUCCEEDED
    return State.RECEIVED if isinstance(decision, Ask) else State.QUEUED


def decision_data(decision: Decision) -> dict[str, object]:
    """Return a decision as it is recorded with a request."""
    match decision:
        case Run(reasons=reasons):
            return {"answer": "run", "reasons": list(reasons)}
        case Ask(reasons=reasons):
            return {"answer": "ask", "reasons": list(reasons)}
        case Refuse(code=code, reason=reason, hint=hint):
            return {"answer": "refuse", "reasons": [reason], "code": code, "hint": hint}


def error_data(problem: Problem) -> dict[str, str]:
    """Return a problem as it is recorded with a result."""
    return {"code": problem.code, "message": problem.message, "hint": problem.hint}


def unflagged(
    form: Form, operation: Operation, lane: str, decision: Run | Ask, *, occasion: str, reason: str, text: str = ""
) -> NewRequest:
    """Return a request that an operator or the monitor raises: no file of the shared directory has to do with it.

    `occasion` names what led to it: the same one makes one request, however often it is come to. `reason` tells who
    asked.
    """
    digest = hashlib.sha256(occasion.encode()).hexdigest()
    return NewRequest(
        id=f"{form}-{digest[:8]}",
        operation=operation,
        repo=lane,
        form=form,
        text=text,
        identity=f"{form}:{digest[:32]}",
        state=first_state(decision),
        generated=True,
        reason=reason,
        risk=decision.risk,
        argv=decision.argv,
        decision=decision_data(decision),
    )
