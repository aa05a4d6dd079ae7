"""How the queues are, for a person who asks: the numbers now, what is going on, and the last day as a chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from executor.laravel.model import QueueSample
from executor.record import queue_samples
from executor.record.store import Reading
from gateway.charts.series import Chart, chart
from gateway.schedule.hours import next_opening, parse_hours, spans, within
from gateway.schedule.queue_state import MonitorState

if TYPE_CHECKING:
    from gateway.settings_model import Settings

DAY = timedelta(days=1)
_STEPS_MOST = 480  # of a picture: three minutes each


@dataclass(frozen=True, slots=True)
class QueueReport:
    """The queues at one moment. `congested_since` are the open congestions, by queue; `never_seen` are the queues of
    which there never was a trace.

    `open_now` says whether it is business time, `opens_at` when it next is; `restarts` are those of the last day,
    oldest first. `looked_at` is when the monitor last looked, None if it never did.
    """

    sample: QueueSample
    max_pending: int
    max_age_seconds: float
    hours: str
    zone: str
    open_now: bool
    opens_at: datetime | None
    restarts: tuple[datetime, ...]
    congested_since: Mapping[str, datetime]
    never_seen: frozenset[str]
    looked_at: datetime | None

    @property
    def known(self) -> bool:
        """Whether every queue could be counted."""
        return all(count.known for count in self.sample.counts)

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "at": self.sample.at.isoformat(),
            "queues": {
                count.queue: {**asdict(count), "congested_since": _iso(self.congested_since.get(count.queue))}
                for count in self.sample.counts
            },
            "limits": {"pending": self.max_pending, "oldest_seconds": self.max_age_seconds},
            "business_hours": {"hours": self.hours, "time_zone": self.zone, "now": self.open_now},
            "restarts": [at.isoformat() for at in self.restarts],
            "monitor_looked_at": _iso(self.looked_at),
        }


def report(settings: Settings, view: Reading, sample: QueueSample) -> QueueReport:
    """Given a fresh count, return it with what the record knows beside it."""
    at, zone = sample.at, ZoneInfo(settings.queue_time_zone)
    hours = parse_hours(settings.queue_hours, settings.queue_holidays)
    gone = {count.queue for count in sample.counts if count.known and not count.existed}
    state = MonitorState.from_data(queue_samples.remembered(view).get("state", {}))
    return QueueReport(
        sample=sample,
        max_pending=settings.queue_max_pending,
        max_age_seconds=settings.queue_max_age_seconds,
        hours=settings.queue_hours,
        zone=settings.queue_time_zone,
        open_now=within(hours, zone, at),
        opens_at=next_opening(hours, zone, at),
        restarts=tuple(queue_samples.restarts_since(view, at - DAY)),
        congested_since={name: _moment(each.opened_at) for name, each in state.queues.items() if each.open},
        never_seen=frozenset(gone - {name for name, each in state.queues.items() if each.seen}),
        looked_at=_moment(state.looked_at) if state.looked_at else None,
    )


def last_day(settings: Settings, view: Reading, now: datetime, steps: int | None = None) -> Chart:
    """Return the chart of the day before `now`, in so many steps; by default as many as there are samples for."""
    begin, zone = now - DAY, ZoneInfo(settings.queue_time_zone)
    hours = parse_hours(settings.queue_hours, settings.queue_holidays)
    dense = int(DAY.total_seconds() / (2 * settings.queue_interval_seconds))
    return chart(
        [sample for sample in queue_samples.since(view, begin) if sample.at <= now],
        begin,
        now,
        steps=steps or min(_STEPS_MOST, dense),
        limit=settings.queue_max_pending,
        restarts=queue_samples.restarts_since(view, begin),
        opened=spans(hours, zone, begin, now),
        zone=settings.queue_time_zone,
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
