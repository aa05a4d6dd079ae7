"""When flags are taken: at once where a name is known, everything once a minute, and never in a frenzy."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from recording_dispatcher import RecordingDispatcher
from waiting import until

from gateway.schedule import word
from gateway.schedule.heartbeat import Heartbeat
from gateway.schedule.pickup import NAMES_MAX, Pickup


@asynccontextmanager
async def picking(dispatcher: RecordingDispatcher, state: Path, backstop: float = 60.0) -> AsyncIterator[Pickup]:
    """A running pick-up; `queued_seen`, `stuck_seen` and `over_seen` collect what it told."""
    heartbeat = Heartbeat({"sweep": 60.0})
    queued: list[str] = []
    stuck: list[int] = []
    over: list[bool] = []
    pickup = Pickup(
        dispatcher,
        state,
        heartbeat,
        queued=queued.extend,
        taken=over.append,
        stuck=lambda: stuck.append(1),
        backstop_seconds=backstop,
    )
    pickup.queued_seen, pickup.stuck_seen, pickup.heartbeat_seen, pickup.over_seen = queued, stuck, heartbeat, over
    task = asyncio.create_task(pickup.run())
    try:
        yield pickup
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        pickup.close()


def test_names_that_arrive_together_are_taken_together_in_order_and_their_repositories_woken(tmp_path: Path) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        dispatcher.queues["shop"].append(lambda: None)
        async with picking(dispatcher, tmp_path) as pickup:
            names = [f"git_add.{number}.flag".encode() for number in (3, 1, 2)]
            for name in (*names, names[0]):
                pickup.arrived(name)
            await until(lambda: pickup.queued_seen == ["shop"])
        assert dispatcher.taken == [names]

    asyncio.run(scenario())


def test_whoever_follows_is_not_disturbed_by_a_sweep_that_finds_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        async with picking(dispatcher, tmp_path) as pickup:
            for happens in (
                pickup.sweep_soon,
                lambda: pickup.arrived(b"git_add.flag"),
                pickup.word_came,
                lambda: (dispatcher.left_behind.append((1, False)), pickup.sweep_soon()),
            ):
                before = len(pickup.over_seen)
                happens()
                await until(lambda: len(pickup.over_seen) > before)  # noqa: B023
            assert pickup.over_seen == [False, True, True, True]

    asyncio.run(scenario())


def test_b12_a_flag_that_arrives_during_a_take_is_taken_right_after_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        entered, go_on = threading.Event(), threading.Event()
        original = dispatcher.queued_repositories

        def slow() -> list[str]:
            entered.set()
            go_on.wait()
            return original()

        dispatcher.queued_repositories = slow
        async with picking(dispatcher, tmp_path) as pickup:
            pickup.arrived(b"git_add.flag")
            await until(entered.is_set)
            pickup.arrived(b"git_push.flag")
            go_on.set()
            await until(lambda: len(dispatcher.taken) == 2)
        assert dispatcher.taken[1] == [b"git_push.flag"]

    asyncio.run(scenario())


def test_b06_without_a_sweep_in_time_one_is_made_and_the_scheduler_is_set_right(tmp_path: Path) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        async with picking(dispatcher, tmp_path, backstop=0.02) as pickup:
            await until(lambda: dispatcher.sweeps >= 2)
            assert pickup.stuck_seen
            assert pickup.heartbeat_seen.as_data()["troubles"]["sweep missed"] >= 1

    asyncio.run(scenario())


def test_b12_a_sweep_that_left_flags_behind_goes_on_at_once_while_there_is_room(tmp_path: Path) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        dispatcher.left_behind.extend([(1000, True), (1000, True), (7, False)])
        async with picking(dispatcher, tmp_path) as pickup:
            pickup.sweep_soon()
            await until(lambda: dispatcher.sweeps == 3)
            assert not dispatcher.left_behind

    asyncio.run(scenario())


def test_a_sweep_that_found_no_room_waits_until_something_was_run(tmp_path: Path) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        dispatcher.left_behind.extend([(0, True), (5, False)])
        async with picking(dispatcher, tmp_path) as pickup:
            pickup.sweep_soon()
            await until(lambda: len(dispatcher.left_behind) == 1)
            pickup.arrived(b"git_status.flag")
            await until(lambda: len(dispatcher.taken) == 2)
            assert dispatcher.sweeps == 1
            pickup.room_again()
            await until(lambda: not dispatcher.left_behind)

    asyncio.run(scenario())


def test_room_that_comes_while_a_sweep_finds_none_is_used_at_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        dispatcher.left_behind.extend([(0, True), (5, False)])
        entered, go_on = threading.Event(), threading.Event()
        original = dispatcher.more_waiting

        def slow() -> bool:
            entered.set()
            go_on.wait()
            return original()

        dispatcher.more_waiting = slow
        async with picking(dispatcher, tmp_path) as pickup:
            pickup.sweep_soon()
            await until(entered.is_set)
            pickup.room_again()
            go_on.set()
            await until(lambda: dispatcher.sweeps == 2)

    asyncio.run(scenario())


def test_a_flag_that_arrives_as_a_sweep_is_due_is_taken_by_name_for_the_sweep_leaves_what_is_fresh(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        async with picking(dispatcher, tmp_path) as pickup:
            pickup.arrived(b"git_status.flag")
            pickup.sweep_soon()
            await until(lambda: len(dispatcher.taken) == 2)
        assert dispatcher.taken == [None, [b"git_status.flag"]]

    asyncio.run(scenario())


def test_d03_more_names_than_are_remembered_become_a_sweep_and_another_one_when_they_have_settled(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        async with picking(dispatcher, tmp_path) as pickup:
            for number in range(NAMES_MAX + 1):
                pickup.arrived(f"git_status.{number}.flag".encode())
            await until(lambda: dispatcher.sweeps == 2)
        first, named, second = dispatcher.taken
        assert (first, len(named or ()), second) == (None, NAMES_MAX, None)

    asyncio.run(scenario())


def test_a_failing_take_is_tried_again_and_counted(tmp_path: Path) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        dispatcher.fail = RuntimeError("the database is away")
        async with picking(dispatcher, tmp_path, backstop=0.01) as pickup:
            await until(lambda: dispatcher.sweeps)
            dispatcher.fail = None
            await until(lambda: dispatcher.sweeps >= 2)
            assert pickup.heartbeat_seen.as_data()["troubles"]["sweep failed"] == 1

    asyncio.run(scenario())


def test_a_flag_whose_take_failed_is_looked_for_soon_and_not_at_the_next_full_minute(tmp_path: Path) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        dispatcher.queues["shop"].append(lambda: None)
        dispatcher.fail = RuntimeError("the database is busy")
        async with picking(dispatcher, tmp_path) as pickup:
            pickup.arrived(b"git_status.flag")
            await until(lambda: dispatcher.taken)
            dispatcher.fail = None
            await until(lambda: pickup.queued_seen == ["shop"])
        assert dispatcher.taken == [[b"git_status.flag"], None]

    asyncio.run(scenario())


@pytest.mark.parametrize("passes", range(5))
def test_being_told_to_end_is_heard_also_in_the_moment_in_which_a_flag_arrives(tmp_path: Path, passes: int) -> None:
    async def scenario() -> None:
        pickup = Pickup(RecordingDispatcher(), tmp_path, Heartbeat({}), queued=print, taken=print, stuck=print)
        task = asyncio.create_task(pickup.run())
        await asyncio.sleep(0.01)  # until it waits
        pickup.arrived(b"git_status.flag")
        for _ in range(passes):
            await asyncio.sleep(0)
        task.cancel()
        try:
            await until(task.done)
        finally:
            task.cancel()
            pickup.close()

    asyncio.run(scenario())


def test_flags_are_taken_in_a_thread_of_their_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        async with picking(dispatcher, tmp_path) as pickup:
            pickup.sweep_soon()
            await until(lambda: dispatcher.sweeps)
        assert dispatcher.threads == {"pickup_0"}

    asyncio.run(scenario())


def test_what_another_process_decided_is_answered_once_and_what_waits_for_it_is_run(tmp_path: Path) -> None:
    async def scenario() -> None:
        dispatcher = RecordingDispatcher()
        async with picking(dispatcher, tmp_path) as pickup:
            dispatcher.queues["shop"].append(lambda: None)
            word.send(tmp_path, "fix-1")
            word.send(tmp_path, word.CONTROLS)
            pickup.word_came()
            await until(lambda: pickup.queued_seen == ["shop"])
            pickup.sweep_soon()
            await until(lambda: dispatcher.sweeps == 1)
        assert (dispatcher.answered, dispatcher.published) == (["fix-1"], 1)

    asyncio.run(scenario())
