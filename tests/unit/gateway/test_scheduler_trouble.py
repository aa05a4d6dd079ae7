"""A scheduler that loses its timer, and days on which the clocks change: flags are looked for every minute."""

from __future__ import annotations

import asyncio
import io
import logging
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from loguru import logger
from recording_dispatcher import RecordingDispatcher
from waiting import until

from executor.errors import Unavailable
from gateway import logs
from gateway.schedule import jobs
from gateway.schedule.heartbeat import PERIODS, Heartbeat
from gateway.schedule.pickup import Pickup


def test_b05_a_scheduler_that_lost_its_timer_is_noticed_by_the_missing_sweep_and_set_going_again(
    tmp_path: Path,
) -> None:
    """One exception in its own processing leaves it `running` with nothing that would ever wake it."""

    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)  # where that exception ends
        dispatcher, heartbeat = RecordingDispatcher(), Heartbeat(PERIODS)
        schedulers: list[AsyncIOScheduler] = []
        pickup = Pickup(
            dispatcher,
            tmp_path,
            heartbeat,
            queued=lambda _names: None,
            taken=lambda _anything: None,
            stuck=lambda: jobs.realign(schedulers[0]),
            backstop_seconds=0.5,
        )
        duties = jobs.Duties(dispatcher, pickup, heartbeat, told=lambda: None)
        running = asyncio.create_task(pickup.run())
        schedulers.append(scheduler := jobs.schedule(duties))
        try:
            await until(lambda: dispatcher.expired == 1)
            process, broken = scheduler._process_jobs, [RuntimeError("in its own processing")]

            def process_once_badly() -> float | None:
                if broken:
                    raise broken.pop()
                return process()

            scheduler._process_jobs = process_once_badly
            scheduler.wakeup()
            await until(lambda: not broken)
            assert scheduler.running and scheduler._timeout is None  # it would never wake again
            sweeps = dispatcher.sweeps
            await until(lambda: dispatcher.sweeps > sweeps and dispatcher.expired == 2)
            assert heartbeat.as_data()["troubles"]["sweep missed"] >= 1
            assert scheduler._timeout is not None
        finally:
            scheduler.shutdown(wait=False)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            pickup.close()
            duties.close()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("cause", "traced"),
    [(ZeroDivisionError("a bug"), True), (Unavailable("disk_full", "the disk is full", ""), False)],
)
def test_b10_a_job_that_fails_is_logged_once_with_its_cause(cause: Exception, traced: bool) -> None:
    """A bug with where it was met, and what is wrong around the gateway in one line: it may be so for hours."""
    root, stream = logging.getLogger(), io.StringIO()
    handlers, level = root.handlers[:], root.level
    logs.configure("DEBUG", stream=stream)

    async def scenario() -> None:
        dispatcher = RecordingDispatcher()

        def fail() -> int:
            raise cause

        dispatcher.expire = fail
        heartbeat = Heartbeat(PERIODS)
        pickup = SimpleNamespace(sweep_soon=lambda: None)
        duties = jobs.Duties(dispatcher, pickup, heartbeat, told=lambda: None)
        scheduler = jobs.schedule(duties)
        try:
            await until(lambda: heartbeat.as_data()["troubles"].get("expire failed"))
        finally:
            scheduler.shutdown(wait=False)
            duties.close()

    try:
        asyncio.run(scenario())
    finally:
        logger.remove()
        logging.captureWarnings(False)
        root.handlers[:] = handlers
        root.setLevel(level)
    assert stream.getvalue().count(f"{cause}\n") == 1
    assert stream.getvalue().count("Traceback") == traced
    assert stream.getvalue().count("the job expire failed") == 1


@pytest.mark.parametrize(
    ("zone", "day"),
    [("Europe/Berlin", (2026, 3, 29)), ("Europe/Berlin", (2026, 10, 25)), ("America/New_York", (2026, 11, 1))],
)
def test_b08_around_a_change_of_the_clocks_there_are_sixty_sweeps_an_hour(
    zone: str, day: tuple[int, int, int]
) -> None:
    async def scenario() -> None:
        heartbeat = Heartbeat(PERIODS)
        duties = jobs.Duties(
            RecordingDispatcher(), SimpleNamespace(sweep_soon=lambda: None), heartbeat, told=lambda: None
        )
        scheduler = jobs.schedule(duties)
        try:
            trigger = scheduler.get_job("sweep").trigger
            begin = datetime(*day, 0, 30, tzinfo=ZoneInfo(zone))
            end = begin.astimezone(UTC) + timedelta(hours=3)
            runs = [begin]
            while runs[-1] < end:
                runs.append(trigger.get_next_fire_time(runs[-1], runs[-1]))
            moments = [run.astimezone(UTC) for run in runs]
            assert {later - earlier for earlier, later in pairwise(moments)} == {timedelta(minutes=1)}
            assert len(set(moments)) == 181
        finally:
            scheduler.shutdown(wait=False)
            duties.close()

    asyncio.run(scenario())
