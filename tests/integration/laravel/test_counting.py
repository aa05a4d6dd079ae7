"""Queues of a real Laravel application are counted as they are, and what cannot be counted is never zero."""

from __future__ import annotations

import json
import select
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from app_on_host import PREFIX, counted, in_postgresql, in_redis, in_sqlite, told
from laravel_app import LaravelApplication, Server, laravel_app, redis_server, until
from redis import Redis

from executor.laravel import counts_redis, counts_sql
from executor.laravel.config import ArtisanSource, LaravelConfig, RedisSource, SqlSource
from executor.laravel.model import QueueCount
from executor.laravel.queue_monitor_output import ONLY_THE_SUM
from executor.sandbox.process import ProcessRunner

pytestmark = pytest.mark.needs("laravel")


@pytest.fixture(params=["sqlite", "postgresql", "redis"])
def placed(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[LaravelApplication, LaravelConfig]:
    """An application with its queues in each place in turn, and how that is told to the product."""
    if request.param == "sqlite":
        app = laravel_app(tmp_path / "app")
        return app, told(app)
    server = request.getfixturevalue(request.param)
    if request.param == "redis":
        app = laravel_app(tmp_path / "app", redis=server)
        return app, told(app, source=in_redis(server), failed_url=in_sqlite(app).url)
    app = laravel_app(tmp_path / "app", postgresql=server)
    return app, told(app, source=in_postgresql(server))


PLACES = [
    pytest.param("sqlite"),
    pytest.param("postgresql", marks=pytest.mark.needs("postgresql")),
    pytest.param("redis", marks=pytest.mark.needs("redis")),
]


@pytest.mark.parametrize("placed", PLACES, indirect=True)
def test_pending_delayed_reserved_and_failed_jobs_are_each_counted_for_what_they_are(
    placed: tuple[LaravelApplication, LaravelConfig], runner: ProcessRunner
) -> None:
    app, config = placed
    app.push("reports", kind="poison")
    with app.workers("reports", count=1):
        until(lambda: counted(config, runner)["reports"].failed == 1, "the poison job fails")
    app.push("emails", seconds=300)
    app.push("emails", count=2)
    app.push("emails", count=4, delay=3600)
    with app.workers("emails", count=1):
        until(lambda: counted(config, runner)["emails"].reserved == 1, "a worker takes the long job")
        found = counted(config, runner)

    emails, reports = found["emails"], found["reports"]
    assert (emails.pending, emails.delayed, emails.reserved, emails.failed) == (2, 4, 1, 0)
    assert (reports.pending, reports.delayed, reports.reserved, reports.failed) == (0, 0, 0, 1)
    assert (emails.problem, emails.existed) == ("", True)


@pytest.mark.parametrize("placed", PLACES, indirect=True)
def test_delayed_jobs_whose_time_has_come_are_pending_although_no_worker_runs(
    placed: tuple[LaravelApplication, LaravelConfig], runner: ProcessRunner
) -> None:
    app, config = placed
    app.push("emails", count=3, delay=2)
    until(lambda: counted(config, runner)["emails"].pending == 3, "the delayed jobs become due")
    found = counted(config, runner)["emails"]

    assert found.delayed == 0
    assert found.oldest_seconds is not None


def test_the_age_of_the_oldest_pending_job_comes_from_the_table(
    app: LaravelApplication, runner: ProcessRunner
) -> None:
    begun = time.time()
    app.push("emails")
    age = counted(told(app), runner)["emails"].oldest_seconds
    assert age is not None
    assert 0 <= age <= time.time() - begun + 1  # jobs are dated in whole seconds


@pytest.mark.needs("redis")
def test_laravel_8_writes_no_time_into_redis_so_the_age_is_unknown_and_not_zero(
    tmp_path: Path, redis: Server, runner: ProcessRunner
) -> None:
    app = laravel_app(tmp_path / "app", redis=redis)
    app.push("emails")
    found = counted(told(app, source=in_redis(redis)), runner)["emails"]
    assert (found.pending, found.oldest_seconds) == (1, None)


@pytest.mark.needs("redis")
def test_failed_jobs_of_a_queue_in_redis_are_unknown_unless_their_database_is_named(
    tmp_path: Path, redis: Server, runner: ProcessRunner
) -> None:
    app = laravel_app(tmp_path / "app", redis=redis)
    app.push("reports", delay=3600)
    config = told(app, source=in_redis(redis))
    assert counted(config, runner)["emails"].failed is None
    assert counted(replace(config, failed_url=in_sqlite(app).url), runner)["emails"].failed == 0
    gone = counted(replace(config, failed_url="sqlite:////nonexistent/x.sqlite"), runner)["emails"]
    assert (gone.pending, gone.failed) == (0, None)
    assert "could not be read" in gone.problem


@pytest.mark.needs("redis")
def test_f08_jobs_under_another_prefix_make_the_count_unknown_and_name_the_prefix(
    tmp_path: Path, redis: Server, runner: ProcessRunner
) -> None:
    app = laravel_app(tmp_path / "app", redis=redis, name="Other")
    app.push("emails", count=60)
    found = counted(told(app, source=in_redis(redis, "laravel_database_")), runner)["emails"]
    assert (found.known, found.existed) == (False, False)
    assert "other_database_" in found.problem
    assert "GATEWAY_QUEUE_REDIS_PREFIX" in found.problem


@pytest.mark.needs("redis")
def test_f08_a_queue_of_which_there_is_no_trace_is_said_to_have_none(
    tmp_path: Path, redis: Server, runner: ProcessRunner
) -> None:
    app = laravel_app(tmp_path / "app", redis=redis)
    app.push("emails", delay=3600)
    found = counted(told(app, source=in_redis(redis), queues=("emails", "emials")), runner)
    assert (found["emails"].existed, found["emials"].existed) == (True, False)
    assert (found["emials"].pending, found["emials"].problem) == (0, "")


@pytest.mark.needs("redis")
def test_f08_an_idle_application_that_shares_its_redis_with_another_is_known_by_its_other_keys(
    tmp_path: Path, redis: Server, runner: ProcessRunner
) -> None:
    busy = laravel_app(tmp_path / "busy", redis=redis, name="Busy")
    busy.push("emails")
    idle = laravel_app(tmp_path / "idle", redis=redis, name="Idle")
    config = told(idle, source=in_redis(redis, "idle_database_"))
    assert not counted(config, runner)["emails"].known
    idle.push("others", delay=3600)
    assert counted(config, runner)["emails"].pending == 0


@pytest.mark.needs("redis")
def test_redis_that_is_down_leaves_every_count_unknown_until_it_is_back(
    tmp_path: Path, runner: ProcessRunner
) -> None:
    with redis_server(tmp_path) as server:
        app = laravel_app(tmp_path / "app", redis=server)
        config = told(app, source=in_redis(server))
        assert counted(config, runner)["emails"].pending == 0
        server.stop()
        down = counted(config, runner)
        server.start()
        assert counted(config, runner)["emails"].pending == 0
    assert {count.pending for count in down.values()} == {None}
    assert all("Redis did not answer" in count.problem for count in down.values())


@pytest.mark.needs("redis")
def test_redis_that_wants_a_password_leaves_the_count_unknown_and_the_password_unsaid(
    tmp_path: Path, redis: Server, runner: ProcessRunner
) -> None:
    app = laravel_app(tmp_path / "app", redis=redis)
    Redis(port=redis.port).config_set("requirepass", "another")
    source = replace(in_redis(redis), url=f"redis://:hunter2-hunter2@127.0.0.1:{redis.port}/0")
    found = counted(told(app, source=source), runner)["emails"]
    assert not found.known
    assert "hunter2" not in found.problem


@pytest.mark.parametrize("scheme", ["redis", "postgresql"])
def test_a_server_that_never_answers_does_not_hold_up_the_count_for_ever(
    scheme: str, app: LaravelApplication, runner: ProcessRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts_redis, "SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        url = f"{scheme}://127.0.0.1:{port}/0"
        source = replace(in_redis(Server([], port)), url=url) if scheme == "redis" else SqlSource(url)
        found = counted(told(app, source=source), runner)["emails"]
    assert not found.known
    assert found.problem


@pytest.mark.needs("postgresql")
def test_a_table_that_is_locked_and_a_server_that_falls_silent_are_given_up(
    tmp_path: Path, postgresql: Server, runner: ProcessRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts_sql, "SECONDS", 1)
    app = laravel_app(tmp_path / "app", postgresql=postgresql)
    with psycopg.connect(f"host=127.0.0.1 port={postgresql.port} user=nobody dbname=postgres") as other:
        other.execute("LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE")
        locked = counted(told(app, source=in_postgresql(postgresql)), runner)["emails"]
    monkeypatch.setattr(counts_sql, "_CUT_SECONDS", 1.0)
    with falling_silent(postgresql.port, at=b"jobs") as port:
        silent = counted(told(app, source=in_postgresql(replace(postgresql, port=port))), runner)["emails"]

    assert not locked.known
    assert "statement timeout" in locked.problem
    assert not silent.known


@contextmanager
def falling_silent(port: int, at: bytes) -> Iterator[int]:
    """A line to the server on `port` that nothing passes any more as soon as the client has said `at`."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        threading.Thread(target=_pass_on, args=(door, port, at), daemon=True).start()
        yield door.getsockname()[1]


def _pass_on(door: socket.socket, port: int, at: bytes) -> None:
    with door.accept()[0] as client, socket.create_connection(("127.0.0.1", port)) as server:
        while True:
            for ready in select.select([client, server], [], [])[0]:
                said = ready.recv(65536)
                if not said or (ready is client and at in said):
                    while client.recv(65536):
                        pass
                    return
                (server if ready is client else client).sendall(said)


def test_without_the_driver_for_the_database_the_extra_is_named(
    app: LaravelApplication, runner: ProcessRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pymysql", None)
    found = counted(told(app, source=SqlSource("mysql://shop@127.0.0.1/shop")), runner)["emails"]
    assert not found.known
    assert "Python driver" in found.problem


def test_a_database_without_the_table_is_unknown_and_is_not_made(
    app: LaravelApplication, runner: ProcessRunner, tmp_path: Path
) -> None:
    found = counted(told(app, source=SqlSource(f"sqlite:///{tmp_path}/new.sqlite")), runner)["emails"]
    assert not found.known
    assert not (tmp_path / "new.sqlite").exists()


def test_the_database_is_only_read(app: LaravelApplication, runner: ProcessRunner) -> None:
    app.push("emails")
    path = app.directory / "storage/shop.sqlite"
    before = path.read_bytes()
    assert counted(told(app), runner)["emails"].pending == 1
    assert path.read_bytes() == before


def test_without_the_client_for_redis_the_extra_is_named(
    app: LaravelApplication, runner: ProcessRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    found = counted(told(app, source=in_redis(Server([], 1))), runner)["emails"]
    assert not found.known
    assert "Python client" in found.problem


def test_artisan_of_laravel_8_counts_the_sum_and_says_that_it_is_one(
    app: LaravelApplication, runner: ProcessRunner
) -> None:
    app.push("emails", count=2)
    app.push("emails", delay=3600)
    found = counted(told(app, source=ArtisanSource()), runner)
    assert (found["emails"].pending, found["emails"].delayed, found["emails"].problem) == (3, None, ONLY_THE_SUM)
    assert (found["reports"].pending, found["reports"].problem) == (0, "")


def test_artisan_that_fails_leaves_the_count_unknown_and_quotes_it(
    app: LaravelApplication, runner: ProcessRunner
) -> None:
    found = counted(told(app, source=ArtisanSource("nosuch")), runner)["emails"]
    assert not found.known
    assert "nosuch" in found.problem


def test_artisan_is_not_run_where_the_agent_can_write_it(app: LaravelApplication, runner: ProcessRunner) -> None:
    (app.directory / "artisan").write_text("<?php touch('ran');")
    found = counted(told(app, app.directory.parent, source=ArtisanSource()), runner)["emails"]
    assert not found.known
    assert "that PHP is the agent's" in found.problem
    assert not (app.directory / "ran").exists()


# --- what stands there is somebody else's ---------------------------------------------------------------------------


def test_what_is_no_number_in_the_table_makes_the_count_unknown(
    app: LaravelApplication, runner: ProcessRunner
) -> None:
    app.push("emails")
    with closing(sqlite3.connect(app.directory / "storage/shop.sqlite")) as database, database:
        database.execute("UPDATE jobs SET available_at = -9e999")
    for count in counted(told(app), runner).values():
        assert not count.known
        assert "cannot be counted" in count.problem


@pytest.mark.needs("redis")
def test_a_job_that_is_due_since_ever_has_no_age(redis: Server, runner: ProcessRunner) -> None:
    config = LaravelConfig(("emails",), in_redis(redis))
    with Redis(port=redis.port) as client:
        client.zadd("shop_database_queues:emails:delayed", {"x": "-inf"})
    assert counted(config, runner)["emails"] == QueueCount("emails", pending=1, delayed=0, reserved=0)


@pytest.mark.needs("redis")
def test_a_key_of_another_kind_makes_the_count_unknown(redis: Server, runner: ProcessRunner) -> None:
    with Redis(port=redis.port) as client:
        client.set("shop_database_queues:emails", "x" * 100)
    count = counted(LaravelConfig(("emails",), in_redis(redis)), runner)["emails"]
    assert not count.known
    assert "WRONGTYPE" in count.problem


@pytest.mark.needs("redis")
def test_a_job_of_any_size_is_counted_and_does_not_come_here(redis: Server, runner: ProcessRunner) -> None:
    config, key = LaravelConfig(("emails",), in_redis(redis)), "shop_database_queues:emails"
    with Redis(port=redis.port) as client:
        client.rpush(key, json.dumps({"pad": "x" * (4 << 20), "createdAt": 1_800_000_000}))
        client.zadd(f"{key}:reserved", {"y" * (4 << 20): 1_700_000_000})
        sent = client.info("stats")["total_net_output_bytes"]
        assert counted(config, runner)["emails"] == QueueCount("emails", pending=2, delayed=0, reserved=0)
        assert client.info("stats")["total_net_output_bytes"] - sent < 1 << 20


@pytest.mark.needs("redis")
def test_an_account_that_may_run_no_script_counts_without_ages(redis: Server, runner: ProcessRunner) -> None:
    source = RedisSource(f"redis://reader:secret@127.0.0.1:{redis.port}/0", PREFIX)
    with Redis(port=redis.port) as client:
        client.rpush("shop_database_queues:emails", json.dumps({"createdAt": 1_700_000_000}))
        client.execute_command("ACL", "SETUSER", "reader", "on", ">secret", "~*", "+@read", "+@connection")
    count = counted(LaravelConfig(("emails",), source), runner)["emails"]
    assert (count.pending, count.oldest_seconds, count.problem) == (1, None, "")
