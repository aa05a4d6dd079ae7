"""Workers: one repository in order, several side by side, and an end that waits only so long."""

from __future__ import annotations

import asyncio
import threading

from recording_dispatcher import RecordingDispatcher
from waiting import DEADLINE, until

from gateway.schedule.workers import Workers


def nothing() -> None:
    pass


def test_requests_of_one_repository_never_run_side_by_side_and_several_repositories_do() -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        together = threading.Barrier(2, timeout=DEADLINE)
        running: dict[str, int] = {"shop": 0, "blog": 0}

        def work(name: str) -> None:
            running[name] += 1
            assert running[name] == 1
            together.wait()  # is passed only when both repositories run at the same time
            running[name] -= 1

        for _ in range(3):
            dispatcher.queues["shop"].append(lambda: work("shop"))
            dispatcher.queues["blog"].append(lambda: work("blog"))
        workers = Workers(dispatcher, ["shop", "blog"], nothing)
        workers.start()
        await until(lambda: len(dispatcher.ran) == 6)
        assert await workers.stop(DEADLINE)
        workers.close()

    asyncio.run(scenario())


def test_what_a_former_gateway_left_queued_is_run_at_the_start() -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        dispatcher.queues["shop"].append(nothing)
        workers = Workers(dispatcher, ["shop"], nothing)
        workers.start()
        await until(lambda: dispatcher.ran == ["shop"])
        await workers.stop(DEADLINE)
        workers.close()

    asyncio.run(scenario())


def test_a_failure_of_the_gateway_itself_does_not_end_a_worker() -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()

        def fail() -> None:
            raise RuntimeError("disk is full")

        dispatcher.queues["shop"].extend([fail, nothing])
        workers = Workers(dispatcher, ["shop"], nothing)
        workers.start()
        await until(lambda: len(dispatcher.queues["shop"]) == 1)
        workers.wake(["shop", "not served"])
        await until(lambda: dispatcher.ran == ["shop"])
        await workers.stop(DEADLINE)
        workers.close()

    asyncio.run(scenario())


def test_stopping_begins_nothing_new_and_says_whether_something_still_runs() -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        entered, go_on = threading.Event(), threading.Event()

        def slow() -> None:
            entered.set()
            go_on.wait(DEADLINE)

        dispatcher.queues["shop"].extend([slow, nothing])
        workers = Workers(dispatcher, ["shop"], nothing)
        workers.start()
        await until(entered.is_set)
        assert not await workers.stop(0.01)
        go_on.set()
        assert await workers.stop(DEADLINE)
        assert dispatcher.ran == ["shop"]
        assert len(dispatcher.queues["shop"]) == 1
        workers.close()

    asyncio.run(scenario())


def test_an_idle_worker_says_that_there_is_room() -> None:
    async def scenario() -> None:
        drained = []
        workers = Workers(RecordingDispatcher(), ["shop"], lambda: drained.append(1))
        workers.start()
        await until(lambda: drained)
        await workers.stop(DEADLINE)
        workers.close()

    asyncio.run(scenario())
