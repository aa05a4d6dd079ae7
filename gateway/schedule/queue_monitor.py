"""Watches the queues: counts them, decides by `thresholds`, and records what there is to tell and to do.

What it tells are audit events, which the chat follows; what it does is to raise a request for a restart, which goes
the way of every other one: policy, operators where they are asked, audit, a result. All of one look is one
transaction, so no restart is forgotten or asked for twice. Everything here blocks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from executor.errors import Problem
from executor.laravel.model import QueueCount, QueueSample
from executor.policy.model import Decision, Operation, Refuse
from executor.record import queue_samples
from executor.record.store import Transaction
from gateway.schedule.hours import next_opening, parse_hours, within
from gateway.schedule.queue_count import counter
from gateway.schedule.queue_requests import last_restart, raise_restart, take_back
from gateway.schedule.queue_state import Act, Facts, Hold, Kind, MonitorState, Rules
from gateway.schedule.thresholds import step

if TYPE_CHECKING:
    from executor.dispatch import Dispatcher
    from gateway.settings_model import Settings

KEPT_DAYS = 7
KEPT_EVERY = 10.0  # s: a sample that nothing came of is kept so often at most
LATE_SECONDS = 300.0  # without a look for so long, and for three intervals, that is a trouble
_PRUNE_SECONDS = 3600.0

Count = Callable[[datetime], QueueSample]


class QueueMonitor:
    """Made once. `count` returns how the queues stand, and may take long; `clock` is in seconds since the epoch."""

    def __init__(
        self,
        settings: Settings,
        dispatcher: Dispatcher,
        count: Count,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._dispatcher, self._count, self._clock = dispatcher, count, clock
        self._rules = rules(settings)
        self._hours = parse_hours(settings.queue_hours, settings.queue_holidays)
        self._zone = ZoneInfo(settings.queue_time_zone)
        self._any_hour = settings.queue_restart_outside_hours
        self._names = settings.queue_names
        self.interval = settings.queue_interval_seconds
        self._kept = self._pruned = -_PRUNE_SECONDS  # monotonic
        self._looked = time.monotonic()
        self._news = False

    def look(self) -> None:
        """Count, and act on it. Raises Problem when that cannot be done and recorded; then nothing was done."""
        self._news |= self._act(self._counted(datetime.fromtimestamp(self._clock(), UTC)))
        self._looked = time.monotonic()

    def take_news(self) -> bool:
        """Return whether there was something to tell or to do since this was last asked."""
        news, self._news = self._news, False
        return news

    def trouble(self) -> str:
        """Return in words that queues have not been looked at for too long; "" while they are."""
        silent = time.monotonic() - self._looked
        if silent <= max(LATE_SECONDS, 3 * self.interval):
            return ""
        return f"the queues have not been counted for {silent / 60:.0f} min"

    def _counted(self, at: datetime) -> QueueSample:
        """Count; what cannot even be begun makes every queue unknown, in those words."""
        try:
            return self._count(at)
        except Problem as problem:
            return QueueSample(at, tuple(QueueCount(name, problem=problem.message) for name in self._names))

    def _act(self, sample: QueueSample) -> bool:
        """Decide and record; return whether there is news."""
        store = self._dispatcher.store
        with store.reading() as view:
            noted = queue_samples.remembered(view)
            request = str(noted.get("request", ""))
            last = last_restart(view, request)
        allowed = self._decision("")
        facts = Facts(sample.at.timestamp(), self._hold(sample.at, allowed), last)
        state, acts = step(MonitorState.from_data(noted.get("state", {})), sample, facts, self._rules)
        queues = [act.queue for act in acts if act.kind is Kind.RESTART]
        decision = self._decision(queues[0]) if len(queues) == 1 else allowed
        if queues and isinstance(decision, Refuse):  # it changed just now; the next look begins with that
            raise decision.problem()
        with store.transaction() as tx:
            if queues and not isinstance(decision, Refuse):
                request = raise_restart(tx, queues, decision, self._lane, sample.at)
            back = any(act.kind is Kind.WITHDRAW for act in acts) and take_back(tx, request)
            for act in acts:
                if act.kind is not Kind.WITHDRAW or back:
                    tx.append(act.kind, act.story, self._told(act, sample.at, request, allowed))
            self._keep(tx, sample, bool(acts))
            queue_samples.remember(tx, {"state": state.as_data(), "request": request})
        if back:
            self._dispatcher.answer(request)
        return bool(acts)

    def _decision(self, body: str) -> Decision:
        return self._dispatcher.explain(Operation.RESTART_QUEUE, body, self._lane)

    @property
    def _lane(self) -> str:
        return self._dispatcher.lane(Operation.RESTART_QUEUE, "")

    def _hold(self, at: datetime, decision: Decision) -> Hold:
        if not self._any_hour and not within(self._hours, self._zone, at):
            return Hold.OUTSIDE_HOURS
        if isinstance(decision, Refuse):
            return Hold.FROZEN if decision.code == "frozen" else Hold.REFUSED
        return Hold.NONE

    def _told(self, act: Act, at: datetime, request: str, decision: Decision) -> dict[str, object]:
        """Return the data of the event that tells of an act: with it the story can be told, whatever is set later."""
        told: dict[str, object] = {"queue": act.queue, "loud": act.loud, **act.data}
        if act.kind is Kind.CONGESTED:
            told |= {"max_pending": self._rules.max_pending, "max_age_seconds": self._rules.max_age_seconds}
            if act.data.get("hold") == Hold.OUTSIDE_HOURS:
                opens = next_opening(self._hours, self._zone, at)
                told |= {"opens_at": opens.isoformat()} if opens is not None else {}
            elif isinstance(decision, Refuse):
                told |= {"refused": decision.reason}
        if act.kind in (Kind.RESTART, Kind.RESTART_TROUBLE, Kind.WITHDRAW):
            told |= {"request": request}
        return told

    def _keep(self, tx: Transaction, sample: QueueSample, something_happened: bool) -> None:
        now = time.monotonic()
        if something_happened or now - self._kept >= KEPT_EVERY:
            queue_samples.keep(tx, sample)
            self._kept = now
        if now - self._pruned >= _PRUNE_SECONDS:
            queue_samples.prune(tx, sample.at - timedelta(days=KEPT_DAYS))
            self._pruned = now


def monitor_of(settings: Settings, dispatcher: Dispatcher) -> QueueMonitor | None:
    """Return the monitor that the settings ask for; None where no queues are to be watched."""
    if settings.laravel is None:
        return None
    return QueueMonitor(settings, dispatcher, counter(settings, dispatcher.runner))


def rules(settings: Settings) -> Rules:
    """Given the settings, return what the monitor goes by."""
    return Rules(
        max_pending=settings.queue_max_pending,
        max_age_seconds=settings.queue_max_age_seconds,
        breaches=settings.queue_breaches,
        cooldown_seconds=settings.queue_cooldown_seconds,
        restarts_an_hour=settings.queue_restarts_an_hour,
    )
