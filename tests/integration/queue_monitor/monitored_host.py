"""A host whose queue monitor looks at what a test says, with the real record, policy and lane behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from executor.dispatch import Dispatcher
from executor.errors import Problem
from executor.host_operations import HOST_LANE, HostOperation
from executor.laravel.model import QueueCount, QueueSample
from executor.outcome import Outcome, State
from executor.policy.model import Operation, Request
from executor.record import audit, queue_samples, requests
from executor.record.audit import Event
from executor.record.forms import Form
from executor.record.requests import RequestRow
from gateway.schedule.queue_monitor import QueueMonitor
from gateway.settings_model import Settings
from gateway.wiring import dispatcher

MONDAY_NOON = 1_772_463_600.0  # 2 March 2026, 12:00 in São Paulo
MINUTE = 60.0


class MonitoredHost:
    """The monitor, the executor behind it, and a clock and counts that the test sets."""

    def __init__(self, settings: Settings, executor: Dispatcher) -> None:
        self.settings, self.executor = settings, executor
        self.now = MONDAY_NOON
        self.counts: dict[str, int | None] = {}
        self.problem: Problem | None = None
        self.effect: dict[str, object] = {"effect": True}
        self.restarted: list[Request] = []
        executor.host_operations.register(Operation.RESTART_QUEUE, HostOperation(self._restart))
        self.monitor = self.fresh_monitor()

    def fresh_monitor(self) -> QueueMonitor:
        """A monitor as a new process has it."""
        return QueueMonitor(self.settings, self.executor, self._count, clock=lambda: self.now)

    def looks(self, times: int = 1, **pending: int | None) -> None:
        """Let the monitor look so many times, a minute apart, and run what it asks for."""
        self.counts |= pending
        for _ in range(times):
            self.now += MINUTE
            self.monitor.look()
            while self.executor.run_next(HOST_LANE):
                pass

    def events(self) -> list[Event]:
        """What the monitor told, oldest first."""
        with self.executor.store.reading() as view:
            return [event for event in audit.events_since(view, 0, 10_000) if event.kind.startswith("queue.")]

    def kinds(self) -> list[str]:
        return [event.kind.removeprefix("queue.") for event in self.events()]

    def raised(self) -> list[RequestRow]:
        """The requests that it raised."""
        with self.executor.store.reading() as view:
            return [row for row in requests.recent(view, 100) if row.form is Form.MONITOR]

    def samples(self) -> list[QueueSample]:
        with self.executor.store.reading() as view:
            return queue_samples.since(view, datetime(2026, 1, 1, tzinfo=UTC))

    def _count(self, at: datetime) -> QueueSample:
        if self.problem is not None:
            raise self.problem
        unknown = "Redis cannot be reached"
        told = [
            QueueCount(name, pending, problem=unknown) if pending is None else QueueCount(name, pending, 0, 0)
            for name, pending in self.counts.items()
        ]
        return QueueSample(at, tuple(told))

    def _restart(self, _request_id: str, request: Request) -> Outcome:
        self.restarted.append(request)
        return Outcome(State.SUCCEEDED, verified=self.effect)


@contextmanager
def monitored(root: Path, **settings: object) -> Iterator[MonitoredHost]:
    """A host with two watched queues."""
    (root / "shared").mkdir(exist_ok=True)
    chosen = Settings(
        **{
            "shared_dir": root / "shared",
            "repo_dir": root / "shop",
            "state_dir": root / "state",
            "host_name": "web-1",
            "queue_names": "emails,pdf",
            "queue_source": "sqlite:////nowhere/app.db",
            "queue_app_dir": "/srv/www/shop",
            **settings,
        }
    )
    executor = dispatcher(chosen)
    try:
        yield MonitoredHost(chosen, executor)
    finally:
        executor.close()
