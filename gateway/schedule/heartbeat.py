"""What counts as a sign of life: work that was completed, never work that is planned (B05, B14)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from executor.health.health_file import HEALTH_FILE, written_down

_RARELY = 6 * 3600.0
# seconds, by job
PERIODS = {
    "sweep": 60.0,
    "expire": 60.0,
    "publish": 60.0,
    "health": 300.0,
    "retention": _RARELY,
    "maintenance": _RARELY,
}
STALE_PERIODS = 3  # a job that was not completed for so many of its periods is late
STUCK_PERIODS = 5  # one that did not even fail for so many hangs …
STUCK_SECONDS = 300.0  # … or for so long, if that is longer: as two programs that meet their deadline


@dataclass(frozen=True, slots=True)
class Beat:
    """When a job was last completed: by the monotonic clock for ages, by the wall clock for people."""

    monotonic: float
    wall: datetime


class Heartbeat:
    """Remembers for each job when it was last completed, and how often it was late, skipped or failed."""

    def __init__(self, periods: Mapping[str, float], clock: Callable[[], float] = time.monotonic) -> None:
        self._periods = dict(periods)  # seconds
        self._clock = clock
        self._started = clock()
        self._beats: dict[str, Beat] = {}
        self._ended: dict[str, float] = {}  # when each job last came to an end, well or badly
        self._troubles: dict[str, int] = {}

    def completed(self, job: str) -> None:
        """Note that `job` was completed now."""
        self._beats[job] = Beat(self._clock(), datetime.now(UTC))
        self._ended[job] = self._clock()

    def trouble(self, job: str, what: str) -> None:
        """Note that `job` was not completed: `missed`, `skipped`, `failed` or `overran`."""
        if what == "failed":
            self._ended[job] = self._clock()
        key = f"{job} {what}"
        self._troubles[key] = self._troubles.get(key, 0) + 1

    def age(self, job: str) -> float:
        """Return the seconds since `job` was last completed, or since the start if it never was."""
        beat = self._beats.get(job)
        return self._clock() - (beat.monotonic if beat else self._started)

    def late(self) -> list[str]:
        """Return the jobs that were not completed for too long: something is wrong, here or around the gateway."""
        return [job for job, period in self._periods.items() if self.age(job) > STALE_PERIODS * period]

    def stuck(self) -> list[str]:
        """Return the jobs that came to no end at all for too long; an empty list is what a watchdog waits for.

        A job that fails is not stuck: a full disk or a share that is not mounted is not mended by a new process.
        """
        now = self._clock()
        return [
            job
            for job, period in self._periods.items()
            if now - self._ended.get(job, self._started) > max(STUCK_SECONDS, STUCK_PERIODS * period)
        ]

    def as_data(self) -> dict[str, object]:
        """Return it as JSON can hold it."""
        last = {job: beat.wall.isoformat(timespec="seconds") for job, beat in self._beats.items()}
        return {"completed": last, "late": self.late(), "troubles": dict(self._troubles)}


def write_health(state: Path, health: Mapping[str, object]) -> None:
    """Replace the health file in the state directory. Not synced: after a crash of the host it means nothing."""
    fresh = state / f".{HEALTH_FILE}.{os.getpid()}"
    fresh.write_text(json.dumps(health, default=str), encoding="utf-8")
    fresh.chmod(0o600)
    fresh.rename(state / HEALTH_FILE)


def read_health(state: Path) -> Mapping[str, Any]:
    """Return what the gateway that serves this state directory last said of itself; {} if there is nothing."""
    return written_down(state).health or {}
