"""The notifier brings the chat up to the record: whatever the weather, in order per card, nothing lost."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bot_api import BotApi, Fault, SwiftClock, error, flood, reset, server_error
from notifier_scene import Scene, scene
from scenes import IMPATIENT, PATIENT, until

from gateway.telegram.transport import Timeouts

REPEAT = "may be a repeat"
ORDER = ("Approve?", "Waits for its turn", "Running", "Done")


def follow(
    world: Scene, clock: SwiftClock, play: Callable[[], object] = lambda: None, timeouts: Timeouts = PATIENT
) -> None:
    """Let one process follow the record while `play` goes on, until the chat has caught up."""

    async def whole() -> None:
        async with world.following(clock, timeouts):
            await asyncio.to_thread(play)
            await world.caught_up()

    asyncio.run(whole())


def test_one_request_has_one_card_whatever_happens_to_it(world: Scene, clock: SwiftClock) -> None:
    def play() -> None:
        world.ask("tag-1")
        world.api.wait_until(lambda: world.cards_of("tag-1"))
        world.approve("tag-1")
        world.work("tag-1")

    follow(world, clock, play)
    (card,) = world.cards_of("tag-1")
    assert "Done" in card
    assert "Approved by" in card


def test_what_is_done_soon_after_a_yes_is_one_edit(
    world: Scene, clock: SwiftClock, api: BotApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.telegram.notifier.SETTLE_SECONDS", 3600.0)
    follow(world, clock, lambda: world.ask("tag-1"))
    follow(world, clock, lambda: (world.approve("tag-1"), time.sleep(0.5), world.work("tag-1")))
    with api.lock:
        (card,) = [message for message in world.group.from_bot() if "Request tag-1" in message.text]
    assert "Done" in card.text
    assert [text.split("?")[0] for text in card.earlier] == ["🟡 Approve"]


def test_a_restart_sends_nothing_that_stands_there_already(world: Scene, clock: SwiftClock, api: BotApi) -> None:
    follow(world, clock, lambda: world.ask("tag-1"))
    before = len(api.called("sendMessage"))
    follow(world, clock)
    assert len(api.called("sendMessage")) == before
    follow(world, clock, lambda: (world.approve("tag-1"), world.work("tag-1")))
    assert "Done" in world.cards_of("tag-1")[0]


def test_what_ended_unseen_is_told_together_when_there_is_much_of_it(world: Scene, clock: SwiftClock) -> None:
    follow(world, clock)
    for number in range(40):
        world.refuse(f"r{number}")
    follow(world, clock)
    told = [text for text in world.texts() if "r0" in text or "32 more" in text or "and 32" in text]
    assert told
    assert len(world.texts()) < 5


def test_flags_that_were_tampered_with_are_one_message_however_many(world: Scene, clock: SwiftClock) -> None:
    for number in range(30):
        world.refuse(f"link-{number}", "flag_is_symlink")
    follow(world, clock)
    (told,) = [text for text in world.texts() if "suspicious" in text]
    assert "30 flags" in told


def test_a_flood_of_refusals_makes_few_messages_and_no_sound_and_a_question_stands_out(
    world: Scene, clock: SwiftClock, api: BotApi
) -> None:
    """An agent that raises what is refused, again and again, cannot push a question out of sight."""

    async def whole() -> None:
        async with world.following(clock, PATIENT) as notifier:
            for number in range(80):
                await asyncio.to_thread(world.refuse, f"r{number}", "flag_is_symlink" if number % 2 else "never")
                clock.now += 7.0
                notifier.nudge()
                await asyncio.sleep(0.15)  # however many looks there are in it: fewer only make fewer messages
            await asyncio.to_thread(world.ask, "tag-1")
            await world.caught_up(clock)

    asyncio.run(whole())
    with api.lock:
        shown = world.group.from_bot()
    (question,) = [message for message in shown if "Request tag-1" in message.text]
    assert not question.silent
    assert sum(not message.silent for message in shown) < 20
    assert len(shown) < 30


def test_routine_is_a_line_and_quiet_leaves_out_what_went_well(
    tmp_path: Path, api: BotApi, clock: SwiftClock
) -> None:
    for quiet in (False, True):
        root = tmp_path / str(quiet)
        root.mkdir()
        with scene(root, api, quiet=quiet) as world:
            before = len(world.texts())
            world.routine("ok-1")
            follow(world, clock)
            lines = [text for text in world.texts()[before:] if text.startswith("✅ git")]
            assert len(lines) == (0 if quiet else 1)


def test_a10_an_uncertain_delivery_is_repeated_once_and_marked(world: Scene, clock: SwiftClock, api: BotApi) -> None:
    follow(world, clock)
    api.script("sendMessage", [reset(applied=True)])
    follow(world, clock, lambda: world.ask("tag-1"))
    first, second = world.cards_of("tag-1")
    assert REPEAT not in first
    assert REPEAT in second


def test_a20_pending_cards_follow_the_group_to_its_new_id(world: Scene, clock: SwiftClock, api: BotApi) -> None:
    follow(world, clock, lambda: world.ask("tag-1"))
    with api.lock:
        new = api.world.migrate(world.group, -100777)
    world.ask("tag-2")
    follow(world, clock)
    assert world.place.chat == -100777
    shown = [message.text for message in new.from_bot()]
    assert any("Request tag-2" in text for text in shown)


def test_a23_a_chat_that_is_closed_loses_nothing_until_it_is_open_again(
    world: Scene, clock: SwiftClock, api: BotApi
) -> None:
    api.always("sendMessage", error(403, "Forbidden: bot was kicked from the supergroup chat"))

    async def whole() -> None:
        async with world.following(clock, PATIENT) as notifier:
            world.ask("tag-1")
            notifier.nudge()
            await until(lambda: notifier.gone_since is not None)
            api.always("sendMessage", None)
            await world.caught_up(clock)

    asyncio.run(whole())
    assert len(world.cards_of("tag-1")) == 1


def test_a_card_that_somebody_deleted_comes_again_at_once_when_there_is_something_new_to_show(
    world: Scene, clock: SwiftClock, api: BotApi
) -> None:
    def delete_card() -> None:
        with api.lock:
            for message in world.group.from_bot():
                message.deleted = message.deleted or "Request tag-1" in message.text

    follow(world, clock, lambda: world.ask("tag-1"))
    delete_card()
    follow(world, clock, lambda: world.approve("tag-1"))
    follow(world, clock, lambda: world.work("tag-1"))
    (card,) = world.cards_of("tag-1")
    assert "Done" in card


@pytest.mark.parametrize("requests", [60, pytest.param(1_430, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_in_any_weather_nothing_is_lost_and_only_what_was_uncertain_comes_twice(
    requests: int, world: Scene, clock: SwiftClock, api: BotApi
) -> None:
    """Seven events a request; the larger case is ten thousand of them."""
    weather = random.Random(7)
    kinds: list[Fault | None] = [
        flood(3), server_error(), server_error(applied=True), reset(), reset(applied=True), error(502, "Bad Gateway"),
    ]  # fmt: skip
    api.weather = lambda method: (
        weather.choice(kinds) if method.startswith(("send", "edit")) and weather.random() < 0.2 else None
    )
    names = [f"tag-{number:04}" for number in range(requests)]

    def play() -> None:
        for start in range(0, requests, 20):
            part = names[start : start + 20]
            for name in part:
                world.ask(name)
            for name in part:
                world.approve(name)
                world.work(name)

    follow_patiently(world, clock, play)
    api.weather = lambda _method: None
    follow_patiently(world, clock, lambda: None)
    text = "\n".join(world.texts())
    only_counted = [name for name in names if name not in text]
    assert len(only_counted) <= _counted(text)
    for name in names:
        copies = world.cards_of(name)
        unmarked = [copy for copy in copies if REPEAT not in copy]
        assert len(unmarked) <= 1, copies
        assert not copies or "Done" in copies[-1], copies
    with api.lock:
        for message in world.group.from_bot():
            shown = [_place(each) for each in [*message.earlier, message.text]]
            known = [place for place in shown if place is not None]
            assert known == sorted(known), message.earlier


def follow_patiently(world: Scene, clock: SwiftClock, play: Callable[[], object]) -> None:
    """The same where catching up may take longer than one wait."""

    async def whole() -> None:
        async with world.following(clock, IMPATIENT):
            await asyncio.to_thread(play)
            for _ in range(20):
                with contextlib.suppress(TimeoutError):
                    await world.caught_up(clock)
                    return
            raise AssertionError("the chat never caught up")

    asyncio.run(whole())


def _place(text: str) -> int | None:
    first = text.split("\n", 1)[0]
    return next((number for number, word in enumerate(ORDER) if word in first), None)


def _counted(text: str) -> int:
    """How many requests are counted in messages that tell of many."""
    return sum(int(number) for number in re.findall(r"(\d+) routine request", text))
