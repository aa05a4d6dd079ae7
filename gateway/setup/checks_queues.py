"""Checks of Laravel's queues, where they are configured: can they be counted, and can their workers be restarted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from executor.errors import Problem
from executor.laravel.config import ArtisanSource, LaravelConfig
from executor.laravel.counts import count_queues
from executor.laravel.model import QueueCount
from executor.laravel.ownership import require_own
from executor.laravel.restart_plan import restart_argv, runs_php
from executor.laravel.workers import list_workers
from executor.sandbox.confinement import Confinement
from executor.sandbox.process import ProcessRunner
from gateway.settings_model import Settings
from gateway.setup.check import Check, fail, ok, warn

_COUNTED_MEND = "see that GATEWAY_QUEUE_SOURCE names the application's own queue connection, and that it answers"
_EMPTY_MEND = "correct GATEWAY_QUEUE_NAMES or GATEWAY_QUEUE_REDIS_PREFIX, if jobs were put on it before"
_WORKERS_MEND = "start them under a process manager: a restart only ends workers, and that one brings them back"


def queues(settings: Settings) -> Iterator[Check]:
    """Without queues there is nothing to check."""
    config = settings.laravel
    if config is None:
        yield ok("queues", "none are watched (GATEWAY_QUEUE_NAMES)")
        return
    runner = ProcessRunner(Confinement())
    for count in count_queues(config, runner, datetime.now(UTC)).counts:
        yield _counted(count)
    yield from _restart(config)
    yield from _workers(config, runner)


def _counted(count: QueueCount) -> Check:
    title = f"queue {count.queue}"
    if not count.known:
        return fail(title, f"it cannot be counted: {count.problem}", _COUNTED_MEND)
    if not count.existed:
        return warn(title, count.problem or "nothing of that name is or ever was there", _EMPTY_MEND)
    return ok(title, f"{count.pending} jobs are pending")


def _restart(config: LaravelConfig) -> Iterator[Check]:
    """PHP that the agent could have written is not run here, and that is better known before it is needed."""
    title = "restarting workers"
    app = config.app
    here = app is not None and not app.container
    try:
        if app is not None and here and (runs_php(config) or isinstance(config.source, ArtisanSource)):
            require_own(app.directory, app.agent_dirs)
        command = " ".join(restart_argv(config))
    except Problem as problem:
        yield fail(title, problem.message, problem.hint or "see docs/settings.md")
    else:
        yield ok(title, f"is done by: {command}")


def _workers(config: LaravelConfig, runner: ProcessRunner) -> Iterator[Check]:
    try:
        found = list_workers(config.app, runner)
    except Problem as problem:
        yield warn("workers", problem.message, problem.hint or "see that Docker answers this user")
        return
    if found:
        yield ok("workers", f"{len(found)} run")
    else:
        yield warn("workers", "no worker of these queues was seen", _WORKERS_MEND)
