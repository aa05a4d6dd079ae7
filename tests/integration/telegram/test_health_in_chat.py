"""What operators ask to be looked at in the chat: looked at then, told in full, and no press waits for it."""

from __future__ import annotations

import asyncio
import threading

import pytest
from bot_api import SwiftClock
from notifier_scene import Scene
from scenes import PATIENT, client, until

from executor.errors import Refused
from executor.health.gateway import Said
from executor.health.report import Report
from executor.laravel.config import LaravelConfig, SqlSource
from executor.outcome import State
from executor.policy.model import Operation
from executor.record import requests
from executor.record.forms import Form
from executor.record.requests import NewRequest
from gateway.telegram import operator_acts, queue_reply, replies
from gateway.telegram.card_model import Card
from gateway.telegram.desk import Desk
from gateway.telegram.update_facts import facts_of
from gateway.telegram.updates import Updates

PATIENCE = 60.0


def say(world: Scene, clock: SwiftClock, *sayings: str, meanwhile: threading.Event | None = None) -> None:
    """Let an operator say things one after the other, until each has its answer; then `meanwhile` is set."""

    async def whole() -> None:
        async with world.following(clock, PATIENT) as notifier, client(world.api) as transport:
            assert world.delivery is not None
            updates = Updates(
                world.desk, world.place, world.delivery, notifier, general_too=lambda: False, bot_name=lambda: ""
            )
            ann = world.api.person(11, "Ann", "ann")
            for saying in sayings:
                ann.says(world.group, saying)
            for update in await transport.get_updates(None):
                await updates.handle(facts_of(update))
            if meanwhile is not None:
                await until(lambda: any("/freeze" in text for text in world.texts()))
                meanwhile.set()
            await updates.finish()

    asyncio.run(whole())


def test_health_is_told_in_full_with_what_mends_it(world: Scene, clock: SwiftClock) -> None:
    say(world, clock, "/health")

    (card,) = [text for text in world.texts() if "disk shared directory" in text]
    assert "the repository cannot be served (not_adopted)" in card
    assert "→" in card


def test_what_is_said_after_health_need_not_wait_for_it(
    world: Scene, clock: SwiftClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    checks = world.desk.dispatcher.health_checks
    look = checks.look

    def hang(said: Said | None = None) -> Report:
        assert go_on.wait(PATIENCE), "what was said next waited for the health check"
        return look(said)

    monkeypatch.setattr(checks, "look", hang)
    say(world, clock, "/health", "/help", meanwhile=go_on)

    assert any("disk shared directory" in text for text in world.texts())


def test_what_is_said_after_queue_need_not_wait_for_the_count(
    world: Scene, clock: SwiftClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    def hang(_desk: Desk) -> Card:
        assert go_on.wait(PATIENCE), "what was said next waited for the count"
        return replies.done(world.desk.place, "counted")

    monkeypatch.setattr(queue_reply, "answer", hang)
    monkeypatch.setattr(type(world.desk.settings), "laravel", LaravelConfig(("emails",), SqlSource("sqlite://")))
    say(world, clock, "/queue", "/help", meanwhile=go_on)

    assert any("counted" in text for text in world.texts())


@pytest.mark.parametrize("operation", [Operation.RESTART_QUEUE, Operation.HEALTH_CHECK])
def test_a_request_to_the_host_itself_is_undone_in_no_repository(world: Scene, operation: Operation) -> None:
    dispatcher = world.desk.dispatcher
    with dispatcher.store.transaction() as tx:
        new = NewRequest(
            id="h1", operation=operation, repo="", form=Form.FLAG, text="", identity="h1", state=State.QUEUED
        )
        requests.insert_one(tx, new)
    with pytest.raises(Refused, match="concerned the host and no repository"):
        operator_acts.undo_request(dispatcher, "h1", "tg:11")
