"""Alerts as they stand in the chat: few of them whatever flickers, and none that reached nobody."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from bot_api import BotApi, SwiftClock, error
from notifier_scene import Scene
from scenes import PATIENT, until

from gateway.telegram import upkeep
from gateway.telegram.alerts import HOLD_SECONDS
from gateway.telegram.desk import Desk
from gateway.telegram.unreachable import Reach
from gateway.telegram.upkeep import Upkeep, glance

BEGINS = "git hangs"


class Minutes:
    """A clock that only the test turns; that of the delivery runs by itself."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(f"nobody sleeps {seconds} s in a single round")


def test_a35_what_goes_up_and_down_each_minute_for_two_hours_is_told_at_once_and_three_times_at_most(
    world: Scene, clock: SwiftClock
) -> None:
    troubles: dict[str, str] = {}
    desk = replace(world.desk, troubles=lambda: dict(troubles))

    async def whole() -> None:
        async with world.following(clock, PATIENT) as notifier:
            minutes = Minutes()
            chat = Upkeep(desk, notifier, minutes, Reach)
            for minute in range(120):
                troubles.clear()
                if minute % 2 == 0:
                    troubles["running in shop"] = f"{BEGINS}, for the {minute}th time"
                minutes.now = 60.0 * minute
                await chat.round()
                if minute == 0:
                    await until(lambda: told(world))
            minutes.now += HOLD_SECONDS
            troubles["another"] = "so that there is something to wait for"
            await chat.round()
            await until(lambda: any("something to wait for" in text for text in world.texts()))

    asyncio.run(whole())
    assert 1 <= len(told(world)) <= 2
    assert sum("running in shop" in text for text in world.texts()) <= 3


def test_a35_an_alert_that_reached_nobody_is_told_when_somebody_can_be_reached(
    world: Scene, clock: SwiftClock, api: BotApi
) -> None:
    api.always("sendMessage", error(403, "Forbidden: bot was kicked from the supergroup chat"))
    desk = replace(world.desk, troubles=lambda: {"running in shop": BEGINS})

    async def whole() -> None:
        async with world.following(clock, PATIENT) as notifier:
            minutes = Minutes()
            chat = Upkeep(desk, notifier, minutes, Reach)
            await chat.round()
            await until(lambda: notifier.gone_since is not None)
            api.always("sendMessage", None)

            async def rounds() -> None:
                while not told(world):
                    minutes.now += 15.0
                    await chat.round()
                    await asyncio.sleep(0.01)

            await asyncio.wait_for(rounds(), 60)
            for _ in range(3):
                minutes.now += 15.0
                await chat.round()

    asyncio.run(whole())
    assert len(told(world)) == 1


def test_the_record_is_left_alone_until_there_is_news_or_somebody_waits(
    world: Scene, clock: SwiftClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []
    minutes = Minutes()

    def noted(desk: Desk) -> tuple[int, bool]:
        looks.append(minutes.now)
        return glance(desk)

    monkeypatch.setattr(upkeep, "glance", noted)

    async def whole() -> None:
        async with world.following(clock, PATIENT) as notifier:
            chat = upkeep.Upkeep(world.desk, notifier, minutes, Reach)

            async def three_minutes() -> list[float]:
                looks.clear()
                for _ in range(12):
                    await chat.round()
                    minutes.now += upkeep.ROUND_SECONDS
                return list(looks)

            assert await three_minutes() == [0.0]
            assert await three_minutes() == []
            world.ask("asked")
            chat.nudge()
            assert await three_minutes() == [360.0, 420.0, 480.0]

    asyncio.run(whole())


def told(world: Scene) -> list[str]:
    """The messages that say that it has begun."""
    return [text for text in world.texts() if BEGINS in text]
