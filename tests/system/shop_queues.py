"""A real Laravel application beside a served host, with its Redis, and the settings that watch its queues."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from served_host import ServedHost

# The application belongs to the tests of executor/laravel; it is the same one here.
sys.path.append(str(Path(__file__).parents[1] / "integration/laravel"))

from laravel_app import LaravelApplication, Server, laravel_app, redis_server

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
    """The application, and the Redis that its queues are in where they are in one."""

    app: LaravelApplication
    redis: Server | None = None


@contextmanager
def shop_in_redis(host: ServedHost) -> Iterator[Shop]:
    """An application with its queues in Redis, which `host` watches from now on."""
    with redis_server(host.root) as redis:
        app = laravel_app(host.root / "app", redis=redis)
        host.settings |= QUICK | {
            "GATEWAY_QUEUE_SOURCE": f"redis://127.0.0.1:{redis.port}/0",
            "GATEWAY_QUEUE_REDIS_PREFIX": "shop_database_",
            "GATEWAY_QUEUE_APP_DIR": str(app.directory),
        }
        yield Shop(app, redis)


def shop_in_sqlite(host: ServedHost) -> Shop:
    """An application with its queues in SQLite, which `host` watches from now on."""
    app = laravel_app(host.root / "app")
    host.settings |= QUICK | {
        "GATEWAY_QUEUE_SOURCE": f"sqlite:///{app.directory}/storage/shop.sqlite",
        "GATEWAY_QUEUE_APP_DIR": str(app.directory),
    }
    return Shop(app)
