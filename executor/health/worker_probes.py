"""The probe of queue workers: one look at the processes of the application, for all its queues."""

from __future__ import annotations

import time
from collections.abc import Iterator

from executor.health import workers
from executor.health.report import Finding
from executor.health.run import Probe
from executor.laravel.config import LaravelConfig
from executor.laravel.workers import list_workers
from executor.sandbox.process import ProcessRunner

_SECONDS = 12.0  # listing them bounds itself to ten


def worker_probes(laravel: LaravelConfig | None, runner: ProcessRunner) -> Iterator[Probe]:
    """Yield the probe, where this host is set up for queues."""
    if laravel is None:
        return
    queues, app = laravel.queues, laravel.app

    def look() -> tuple[Finding, ...]:
        return tuple(workers.judge(queues, list_workers(app, runner), time.time()))

    yield Probe(workers.PROBE, ", ".join(queues), look, _SECONDS)
