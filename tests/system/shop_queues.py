"""A real Laravel application beside a served host, with a server for its queues, and the settings that watch them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from laravel_app import LaravelApplication, Server, laravel_app, postgresql_server, redis_server
from served_host import ServedHost

PATIENCE = 120.0  # s for what PHP, Redis and a busy machine do; nothing is asserted about time
QUICK = {
    "GATEWAY_QUEUE_NAMES": "emails",
    "GATEWAY_QUEUE_INTERVAL_SECONDS": "1",
    "GATEWAY_QUEUE_MAX_PENDING": "15",
    "GATEWAY_QUEUE_BREACHES": "2",
    "GATEWAY_QUEUE_HOURS": "always",
    "GATEWAY_QUEUE_RESTART_VERIFY_SECONDS": "60",
}


@dataclass
class Shop:
    """The application, and the server that its queues are in where they are in one."""

    app: LaravelApplication
    server: Server | None = None


@contextmanager
def shop_in(kind: str, host: ServedHost) -> Iterator[Shop]:
    """An application with its queues in redis, postgresql or sqlite, which `host` watches from now on."""
    with {"redis": _in_redis, "postgresql": _in_postgresql, "sqlite": _in_sqlite}[kind](host.root) as (shop, where):
        host.settings |= QUICK | where | {"GATEWAY_QUEUE_APP_DIR": str(shop.app.directory)}
        yield shop


_Made = tuple[Shop, dict[str, str]]  # the application, and the settings that say where its queues are


@contextmanager
def _in_redis(root: Path) -> Iterator[_Made]:
    with redis_server(root) as redis:
        source = f"redis://127.0.0.1:{redis.port}/0"
        settings = {"GATEWAY_QUEUE_SOURCE": source, "GATEWAY_QUEUE_REDIS_PREFIX": "shop_database_"}
        yield Shop(laravel_app(root / "app", redis=redis), redis), settings


@contextmanager
def _in_postgresql(root: Path) -> Iterator[_Made]:
    with postgresql_server() as postgresql:
        source = f"postgresql://nobody@127.0.0.1:{postgresql.port}/postgres"
        yield Shop(laravel_app(root / "app", postgresql=postgresql), postgresql), {"GATEWAY_QUEUE_SOURCE": source}


@contextmanager
def _in_sqlite(root: Path) -> Iterator[_Made]:
    app = laravel_app(root / "app")
    yield Shop(app), {"GATEWAY_QUEUE_SOURCE": f"sqlite:///{app.directory}/storage/shop.sqlite"}
