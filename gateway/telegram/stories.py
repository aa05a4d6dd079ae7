"""What the chat tells of requests, read from the record. Everything here blocks."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from executor.outcome import State
from executor.record import approvals, audit, requests
from executor.record.approvals import Approval, Verdict
from executor.record.audit import Event
from executor.record.forms import Form
from executor.record.requests import RequestRow
from executor.record.store import Reading
from gateway.telegram.approval_card import Asked
from gateway.telegram.cards import Story

# Ends of which operators hear at once, even where they were not asked before.
_NOTEWORTHY = frozenset({State.REFUSED, State.FAILED, State.TIMED_OUT, State.INTERRUPTED, State.UNDELIVERABLE})


def story_of(view: Reading, request_id: str, rescue_days: int) -> Story | None:
    """Return all that is known of a request, or None; what was there before one is kept for `rescue_days` days."""
    row = requests.get(view, request_id)
    if row is None:
        return None
    approval = approvals.latest_of(view, request_id)
    events = tuple(audit.events_of(view, request_id))
    return Story(row, approval, _approvers(events, approval), events, _kept(row, view.at, rescue_days))


def waiting(view: Reading) -> list[Asked]:
    """Return what waits for operators, with who has said yes so far."""
    found = []
    for approval in approvals.pending(view):
        row = requests.get(view, approval.request_id)
        if row is not None:
            found.append(Asked(row, approval, _approvers(audit.events_of(view, row.id), approval)))
    return found


def has_card(row: RequestRow) -> bool:
    """Return whether a request gets a card of its own; the others are routine, told in lines.

    What the queue monitor raised is told in the story of the congestion, unless operators have to be asked.
    """
    asked = row.digest is not None or (row.decision.get("answer") == "ask" and not row.dry_run)
    noteworthy = row.state in _NOTEWORTHY and not row.dry_run
    return asked or row.form is Form.OPERATOR or (noteworthy and not is_told_in_a_story(row))


def is_told_in_a_story(row: RequestRow) -> bool:
    """Return whether a request is a part of what is told of a queue."""
    return row.form is Form.MONITOR


def _approvers(events: Iterable[Event], approval: Approval | None) -> tuple[str, ...]:
    if approval is None:
        return ()
    return tuple(
        str(event.data["operator"])
        for event in events
        if event.kind == "approval.vote"
        and (event.data.get("approval"), event.data.get("verdict")) == (approval.id, Verdict.APPROVE)
    )


def _kept(row: RequestRow, at: str, rescue_days: int) -> bool:
    if row.started_at is None:
        return False
    return datetime.fromisoformat(at) - datetime.fromisoformat(row.started_at) < timedelta(days=rescue_days)
