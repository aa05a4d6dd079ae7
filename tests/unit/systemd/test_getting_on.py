"""What a watchdog goes by: hanging, never failing, and never being away."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
from waiting import DEADLINE, Clock, until

from executor.errors import Refused
from gateway.schedule.heartbeat import STUCK_PERIODS, STUCK_SECONDS, Heartbeat
from gateway.schedule.readiness import SILENT_POLL_SECONDS, closed_repositories, not_getting_on, status_line
from gateway.schedule.workers import Workers


def test_e01_a_job_that_comes_to_no_end_is_stuck_and_one_that_fails_again_and_again_is_not() -> None:
    clock = Clock()
    heartbeat = Heartbeat({"hangs": 1.0, "fails": 90.0, "rare": 3600.0}, clock)
    clock.seconds += STUCK_SECONDS
    assert heartbeat.stuck() == []
    clock.seconds += STUCK_PERIODS * 90.0
    heartbeat.trouble("fails", "failed")
    heartbeat.trouble("hangs", "skipped")  # its turn came and it still ran
    assert heartbeat.stuck() == ["hangs"]
    assert heartbeat.late() == ["hangs", "fails"]
    heartbeat.completed("hangs")
    assert heartbeat.stuck() == []


@pytest.mark.parametrize(
    ("chat", "stuck"),
    [
        ({}, False),
        ({"polls": "connecting", "last_poll_seconds_ago": None}, False),
        ({"polls": "degraded", "last_poll_seconds_ago": 86_400.0}, False),  # Telegram is away: its polls do fail
        ({"polls": "ok", "last_poll_seconds_ago": SILENT_POLL_SECONDS}, False),
        ({"polls": "ok", "last_poll_seconds_ago": SILENT_POLL_SECONDS + 1}, True),
    ],
)
def test_a_poll_counts_as_stuck_only_when_it_neither_came_nor_failed(chat: dict[str, Any], stuck: bool) -> None:
    assert bool(not_getting_on([], [], chat)) is stuck


def test_what_does_not_get_on_is_named() -> None:
    assert not_getting_on(["sweep"], ["shop", ""], {}) == ["job sweep", "worker of shop", "worker of the host"]


def test_the_status_says_first_what_does_not_work() -> None:
    assert status_line(["shop", "blog"], {}) == "serving shop, blog"
    assert status_line(["shop"], {"b": "two", "a": "one"}) == "a: one; b: two (serving shop)"


def test_repositories_that_cannot_be_worked_in_are_named_with_their_mend() -> None:
    class Repositories:
        def open(self, name: str) -> None:
            if name == "shop":
                raise Refused("not_adopted", "It is not adopted.", "adopt it")

    found = closed_repositories(Repositories(), ["shop", "blog"])  # type: ignore[arg-type]
    assert found == {"repository shop": "It is not adopted. adopt it"}


class Lanes:
    """A dispatcher that runs what the test put into a lane."""

    def __init__(self, **queues: Callable[[], object]) -> None:
        self.queues = {lane: deque([work]) for lane, work in queues.items()}

    def run_next(self, lane: str) -> bool:
        if not self.queues[lane]:
            return False
        self.queues[lane].popleft()()
        return True


def test_a_request_that_runs_for_too_long_and_a_worker_that_ended_are_stuck() -> None:
    async def scenario() -> None:
        entered, go_on = threading.Event(), threading.Event()

        def slow() -> None:
            entered.set()
            go_on.wait(DEADLINE)

        workers = Workers(Lanes(shop=slow, blog=lambda: None), ["shop", "blog"], lambda: None)  # type: ignore[arg-type]
        workers.start()
        await until(entered.is_set)
        assert workers.stuck(DEADLINE) == []
        assert workers.stuck(0.0)[-1] == "shop"
        go_on.set()
        await until(lambda: not workers.stuck(0.0))
        assert await workers.stop(DEADLINE)
        assert workers.stuck(DEADLINE) == []  # it was told to
        workers.close()

    asyncio.run(scenario())


def test_a_worker_that_ends_by_itself_is_stuck() -> None:
    async def scenario() -> None:
        class Gone(BaseException):
            """Nothing that a worker catches."""

        def leave() -> None:
            raise Gone

        workers = Workers(Lanes(shop=leave), ["shop"], lambda: None)  # type: ignore[arg-type]
        workers.start()
        await until(lambda: workers.stuck(DEADLINE))
        assert workers.stuck(DEADLINE) == ["shop"]
        await workers.stop(DEADLINE)
        workers.close()

    asyncio.run(scenario())
