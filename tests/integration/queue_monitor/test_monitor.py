"""The queue monitor over the real record: what it remembers, tells and asks for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from monitored_host import MINUTE, MonitoredHost, monitored
from sqlalchemy import create_engine, inspect, text

from executor.errors import ConfigError
from executor.outcome import State
from executor.policy.model import Operation, QueueParams
from executor.record import approvals, controls, queue_samples
from executor.record.approvals import Verdict
from executor.record.queue_samples import restarts_since
from gateway.schedule import queue_monitor


def test_a_congestion_becomes_a_request_that_goes_the_way_of_every_other(host: MonitoredHost) -> None:
    host.looks(3, emails=80, pdf=0)

    (row,) = host.raised()
    assert host.kinds() == ["congested", "restart_asked"]
    assert host.events()[1].data["request"] == row.id
    assert (row.operation, row.state, row.reason) == (
        Operation.RESTART_QUEUE,
        State.SUCCEEDED,
        "asked for by the queue monitor: emails congested",
    )
    assert [request.params for request in host.restarted] == [QueueParams("emails")]


def test_two_congested_queues_are_one_request_for_all_workers(host: MonitoredHost) -> None:
    host.looks(3, emails=80, pdf=90)

    assert [request.params for request in host.restarted] == [QueueParams(None)]
    assert {event.data["request"] for event in host.events() if "request" in event.data} == {host.raised()[0].id}


def test_the_whole_of_a_congestion_is_told_in_one_story(host: MonitoredHost) -> None:
    host.looks(3, emails=80, pdf=0)
    host.looks(1, emails=60)
    host.looks(2, emails=10)

    assert host.kinds() == ["congested", "restart_asked", "draining", "all_clear"]
    assert len({event.request_id for event in host.events()}) == 1


def test_a_gateway_that_starts_anew_goes_on_where_the_last_one_was(host: MonitoredHost) -> None:
    host.looks(2, emails=80, pdf=0)
    host.monitor = host.fresh_monitor()
    host.looks(1)
    assert host.kinds() == ["congested", "restart_asked"]

    host.monitor = host.fresh_monitor()
    host.looks(5)
    assert len(host.restarted) == 1


def test_where_restarts_need_a_yes_operators_are_asked_and_a_no_holds(tmp_path: Path) -> None:
    with monitored(tmp_path, approve="restart_queue") as host:
        host.looks(3, emails=80, pdf=0)
        (row,) = host.raised()
        assert row.state is State.AWAITING_APPROVAL
        assert host.restarted == []

        with host.executor.store.transaction() as tx:
            (asked,) = approvals.pending(tx)
            approvals.vote(tx, asked.id, "cli:ann", Verdict.DENY, "the import is meant to be slow", asked.digest)
        host.looks(60)

        assert host.restarted == []
        assert host.kinds() == ["congested", "restart_asked", "restart_trouble"]
        assert host.events()[-1].data["why"] == "the import is meant to be slow"


def test_what_an_operator_allowed_is_run(tmp_path: Path) -> None:
    with monitored(tmp_path, approve="restart_queue") as host:
        host.looks(3, emails=80, pdf=0)
        with host.executor.store.transaction() as tx:
            (asked,) = approvals.pending(tx)
            approvals.vote(tx, asked.id, "cli:ann", Verdict.APPROVE, "", asked.digest)
        host.looks(1)

        assert len(host.restarted) == 1


def test_a_restart_that_nobody_allowed_in_time_is_taken_back_and_the_agent_can_read_that(tmp_path: Path) -> None:
    with monitored(tmp_path, approve="restart_queue") as host:
        host.looks(3, emails=80, pdf=0)
        host.looks(2, emails=1)

        (row,) = host.raised()
        assert row.state is State.WITHDRAWN
        assert host.kinds() == ["congested", "restart_asked", "restart_withdrawn", "all_clear"]
        published = (host.settings.shared_dir / "results" / f"{row.id}.json").read_text()
        assert "the queues are clear again" in published


def test_while_the_gateway_is_frozen_nothing_is_restarted(host: MonitoredHost) -> None:
    with host.executor.store.transaction() as tx:
        controls.freeze(tx, "an incident", "cli:ann")
    host.looks(10, emails=80, pdf=0)
    assert (host.kinds(), host.raised()) == (["congested"], [])
    assert host.events()[0].data["hold"] == "frozen"

    with host.executor.store.transaction() as tx:
        controls.unfreeze(tx, "cli:ann")
    host.looks(1)
    assert len(host.restarted) == 1


def test_outside_business_hours_it_tells_when_they_begin_and_the_restart_waits_for_that(
    host: MonitoredHost,
) -> None:
    host.now += 8 * 60 * MINUTE  # 20:00
    host.looks(3, emails=80, pdf=0)
    assert (host.kinds(), host.restarted) == (["congested"], [])
    assert host.events()[0].data["opens_at"] == "2026-03-03T12:00:00+00:00"

    host.now += 13 * 60 * MINUTE
    host.looks(3)
    assert len(host.restarted) == 1


def test_the_operator_can_let_it_restart_at_any_hour(tmp_path: Path) -> None:
    with monitored(tmp_path, queue_restart_outside_hours=True) as host:
        host.now += 8 * 60 * MINUTE
        host.looks(3, emails=80, pdf=0)

        assert len(host.restarted) == 1


def test_f01_a_restart_without_an_effect_is_told_with_what_was_missing(host: MonitoredHost) -> None:
    host.effect = {"effect": False, "why": "the same workers run as before"}
    host.looks(4, emails=80, pdf=0)

    last = host.events()[-1]
    assert (last.kind, last.data["why"], last.data["loud"]) == (
        "queue.restart_trouble",
        "the same workers run as before",
        True,
    )


def test_what_cannot_be_counted_is_kept_as_unknown_and_told(host: MonitoredHost) -> None:
    host.looks(3, emails=None, pdf=4)

    (emails, pdf) = host.samples()[-1].counts
    assert (emails.pending, emails.problem, emails.known) == (None, "Redis cannot be reached", False)
    assert pdf.pending == 4
    assert host.kinds() == ["count_unknown"]


def test_counting_that_cannot_even_begin_makes_every_queue_unknown(host: MonitoredHost) -> None:
    host.problem = ConfigError(
        "redis_missing", "the library redis is not installed", "pip install ops-gateway[redis]"
    )
    host.looks(3)

    assert [event.data["problem"] for event in host.events()] == ["the library redis is not installed"] * 2


def test_secrets_in_a_problem_are_masked_in_the_samples_and_in_the_log(tmp_path: Path) -> None:
    with monitored(tmp_path, queue_source="redis://:hunter2hunter2@127.0.0.1/0") as host:
        host.problem = ConfigError("x", "no answer from redis://:hunter2hunter2@127.0.0.1/0", "")
        host.looks(3)

        told = [*(str(event.data) for event in host.events()), *(str(sample) for sample in host.samples())]
        assert told
        assert "hunter2hunter2" not in "".join(told)


def test_samples_are_kept_for_a_week(host: MonitoredHost) -> None:
    host.looks(1, emails=1, pdf=0)
    host.now += 8 * 24 * 60 * MINUTE
    host.monitor = host.fresh_monitor()
    host.looks(1)

    assert len(host.samples()) == 1


def test_history_knows_when_workers_were_restarted_whoever_asked(host: MonitoredHost) -> None:
    (host.settings.shared_dir / "restart_queue.mine.flag").write_text("")
    host.executor.take(settle=False)
    host.looks(3, emails=80, pdf=0)

    with host.executor.store.reading() as view:
        begun = restarts_since(view, datetime.now(UTC) - timedelta(hours=1))
    assert len(begun) == len(host.restarted) == 2


def test_a_database_from_before_there_were_samples_gets_the_tables(tmp_path: Path) -> None:
    with monitored(tmp_path):
        pass
    engine = create_engine(f"sqlite:///{tmp_path}/state/gateway.db")
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE queue_samples"))
        connection.execute(text("DROP TABLE queue_watch"))

    with monitored(tmp_path) as host:
        host.looks(1, emails=1, pdf=0)

        assert len(host.samples()) == 1
    assert inspect(engine).has_table("queue_watch")
    engine.dispose()


def test_what_is_remembered_in_a_way_that_cannot_be_read_begins_anew(host: MonitoredHost) -> None:
    host.looks(2, emails=80, pdf=0)
    with host.executor.store.transaction() as tx:
        tx.connection.execute(text("UPDATE queue_watch SET state = 'damaged'"))
        assert queue_samples.remembered(tx) == {}

    host.looks(2)
    assert host.kinds() == []
    host.looks(1)
    assert host.kinds() == ["congested", "restart_asked"]


def test_a_monitor_that_does_not_look_any_more_is_a_trouble(
    host: MonitoredHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.looks(1, emails=0, pdf=0)
    assert host.monitor.trouble() == ""

    monkeypatch.setattr(queue_monitor, "LATE_SECONDS", -1.0)
    host.monitor.interval = -1.0
    assert "have not been counted" in host.monitor.trouble()
