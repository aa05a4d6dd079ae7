"""A restart of real workers is believed when it was seen, and said to be unproved when it was not."""

from __future__ import annotations

import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from app_on_host import counted, in_postgresql, in_redis, in_sqlite, told
from laravel_app import LaravelApplication, Server, laravel_app, redis_server, until

from executor.errors import Failed, Refused
from executor.laravel.app_facts import AppFacts, ask_app
from executor.laravel.config import LaravelApp, RestartBy
from executor.laravel.restart import restart
from executor.laravel.workers import list_workers
from executor.outcome import State
from executor.sandbox.process import ProcessRunner

pytestmark = pytest.mark.needs("laravel")

SOON = 3.0  # s; after which a restart that will not be seen is given up


@pytest.mark.parametrize("cache", ["file", "database", pytest.param("redis", marks=pytest.mark.needs("redis"))])
def test_a_restart_is_proved_by_new_workers_and_a_new_signal_wherever_the_cache_is(
    cache: str, tmp_path: Path, runner: ProcessRunner, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("redis") if cache == "redis" else None
    app = laravel_app(tmp_path / "app", redis=server, cache=cache)
    with app.workers("emails", count=2) as workers:
        before = workers.pids()
        outcome = restart(told(app, source=in_redis(server) if server else in_sqlite(app)), runner)
        assert not before & workers.pids()

    assert (outcome.state, outcome.verified["effect"]) == (State.SUCCEEDED, True)
    assert "seen: 2 workers started" in outcome.output
    assert "the restart signal in the application's cache is new" in outcome.output


@pytest.mark.needs("postgresql")
def test_workers_that_wait_on_postgresql_restart_as_well(
    tmp_path: Path, postgresql: Server, runner: ProcessRunner
) -> None:
    app = laravel_app(tmp_path / "app", postgresql=postgresql)
    with app.workers("emails"):
        assert restart(told(app, source=in_postgresql(postgresql)), runner).verified["effect"] is True


@pytest.mark.parametrize("cache", ["file", "database", pytest.param("redis", marks=pytest.mark.needs("redis"))])
def test_what_somebody_puts_into_the_cache_is_never_made_into_objects_here(
    cache: str, tmp_path: Path, runner: ProcessRunner, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("redis") if cache == "redis" else None
    app = laravel_app(tmp_path / "app", redis=server, cache=cache)
    (app.directory / "app/Trap.php").write_text(
        "<?php namespace App; class Trap { function __wakeup() { touch(base_path('storage/sprung')); } }"
    )
    script = (
        "$app = require 'bootstrap/app.php'; $app->make(Illuminate\\Contracts\\Console\\Kernel::class)->bootstrap();"
    )
    script += "$app['cache']->forever('illuminate:queue:restart', new App\\Trap);"
    argv = ["/usr/bin/php", "-r", f"require 'vendor/autoload.php'; {script}"]
    subprocess.run(argv, cwd=app.directory, env=app.environment, check=True)

    assert ask_app(LaravelApp(app.directory), runner) == AppFacts(cache, read=True, signal=None)
    assert not (app.directory / "storage/sprung").exists()


def test_a_second_restart_is_seen_as_well_as_the_first(app: LaravelApplication, runner: ProcessRunner) -> None:
    with app.workers("emails"):
        for _ in range(2):
            assert restart(told(app), runner).verified["effect"] is True
            signalled = ask_app(LaravelApp(app.directory), runner).signal
            until(lambda: time.time() > (signalled or 0) + 1, "the second is over")  # noqa: B023 (called at once)


def test_f01_a_restart_without_any_worker_exits_0_and_is_not_verified(
    app: LaravelApplication, runner: ProcessRunner
) -> None:
    outcome = restart(told(app, verify_seconds=SOON), runner)
    assert (outcome.state, outcome.exit_code, outcome.verified["effect"]) == (State.SUCCEEDED, 0, False)
    assert outcome.verified["why"] == "no queue worker was seen, before or after"
    assert "executed, not verified" in outcome.output


def test_f01_workers_that_never_hear_of_it_are_named_and_the_restart_is_not_verified(
    app: LaravelApplication, runner: ProcessRunner
) -> None:
    app.push("emails", seconds=600)
    with app.workers("emails") as workers:
        until(lambda: counted(told(app), runner)["emails"].reserved == 1, "the worker is busy")
        (busy,) = workers.pids()
        outcome = restart(told(app, verify_seconds=SOON), runner)
    assert (outcome.state, outcome.verified["effect"]) == (State.SUCCEEDED, False)
    assert f"1 worker from before still there (pid {busy}" in str(outcome.verified["why"])


@pytest.mark.parametrize("cache", ["array"])
def test_f01_a_cache_that_no_worker_shares_is_refused_before_anything_is_run(
    cache: str, tmp_path: Path, runner: ProcessRunner
) -> None:
    app = laravel_app(tmp_path / "app", cache=cache)
    with app.workers("emails") as workers:
        before = workers.pids()
        with pytest.raises(Refused) as refused:
            restart(told(app), runner)
        assert workers.pids() == before
    assert refused.value.code == "restart_without_effect"
    assert "cache driver is array" in refused.value.message


def test_f02_workers_of_another_release_are_told_from_those_of_the_one_that_was_restarted(
    tmp_path: Path, runner: ProcessRunner
) -> None:
    old, new = laravel_app(tmp_path / "shop/releases/41"), laravel_app(tmp_path / "shop/releases/42")
    current = tmp_path / "shop/current"
    current.symlink_to(new.directory)
    config = told(new, verify_seconds=SOON)
    config = replace(config, app=LaravelApp(current))
    with old.workers("emails"):
        outcome = restart(config, runner)
    assert outcome.verified["effect"] is False
    assert "workers run in 41, the restart was given in 42" in str(outcome.verified["why"])


def test_f03_workers_that_nobody_starts_again_are_a_failure_and_not_a_restart(
    app: LaravelApplication, runner: ProcessRunner
) -> None:
    with app.workers("emails", count=2, respawn=False):
        outcome = restart(told(app, verify_seconds=SOON), runner)
    assert (outcome.state, outcome.verified["effect"]) == (State.FAILED, False)
    assert outcome.error is not None
    assert outcome.error.code == "workers_gone"
    assert "process manager" in outcome.error.hint


@pytest.mark.needs("redis")
def test_f04_a_cache_that_is_down_is_a_failed_restart_that_quotes_it(tmp_path: Path, runner: ProcessRunner) -> None:
    with redis_server(tmp_path) as server:
        app = laravel_app(tmp_path / "app", redis=server, cache="redis")
        server.stop()
        outcome = restart(told(app, source=in_redis(server)), runner)
    assert outcome.state is State.FAILED
    assert outcome.error is not None
    assert outcome.error.code == "restart_failed"
    assert "refused" in outcome.error.message


def test_f05_an_application_without_horizon_fails_and_is_not_guessed_at(
    app: LaravelApplication, runner: ProcessRunner
) -> None:
    outcome = restart(told(app, restart_by=RestartBy.HORIZON), runner)
    assert outcome.state is State.FAILED
    assert outcome.error is not None
    assert "horizon" in outcome.error.message


@pytest.mark.needs("redis")
def test_a_poison_job_does_not_keep_workers_from_being_restarted(
    tmp_path: Path, redis: Server, runner: ProcessRunner
) -> None:
    app = laravel_app(tmp_path / "app", redis=redis)
    config = told(app, source=in_redis(redis), failed_url=in_sqlite(app).url)
    app.push("emails", kind="poison")
    with app.workers("emails"):
        until(lambda: counted(config, runner)["emails"].failed == 1, "the job fails")
        assert restart(config, runner).verified["effect"] is True


def test_php_that_the_agent_could_have_written_is_not_run(app: LaravelApplication, runner: ProcessRunner) -> None:
    (app.directory / "bootstrap/app.php").write_text("<?php touch('ran');")
    with pytest.raises(Refused) as refused:
        restart(told(app, app.directory.parent, verify_seconds=SOON), runner)
    assert refused.value.code == "app_not_ours"
    assert "that PHP is the agent's" in refused.value.message
    assert "GATEWAY_QUEUE_CONTAINER" in refused.value.hint
    assert not (app.directory / "ran").exists()


def test_a_gateway_that_stops_does_not_wait_for_workers(app: LaravelApplication, runner: ProcessRunner) -> None:
    stop = threading.Event()
    ended: list[Failed] = []

    def run() -> None:
        try:
            restart(told(app, verify_seconds=900.0), runner, cancel=stop)
        except Failed as problem:
            ended.append(problem)

    waiting = threading.Thread(target=run)
    waiting.start()
    until(lambda: ask_app(LaravelApp(app.directory), runner).signal is not None, "the signal is given")
    stop.set()
    waiting.join(120)
    assert [problem.code for problem in ended] == ["cancelled"]


def test_workers_are_listed_with_their_queues_and_only_those_of_the_application(
    tmp_path: Path, app: LaravelApplication, runner: ProcessRunner
) -> None:
    other = laravel_app(tmp_path / "other")
    with app.workers("emails,reports") as mine, other.workers("emails"):
        found = list_workers(LaravelApp(app.directory), runner)
        assert {worker.pid for worker in found} == mine.pids()
        assert found[0].queues == ("emails", "reports")
        assert found[0].directory == str(app.directory)
        assert 0 <= time.time() - found[0].started_at < 3600
        assert {worker.pid for worker in list_workers(None, runner)} > mine.pids()
    assert list_workers(LaravelApp(app.directory), runner) == ()


@pytest.mark.needs("systemd-nspawn")
def test_a_unit_that_cannot_be_restarted_fails_with_the_words_of_systemd_and_the_rule_that_is_missing(
    app: LaravelApplication, runner: ProcessRunner
) -> None:
    asked = told(app, restart_by=RestartBy.SYSTEMCTL, restart_target="ops-gateway-test-no-such-unit.service")
    outcome = restart(asked, runner)
    assert outcome.error is not None
    assert outcome.error.code == "restart_failed"
    assert "polkit" in outcome.error.hint
