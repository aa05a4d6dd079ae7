"""Count the watched queues, wherever they are. What cannot be counted is unknown, and says why; it is never zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from executor.errors import Problem
from executor.laravel.config import ArtisanSource, LaravelConfig, RedisSource, SqlSource
from executor.laravel.counts_artisan import count_by_artisan
from executor.laravel.counts_redis import count_in_redis
from executor.laravel.counts_sql import count_failed, count_in_database
from executor.laravel.model import QueueCount, QueueSample
from executor.sandbox.process import ProcessRunner


def count_queues(config: LaravelConfig, runner: ProcessRunner, now: datetime) -> QueueSample:
    """Return how each configured queue stands; `now` is an aware datetime, by the host's clock.

    Never raises: a source that cannot be reached leaves every count unknown, with the reason. Takes as long as the
    time-outs of the source let it, less than a minute.
    """
    try:
        counts = _counted(config, runner, now.timestamp())
    except Problem as problem:
        counts = {queue: QueueCount(queue, problem=problem.message) for queue in config.queues}
    except (ValueError, TypeError, ArithmeticError) as error:  # what stands there is the application's, and maybe odd
        said = f"what is written there cannot be counted ({type(error).__name__})"
        counts = {queue: QueueCount(queue, problem=said) for queue in config.queues}
    if config.failed_url:
        counts = _with_failed(config, counts)
    missing = "the source does not tell of it"
    return QueueSample(now, tuple(counts.get(queue, QueueCount(queue, problem=missing)) for queue in config.queues))


def _counted(config: LaravelConfig, runner: ProcessRunner, now: float) -> Mapping[str, QueueCount]:
    match config.source:
        case RedisSource():
            return count_in_redis(config.source, config.queues, now)
        case SqlSource():
            return count_in_database(config.source, config.queues, now)
        case ArtisanSource():
            return count_by_artisan(config.source, config.app, runner, config.queues, now)


def _with_failed(config: LaravelConfig, counts: Mapping[str, QueueCount]) -> dict[str, QueueCount]:
    try:
        failed = count_failed(config.failed_url, config.queues)
    except Problem as problem:
        return {queue: replace(count, problem=count.problem or problem.message) for queue, count in counts.items()}
    return {queue: replace(count, failed=failed.get(queue)) for queue, count in counts.items()}
