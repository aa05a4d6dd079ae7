"""A Laravel application and a Redis for each test; PostgreSQL, which takes a while, for each module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from docker_engine import docker, docker_engine
from laravel_app import LaravelApplication, Server, laravel_app, postgresql_server, redis_server
from repos import process_runner

from executor.sandbox.process import ProcessRunner

__all__ = ["docker", "docker_engine"]


@pytest.fixture(scope="session")
def runner() -> ProcessRunner:
    return process_runner()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Server]:
    with redis_server(tmp_path) as server:
        yield server


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Server]:
    with postgresql_server() as server:
        yield server


@pytest.fixture
def app(tmp_path: Path) -> LaravelApplication:
    """An application with its queues in SQLite."""
    return laravel_app(tmp_path / "app")
