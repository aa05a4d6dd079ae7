"""The scheduler's jobs: late rather than never, once rather than twice, and alive by what was done."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    JobExecutionEvent,
    JobSubmissionEvent,
)
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from recording_dispatcher import RecordingDispatcher
from waiting import until

from gateway.schedule import jobs
from gateway.schedule.heartbeat import PERIODS, Heartbeat


@asynccontextmanager
async def scheduled() -> AsyncIterator[tuple[AsyncIOScheduler, jobs.Duties]]:
    """A started scheduler over a recording dispatcher; a sweep that is asked for counts as completed."""
    heartbeat = Heartbeat(PERIODS)
    pickup = SimpleNamespace(sweep_soon=lambda: heartbeat.completed("sweep"))
    duties = jobs.Duties(RecordingDispatcher(), pickup, heartbeat, told=lambda: None)
    scheduler = jobs.schedule(duties)
    try:
        yield scheduler, duties
    finally:
        scheduler.shutdown(wait=False)
        duties.close()
        duties.thread.shutdown(wait=True)


def completed(duties: jobs.Duties) -> set[str]:
    return set(duties.heartbeat.as_data()["completed"])


def test_everything_but_retention_and_upkeep_runs_at_the_start_and_is_noted_when_it_is_done() -> None:
    async def scenario() -> None:
        async with scheduled() as (_, duties):
            await until(lambda: completed(duties) == {"sweep", "expire", "publish"})
            assert (duties.dispatcher.expired, duties.dispatcher.rest_published) == (1, 1)

    asyncio.run(scenario())


def test_b02_every_job_is_late_rather_than_dropped_once_rather_than_twice_and_alone() -> None:
    async def scenario() -> None:
        async with scheduled() as (scheduler, _):
            for job in scheduler.get_jobs():
                assert (job.misfire_grace_time, job.coalesce, job.max_instances) == (None, True, 1)

    asyncio.run(scenario())


def test_b02_a_job_whose_time_passed_while_the_loop_was_blocked_runs_exactly_once() -> None:
    async def scenario() -> None:
        async with scheduled() as (scheduler, duties):
            await until(lambda: completed(duties) == {"sweep", "expire", "publish"})
            scheduler.modify_job("expire", next_run_time=datetime.now(UTC) - timedelta(hours=3))
            await until(lambda: duties.dispatcher.expired == 2)
            assert scheduler.get_job("expire").next_run_time > datetime.now(UTC)

    asyncio.run(scenario())


def test_b06_after_the_clock_was_set_back_every_job_is_put_right() -> None:
    async def scenario() -> None:
        async with scheduled() as (scheduler, duties):
            await until(lambda: completed(duties) == {"sweep", "expire", "publish"})
            for job in scheduler.get_jobs():
                job.modify(next_run_time=datetime.now(UTC) + timedelta(hours=1))
            jobs.realign(scheduler)
            await until(lambda: duties.dispatcher.expired == 2)
            assert scheduler.get_job("expire").next_run_time < datetime.now(UTC) + timedelta(minutes=2)

    asyncio.run(scenario())


def test_b13_scheduling_twice_leaves_one_set_of_jobs_made_of_module_level_functions() -> None:
    async def scenario() -> None:
        async with scheduled() as (scheduler, duties):
            for name, job in jobs.JOBS.items():
                scheduler.add_job(job, "interval", seconds=60, args=[duties], id=name, replace_existing=True)
            assert sorted(job.id for job in scheduler.get_jobs()) == sorted(jobs.JOBS)
            assert all(job.func_ref.startswith("gateway.schedule.jobs:") for job in scheduler.get_jobs())

    asyncio.run(scenario())


def test_b01_a_job_that_takes_too_long_is_reported_and_not_started_again_beside_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario() -> None:
        monkeypatch.setitem(PERIODS, "expire", 0.04)
        go_on = threading.Event()
        async with scheduled() as (_, duties):
            await until(lambda: "expire" in completed(duties))
            calls = duties.dispatcher.expired

            def hang() -> int:
                duties.dispatcher.expired += 1
                go_on.wait()
                return 0

            duties.dispatcher.expire = hang
            await until(lambda: duties.heartbeat.as_data()["troubles"].get("expire overran"))
            await until(lambda: duties.heartbeat.as_data()["troubles"].get("expire skipped"))
            assert duties.dispatcher.expired <= calls + 2
            go_on.set()

    asyncio.run(scenario())


def test_upkeep_that_takes_long_holds_up_no_other_job() -> None:
    async def scenario() -> None:
        go_on = threading.Event()
        async with scheduled() as (scheduler, duties):
            duties.dispatcher.maintain = go_on.wait
            scheduler.modify_job("maintenance", next_run_time=datetime.now(UTC))
            hour = datetime.now(UTC) + timedelta(hours=1)
            await until(lambda: scheduler.get_job("maintenance").next_run_time > hour)
            scheduler.modify_job("retention", next_run_time=datetime.now(UTC))
            await until(lambda: duties.dispatcher.ran == ["retention"])
            assert "maintenance" not in completed(duties)
            go_on.set()
            await until(lambda: "maintenance" in completed(duties))

    asyncio.run(scenario())


def test_b05_a_failing_job_is_not_noted_as_done() -> None:
    async def scenario() -> None:
        async with scheduled() as (scheduler, duties):
            await until(lambda: completed(duties) == {"sweep", "expire", "publish"})

            def fail() -> None:
                raise OSError("no space left on device")

            duties.dispatcher.retention = fail
            scheduler.modify_job("retention", next_run_time=datetime.now(UTC))
            await until(lambda: duties.heartbeat.as_data()["troubles"].get("retention failed"))
            assert "retention" not in completed(duties)

    asyncio.run(scenario())


NOW = datetime.now(UTC)


@pytest.mark.parametrize(
    ("event", "counted"),
    [
        (JobExecutionEvent(EVENT_JOB_MISSED, "sweep", "default", NOW), "sweep missed"),
        (
            JobExecutionEvent(EVENT_JOB_ERROR, "sweep", "default", NOW, exception=OSError()),
            "sweep failed",
        ),
        (JobSubmissionEvent(EVENT_JOB_MAX_INSTANCES, "sweep", "default", [NOW]), "sweep skipped"),
    ],
)
def test_b10_every_kind_of_event_is_counted_without_a_further_failure(event: object, counted: str) -> None:
    async def scenario() -> None:
        async with scheduled() as (scheduler, duties):
            scheduler._dispatch_event(event)
            assert duties.heartbeat.as_data()["troubles"] == {counted: 1}

    asyncio.run(scenario())
