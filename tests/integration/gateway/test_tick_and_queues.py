"""Where cron starts the gateway, the queues are watched from one round to the next."""

from __future__ import annotations

import sqlite3
import time

import pytest
from gateway_process import ConfiguredHost, until

pytestmark = pytest.mark.needs("git", "landlock")


def test_congestion_is_seen_over_several_ticks_and_told_once(host: ConfiguredHost) -> None:
    with sqlite3.connect(host.state / "jobs.db") as jobs:
        jobs.execute("create table jobs (id integer primary key, queue text, payload text, attempts integer,"
                     " reserved_at integer, available_at integer, created_at integer)")  # fmt: skip
        due = int(time.time()) - 30
        jobs.executemany(
            "insert into jobs (queue, payload, attempts, available_at, created_at) values ('emails', '{}', 0, ?, ?)",
            [(due, due)] * 60,
        )
    settings = {
        "GATEWAY_QUEUE_NAMES": "emails",
        "GATEWAY_QUEUE_SOURCE": f"sqlite:///{host.state / 'jobs.db'}",
        "GATEWAY_QUEUE_RESTART": "systemctl:shop-worker",
        "GATEWAY_QUEUE_RESTARTS_AN_HOUR": "0",
        "GATEWAY_QUEUE_BREACHES": "2",
    }

    told = []
    for _ in range(3):
        assert host.cli("tick", **settings).returncode == 0
        told.append(host.cli("audit", "show", **settings).stdout.count("queue.congested"))

    assert told == [0, 1, 1]


def test_flags_are_answered_although_the_queues_cannot_be_counted(host: ConfiguredHost) -> None:
    (host.shared / "git_status.a1.flag").write_text("")
    settings = {
        "GATEWAY_QUEUE_NAMES": "emails",
        "GATEWAY_QUEUE_SOURCE": f"sqlite:///{host.state / 'missing' / 'jobs.db'}",
        "GATEWAY_QUEUE_RESTART": "systemctl:shop-worker",
    }

    def answered() -> bool:
        assert host.cli("tick", **settings).returncode == 0
        return (host.shared / "results" / "a1.json").exists()

    until(answered, "a tick that finds the flag settled")
