"""How the tests' applications are told to the product, and how it is asked about them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from laravel_app import LaravelApplication, Server

from executor.laravel.config import LaravelApp, LaravelConfig, RedisSource, SqlSource
from executor.laravel.counts import count_queues
from executor.laravel.model import QueueCount
from executor.sandbox.process import ProcessRunner

QUEUES = ("emails", "reports")
PREFIX = "shop_database_"  # of an application called Shop


def in_sqlite(app: LaravelApplication) -> SqlSource:
    return SqlSource(f"sqlite:///{app.directory}/storage/shop.sqlite")


def in_postgresql(server: Server) -> SqlSource:
    return SqlSource(f"postgresql://nobody@127.0.0.1:{server.port}/postgres")


def in_redis(server: Server, prefix: str = PREFIX) -> RedisSource:
    return RedisSource(f"redis://127.0.0.1:{server.port}/0", prefix)


def told(app: LaravelApplication, *agent_dirs: Path, **given: Any) -> LaravelConfig:
    """The configuration of an application on this host; unless `given` otherwise its queues are in SQLite."""
    given = {"queues": QUEUES, "source": in_sqlite(app), "verify_seconds": 90.0} | given
    return LaravelConfig(app=LaravelApp(app.directory, agent_dirs=agent_dirs), **given)


def counted(config: LaravelConfig, runner: ProcessRunner) -> dict[str, QueueCount]:
    """Count now, and return the counts by queue."""
    sample = count_queues(config, runner, datetime.now(UTC))
    return {count.queue: count for count in sample.counts}
