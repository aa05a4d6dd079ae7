"""The messages about queues that are kept as golden files: whole congestions, step by step, as met at night."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from telegram_samples import NOW, PLACE, at, request

from executor.laravel.model import QueueCount, QueueSample
from executor.outcome import State
from executor.policy.model import Operation, RiskClass
from executor.record.audit import Event
from executor.record.forms import Form
from executor.record.requests import RequestRow
from gateway.schedule.queue_report import QueueReport
from gateway.telegram.card_model import Card
from gateway.telegram.queue_cards import QueueStory, cry, relief, story_card
from gateway.telegram.queue_reply import numbers

LIMITS = {"max_pending": 50, "max_age_seconds": 600.0}
AT_18_10 = 1_764_526_200.0


def told(kind: str, minute: int, **data: Any) -> Event:
    values = {"queue": "emails", "loud": False, **data}
    return Event(40 + minute, at(minute), "web-1", "_queue-1", f"queue.{kind}", values, "5ea1" * 16)


def restart(state: State, **verified: object) -> RequestRow:
    return replace(
        request(),
        id="monitor-7f3a90bc",
        operation=Operation.RESTART_QUEUE,
        repo="",
        form=Form.MONITOR,
        risk=RiskClass.CHANGE,
        state=state,
        argv=("restart_queue",),
        started_at=at(10, 1),
        finished_at=at(10, 9) if state.final else None,
        result={"verified": verified} if verified else {},
    )


CONGESTED = told("congested", 10, pending=84, oldest_seconds=730.0, reserved=0, hold="", loud=True, **LIMITS)
ASKED = told("restart_asked", 10, pending=84, oldest_seconds=730.0, request="monitor-7f3a90bc")
DRAINING = told("draining", 12, pending=52, before=84)
CLEAR = told("all_clear", 15, pending=3, seconds=300.0, worst=84, restarts=1)
STILL = told(
    "still_congested",
    25,
    pending=131,
    oldest_seconds=1630.0,
    reserved=0,
    failed=12,
    before=84,
    why="restart",
    next_at=AT_18_10,
    loud=True,
)
PROOF = {
    "effect": True,
    "seen": ["2 new workers: 4711 and 4712, started 3 s after the restart", "queue:restart was signalled"],
}
NO_PROOF = {"effect": False, "why": "no worker came back within 60 s: is there a supervisor?"}
TROUBLE = told(
    "restart_trouble",
    11,
    pending=90,
    oldest_seconds=790.0,
    before=84,
    state="unverified",
    why="no worker came back within 60 s: is there a supervisor?",
    next_at=AT_18_10,
    loud=True,
)
REDIS_DOWN = told(
    "count_unknown", 3, problem="Redis at 127.0.0.1:6379 cannot be reached: connection refused", loud=True
)


def story(*events: Event, row: RequestRow | None = None) -> Card:
    return story_card(PLACE, QueueStory(events, {row.id: row} if row is not None else {}))


def flapping() -> Card:
    """A queue that came back again and again within the hour."""
    events = [CONGESTED]
    for minute in range(12, 56, 4):
        events.append(told("all_clear", minute, pending=2, seconds=120.0, worst=84, restarts=0))
        events.append(replace(CONGESTED, at=at(minute + 2), data={**CONGESTED.data, "again": True, "pending": 61}))
    return story(*events)


def report() -> QueueReport:
    counts = (
        QueueCount("emails", 84, 3, 2, 12, 730.0),
        QueueCount("pdf", problem="Redis at 127.0.0.1:6379 cannot be reached: connection refused"),
        QueueCount("reports", 0, 0, 0, 0, existed=False),
    )
    return QueueReport(
        sample=QueueSample(NOW, counts),
        max_pending=50,
        max_age_seconds=600.0,
        hours="Mon-Fri 09:00-18:00",
        zone="America/Sao_Paulo",
        open_now=True,
        opens_at=NOW + timedelta(hours=18),
        restarts=(NOW - timedelta(hours=5), NOW - timedelta(minutes=25)),
        congested_since={"emails": NOW - timedelta(minutes=25)},
        never_seen=frozenset({"reports"}),
        looked_at=NOW,
    )


QUEUE_CARDS: dict[str, Callable[[], Card]] = {
    "queue-1-restart-running": lambda: story(CONGESTED, ASKED, row=restart(State.RUNNING)),
    "queue-2-restart-verified": lambda: story(CONGESTED, ASKED, row=restart(State.SUCCEEDED, **PROOF)),
    "queue-3-draining": lambda: story(CONGESTED, ASKED, DRAINING, row=restart(State.SUCCEEDED, **PROOF)),
    "queue-4-all-clear": lambda: story(CONGESTED, ASKED, DRAINING, CLEAR, row=restart(State.SUCCEEDED, **PROOF)),
    "queue-restart-asks": lambda: story(CONGESTED, ASKED, row=restart(State.AWAITING_APPROVAL)),
    "queue-restart-taken-back": lambda: story(
        CONGESTED,
        ASKED,
        told("restart_withdrawn", 14, request="monitor-7f3a90bc"),
        replace(CLEAR, data={**CLEAR.data, "restarts": 0}),
        row=restart(State.WITHDRAWN),
    ),
    "queue-restart-denied": lambda: story(
        CONGESTED,
        ASKED,
        told("restart_trouble", 12, pending=90, before=84, state="denied", why="not now"),
        row=restart(State.DENIED),
    ),
    "queue-restart-failed": lambda: story(
        CONGESTED,
        ASKED,
        row=replace(restart(State.FAILED), result={"error": {"code": "artisan", "message": "artisan exited with 1"}}),
    ),
    "queue-restart-not-verified": lambda: story(CONGESTED, ASKED, TROUBLE, row=restart(State.SUCCEEDED, **NO_PROOF)),
    "queue-not-verified-cry": lambda: cry(PLACE, TROUBLE),
    "queue-still-congested": lambda: story(CONGESTED, ASKED, STILL, row=restart(State.SUCCEEDED, **PROOF)),
    "queue-still-congested-cry": lambda: cry(PLACE, STILL),
    "queue-limit-cry": lambda: cry(
        PLACE, told("still_congested", 55, pending=140, reserved=4, before=131, why="limit", made=2, next_at=AT_18_10)
    ),
    "queue-relief": lambda: relief(PLACE, told("all_clear", 58, pending=9, seconds=2880.0, worst=140, restarts=2)),
    "queue-outside-hours": lambda: story(
        told("congested", 10, pending=84, hold="outside_hours", opens_at="2025-12-01T12:00:00+00:00", **LIMITS)
    ),
    "queue-frozen": lambda: story(told("congested", 10, pending=84, hold="frozen", **LIMITS)),
    "queue-no-set-up": lambda: story(
        told("congested", 10, pending=84, hold="refused", refused="this host is not set up for it", **LIMITS)
    ),
    "queue-flapping": flapping,
    "queue-cannot-count": lambda: story(REDIS_DOWN, replace(REDIS_DOWN, data={**REDIS_DOWN.data, "queue": "pdf"})),
    "queue-counted-again": lambda: story(REDIS_DOWN, told("count_known", 15, pending=4)),
    "reply-queue": lambda: numbers(PLACE, report(), ""),
    "reply-queue-without-picture": lambda: numbers(
        PLACE,
        replace(report(), congested_since={}, open_now=False, restarts=()),
        "No picture: pictures need matplotlib, which is not installed. pip install 'ops-gateway[charts]'",
    ),
    "queue-never-seen": lambda: story(told("never_existed", 1), told("never_existed", 1, queue="pdf")),
}
