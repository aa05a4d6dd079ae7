"""How the tests' applications are told to the product, and how it is asked about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from laravel_app import LaravelApplication, Server

from executor.config import ExecutorConfig, RepositoryConfig
from executor.dispatch import Dispatcher
from executor.laravel.config import LaravelApp, LaravelConfig, RedisSource, SqlSource
from executor.laravel.counts import count_queues
from executor.laravel.model import QueueCount
from executor.policy.model import Policy
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


@contextmanager
def executor(root: Path, laravel: LaravelConfig, policy: Policy | None = None) -> Iterator[Dispatcher]:
    """An executor that is set up for queues, and whose one repository was never adopted."""
    for name in ("shared", "state", "tree"):
        (root / name).mkdir(exist_ok=True)
    config = ExecutorConfig(
        shared_dir=root / "shared",
        state_dir=root / "state",
        repositories=(RepositoryConfig("shop", root / "tree"),),
        host="web-1",
        policy=policy or Policy(),
        laravel=laravel,
    )
    with closing(Dispatcher(config)) as dispatcher:
        dispatcher.recover()
        yield dispatcher


def counted(config: LaravelConfig, runner: ProcessRunner) -> dict[str, QueueCount]:
    """Count now, and return the counts by queue."""
    sample = count_queues(config, runner, datetime.now(UTC))
    return {count.queue: count for count in sample.counts}
