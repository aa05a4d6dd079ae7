"""What a chart of the queues shows, before it is drawn. Pure; moments are seconds since the epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from executor.laravel.model import QueueSample

Points = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """The pending jobs of each queue between two moments, in equal steps: the most in each, None where not known.

    `limit` is what is still no congestion, `restarts` are moments, `opened` the stretches of business time, `zone`
    names the time zone in which it is labelled.
    """

    begin: float
    end: float
    lines: Mapping[str, Points]
    limit: int
    restarts: tuple[float, ...] = ()
    opened: tuple[tuple[float, float], ...] = ()
    zone: str = "UTC"

    @property
    def top(self) -> int:
        """The highest value to be shown."""
        known = (value for points in self.lines.values() for value in points if value is not None)
        return max(1, self.limit, *known)

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Chart:
        """Return what `as_data` was made of."""
        lines = {name: tuple(points) for name, points in data["lines"].items()}
        opened = tuple((begin, end) for begin, end in data["opened"])
        return cls(**{**data, "lines": lines, "opened": opened, "restarts": tuple(data["restarts"])})


def chart(
    samples: Sequence[QueueSample],
    begin: datetime,
    end: datetime,
    *,
    steps: int,
    limit: int,
    restarts: Iterable[datetime] = (),
    opened: Iterable[tuple[datetime, datetime]] = (),
    zone: str = "UTC",
) -> Chart:
    """Given samples between two moments, return the chart of them in so many steps, however many there are."""
    first, last = begin.timestamp(), end.timestamp()
    length = max(last - first, 1.0) / steps
    names = sorted({count.queue for sample in samples for count in sample.counts})
    found: dict[str, list[int | None]] = {name: [None] * steps for name in names}
    for sample in samples:
        step = int((sample.at.timestamp() - first) / length)
        if not 0 <= step < steps:
            continue
        for count in sample.counts:
            if count.pending is not None:
                found[count.queue][step] = max(count.pending, found[count.queue][step] or 0)
    return Chart(
        begin=first,
        end=last,
        lines={name: tuple(points) for name, points in found.items()},
        limit=limit,
        restarts=tuple(at.timestamp() for at in restarts if begin <= at <= end),
        opened=tuple((opens.timestamp(), closes.timestamp()) for opens, closes in opened),
        zone=zone,
    )
