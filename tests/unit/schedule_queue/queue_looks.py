"""Looks at queues, one after the other, as a test tells them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from executor.laravel.model import QueueCount, QueueSample
from gateway.schedule.queue_state import Act, Facts, Hold, Kind, LastRestart, MonitorState, Rules
from gateway.schedule.thresholds import step

START = 1_800_000_000.0
MINUTE = 60.0


def count(
    pending: int | None, *, queue: str = "emails", oldest: float | None = None, existed: bool = True
) -> QueueCount:
    if pending is None:
        return QueueCount(queue, problem="Redis cannot be reached")
    return QueueCount(queue, pending, 0, 0, 0, oldest, existed=existed)


@dataclass
class Watch:
    """A monitor's memory through a run of looks, a minute apart."""

    rules: Rules = field(default_factory=Rules)
    state: MonitorState = field(default_factory=MonitorState)
    now: float = START
    hold: Hold = Hold.NONE
    restart: LastRestart | None = None
    told: list[Act] = field(default_factory=list)
    restarted_at: list[float] = field(default_factory=list)

    def look(self, *counts: QueueCount | int | None, after: float = MINUTE) -> list[Act]:
        self.now += after
        named = tuple(each if isinstance(each, QueueCount) else count(each) for each in counts)
        sample = QueueSample(datetime.fromtimestamp(self.now, UTC), named)
        facts = Facts(self.now, self.hold, self.restart)
        self.state, acts = step(self.state, sample, facts, self.rules)
        self.state = MonitorState.from_data(self.state.as_data())
        self.told += acts
        if any(act.kind is Kind.RESTART for act in acts):
            self.restarted_at.append(self.now)
        return list(acts)

    def looks(self, *pending: int | None) -> list[Kind]:
        return [act.kind for each in pending for act in self.look(each)]
