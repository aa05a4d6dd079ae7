"""Queues that cannot be counted, or whose workers could not be restarted, in a real database."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest
from set_up_host import SetUpHost

pytestmark = pytest.mark.needs("git", "landlock", "unprivileged-user")


@pytest.fixture
def database(host: SetUpHost) -> Path:
    """The application's database with one job on `emails`; the host watches it."""
    path = host.root / "queues.sqlite"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "create table jobs (id integer primary key, queue text, payload text, attempts integer,"
            " reserved_at integer, available_at integer, created_at integer)"
        )
        now = int(time.time())
        connection.execute("insert into jobs values (1, 'emails', '{}', 0, null, ?, ?)", (now, now))
    connection.close()
    host.give(path)
    host.write_settings(
        QUEUE_NAMES="emails", QUEUE_SOURCE=f"sqlite:///{path}", QUEUE_RESTART="supervisorctl:shop-worker"
    )
    return path


def test_queues_that_can_be_counted_are_counted(host: SetUpHost, database: Path) -> None:
    found = host.doctor()

    assert found["queue emails"]["what"] == "1 jobs are pending"
    assert "restart shop-worker:*" in found["restarting workers"]["what"]


def test_a_database_without_the_table_or_away_fails_and_names_the_setting(host: SetUpHost, database: Path) -> None:
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("drop table jobs")
    connection.close()

    found = host.doctor()["queue emails"]

    assert found["state"] == "fail"
    assert "GATEWAY_QUEUE_SOURCE" in found["mend"]


def test_f01_php_that_the_agent_could_have_written_is_named_with_the_way_out(host: SetUpHost, database: Path) -> None:
    (host.tree / "artisan").write_text("<?php\n")
    host.write_settings(QUEUE_RESTART="artisan", QUEUE_APP_DIR=str(host.tree))

    found = host.doctor()["restarting workers"]

    assert found["state"] == "fail"
    assert "GATEWAY_QUEUE_CONTAINER" in found["mend"]


def test_e09_workers_in_a_container_that_is_not_there_are_unknown_and_the_rest_goes_on(
    host: SetUpHost, database: Path
) -> None:
    host.environment["DOCKER_HOST"] = f"unix://{host.root}/no.sock"
    host.write_settings(QUEUE_CONTAINER="nowhere", QUEUE_APP_DIR="/var/www/html")

    found = host.doctor()

    assert found["queue emails"]["state"] == "ok"
    assert found["restarting workers"]["state"] == "ok"
    assert found["workers"]["state"] == "warn"
    assert "gateway" in found
