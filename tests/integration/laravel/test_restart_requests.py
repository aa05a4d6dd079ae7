"""restart_queue from its flag to its result: through the gateway's executor, to real workers and back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from app_on_host import executor, told
from laravel_app import LaravelApplication, laravel_app

from executor.dispatch import Dispatcher
from executor.host_operations import HOST_LANE
from executor.laravel.config import LaravelApp, RestartBy
from executor.policy.model import Operation, Policy
from executor.record import approvals, audit

pytestmark = pytest.mark.needs("laravel")


def answered(root: Path, dispatcher: Dispatcher, body: str = "") -> dict[str, Any]:
    """Raise the flag, let the host's lane run, and return the result as the agent reads it."""
    (root / "shared/restart_queue.a1.flag").write_text(body)
    dispatcher.take(settle=False)
    while dispatcher.run_next(HOST_LANE):
        pass
    result: dict[str, Any] = json.loads((root / "shared/results/a1.json").read_text())
    return result


def test_a_flag_restarts_the_workers_and_its_result_tells_what_was_seen(
    tmp_path: Path, app: LaravelApplication
) -> None:
    with executor(tmp_path, told(app)) as dispatcher, app.workers("emails") as workers:
        before = workers.pids()
        result = answered(tmp_path, dispatcher, "emails")
        assert not before & workers.pids()
    assert (result["state"], result["exit_code"], result["verified"]["effect"]) == ("succeeded", 0, True)
    assert "1 worker started" in " ".join(result["verified"]["seen"])
    assert str(app.directory) not in json.dumps(result)


def test_f01_a_restart_that_had_no_effect_is_said_to_be_executed_and_not_verified(
    tmp_path: Path, app: LaravelApplication
) -> None:
    with executor(tmp_path, told(app, verify_seconds=1.0)) as dispatcher:
        result = answered(tmp_path, dispatcher)
    assert (result["state"], result["verified"]["effect"]) == ("succeeded", False)
    assert "no queue worker was seen" in result["verified"]["why"]


def test_f03_workers_that_do_not_come_back_are_answered_as_gone(tmp_path: Path, app: LaravelApplication) -> None:
    with (
        executor(tmp_path, told(app, verify_seconds=2.0)) as dispatcher,
        app.workers("emails", respawn=False),
    ):
        result = answered(tmp_path, dispatcher)
    assert (result["state"], result["error"]["code"]) == ("failed", "workers_gone")


def test_f04_what_artisan_said_when_it_failed_is_told_without_its_passwords(
    tmp_path: Path, app: LaravelApplication
) -> None:
    php = tmp_path / "php"
    php.write_text(
        """#!/bin/sh
        case "$*" in
        *queue:restart*) echo 'RedisException: redis://:hunter2@db:6379 refused; DB_PASSWORD=hunter2' >&2; exit 1 ;;
        esac
        exec /usr/bin/php "$@"
        """
    )
    php.chmod(0o755)
    config = told(app)
    with executor(tmp_path, replace(config, app=LaravelApp(app.directory, php=str(php)))) as dispatcher:
        result = answered(tmp_path, dispatcher)
        with dispatcher.store.reading() as view:
            events = [event.data for event in audit.events_of(view, "a1")]
    assert (result["state"], result["error"]["code"]) == ("failed", "restart_failed")
    assert "RedisException" in result["error"]["message"]
    assert "hunter2" not in json.dumps(result) + json.dumps(events, default=str)


@pytest.mark.parametrize(("cache", "code"), [("array", "restart_without_effect"), ("file", "app_not_ours")])
def test_what_would_reach_nobody_or_is_not_safe_is_refused_with_the_way_out(
    cache: str, code: str, tmp_path: Path
) -> None:
    app = laravel_app(tmp_path / "app", cache=cache)
    config = told(app, *((tmp_path,) if code == "app_not_ours" else ()))
    with executor(tmp_path, config) as dispatcher:
        result = answered(tmp_path, dispatcher)
    assert (result["state"], result["error"]["code"]) == ("refused", code)
    assert str(tmp_path) not in json.dumps(result)
    assert "GATEWAY_QUEUE_RESTART" in result["error"]["hint"] or "systemctl:UNIT" in result["error"]["hint"]


def test_f06_an_operator_who_is_asked_is_shown_the_command_and_whom_else_it_restarts(
    tmp_path: Path, app: LaravelApplication
) -> None:
    asks = Policy(approve=frozenset({Operation.RESTART_QUEUE}))
    with executor(tmp_path, replace(told(app), restart_by=RestartBy.HORIZON), asks) as dispatcher:
        result = answered(tmp_path, dispatcher)
        with dispatcher.store.reading() as view:
            asked = approvals.latest_of(view, "a1")
    assert result["state"] == "awaiting_approval"
    assert asked is not None
    shown = " ".join(asked.shown["depends_on"])
    assert "php artisan horizon:terminate" in shown
    assert "every plain worker that shares the application's cache" in shown


def test_what_this_host_can_do_is_told_to_the_agent(tmp_path: Path, app: LaravelApplication) -> None:
    with executor(tmp_path, told(app)):
        told_of = json.loads((tmp_path / "shared/gateway.json").read_text())
    assert told_of["operations"]["restart_queue"]["needs"] == "auto"
    assert told_of["operations"]["restart_queue"]["body"] == "one of emails, reports, or nothing for all"
