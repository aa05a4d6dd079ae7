"""Looking at the queues as a job of the scheduler: beside the others, never in front of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

from waiting import DEADLINE, until

from gateway.schedule import jobs
from gateway.schedule.heartbeat import PERIODS, Heartbeat


class Monitor:
    """A monitor whose look waits for what the test allows."""

    def __init__(self, *, news: bool = False) -> None:
        self.interval = 0.05
        self.looks = 0
        self.may_end = threading.Event()
        self._news = news

    def look(self) -> None:
        self.looks += 1
        assert self.may_end.wait(DEADLINE)

    def take_news(self) -> bool:
        return self._news


@asynccontextmanager
async def scheduled(monitor: Monitor | None) -> AsyncIterator[SimpleNamespace]:
    """A scheduler at work; what it did is counted."""
    seen = SimpleNamespace(expired=0, words=0)

    def expire() -> None:
        seen.expired += 1

    def word_came() -> None:
        seen.words += 1

    dispatcher = SimpleNamespace(expire=expire, publish_capabilities=lambda: None)
    pickup = SimpleNamespace(sweep_soon=lambda: None, word_came=word_came)
    seen.heartbeat = Heartbeat(PERIODS)
    duties = jobs.Duties(dispatcher, pickup, seen.heartbeat, told=lambda: None, monitor=monitor)  # type: ignore[arg-type]
    scheduler = jobs.schedule(duties)
    seen.scheduler = scheduler
    try:
        yield seen
    finally:
        if monitor is not None:
            monitor.may_end.set()
        scheduler.shutdown(wait=False)
        await duties.idle()
        duties.close()


def test_b01_a_redis_that_hangs_holds_up_no_other_job() -> None:
    async def scenario() -> None:
        monitor = Monitor()
        async with scheduled(monitor) as seen:
            await until(lambda: monitor.looks == 1)
            await until(lambda: seen.expired == 1)

            def another() -> bool:
                jobs.realign(seen.scheduler)  # one that is just ending would be skipped, so it is asked for again
                return bool(seen.expired >= 2)

            await until(another)
            assert monitor.looks == 1
            assert jobs.QUEUES not in seen.heartbeat.as_data()["completed"]

    asyncio.run(scenario())


def test_a_look_that_ended_is_noted_and_the_next_one_follows() -> None:
    async def scenario() -> None:
        monitor = Monitor()
        monitor.may_end.set()
        async with scheduled(monitor) as seen:
            await until(lambda: monitor.looks >= 3)
            assert jobs.QUEUES in seen.heartbeat.as_data()["completed"]
            assert seen.words == 0

    asyncio.run(scenario())


def test_what_a_look_came_to_is_acted_on_at_once() -> None:
    async def scenario() -> None:
        monitor = Monitor(news=True)
        monitor.may_end.set()
        async with scheduled(monitor) as seen:
            await until(lambda: seen.words >= 1)

    asyncio.run(scenario())


def test_without_queues_there_is_no_such_job() -> None:
    async def scenario() -> None:
        async with scheduled(None) as seen:
            assert seen.scheduler.get_job(jobs.QUEUES) is None

    asyncio.run(scenario())
