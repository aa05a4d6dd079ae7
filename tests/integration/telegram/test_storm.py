"""10,000 states of cards through a server that fails at random: nothing lost, in order, repeats only where due."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from dataclasses import replace

import pytest
from bot_api import BotApi, Fault, SwiftClock, flood, reset, server_error, stall
from scenes import delivery, play

from gateway.telegram.outgoing import Delivered, Kind, Outgoing, Priority, Superseded, Uncertain
from gateway.telegram.send import Delivery
from gateway.telegram.transport import Timeouts

CHAT = -1001
BUSY = Timeouts(read=3.0)
FAULTS = [flood(7), server_error(), server_error(502, applied=True), reset(), reset(applied=True)]


class Weather:
    """Faults at random from a seed; counts those that lost the answer to a message which did arrive."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self.lost_answers = 1  # by the time-out below

    def __call__(self, method: str) -> Fault | None:
        with self._lock:
            chance = self._random.random()
            fault = self._random.choice(FAULTS) if chance < 0.12 else None
            self.lost_answers += method == "sendMessage" and fault is not None and fault.applied
            return fault


async def live(sending: Delivery, key: str, states: int) -> None:
    """Show every state of one card in turn, as a card is told its outcomes."""
    card = Outgoing(key, Kind.SEND, CHAT, f"{key} state 0", important=True)
    message_id = await shown(sending, card)
    for number in range(1, states):
        edit = replace(card, kind=Kind.EDIT, message_id=message_id, html=f"{key} state {number}")
        await shown(sending, edit)


async def shown(sending: Delivery, item: Outgoing) -> int:
    while True:
        outcome = await (await sending.put(item, Priority.CARD))
        if isinstance(outcome, Delivered):
            return outcome.message_id
        assert isinstance(outcome, Uncertain)
        item = replace(item, repeat=item.kind is Kind.SEND)


@pytest.mark.parametrize(
    ("cards", "states"), [(40, 15), pytest.param(200, 50, marks=[pytest.mark.slow, pytest.mark.timeout(600)])]
)
def test_a10_a12_a_storm_loses_nothing_and_repeats_only_what_was_uncertain(
    api: BotApi, clock: SwiftClock, cards: int, states: int
) -> None:
    chat = api.group()
    api.weather = weather = Weather(seed=cards)
    api.script("sendMessage", [stall(applied=True)])  # each costs a real time-out, so there are few
    api.script("editMessageText", [stall(applied=True), stall()])

    async def scene() -> None:
        async with delivery(api, clock, BUSY) as sending:
            await asyncio.gather(*(live(sending, f"card {number}", states) for number in range(cards)))

    play(scene)
    copies = Counter(message.text.partition(" state")[0] for message in chat.shown())
    assert len(copies) == cards
    for number in range(cards):
        *uncertain, last = [m for m in chat.shown() if m.text.startswith(f"card {number} state")]
        history = [int(text.split()[3]) for text in [*last.earlier, last.text]]
        assert history == list(range(states))
        assert all(message.earlier == [] for message in uncertain)
        assert "may be a repeat" in [*last.earlier, last.text][0] or not uncertain
    assert sum(copies.values()) - cards == weather.lost_answers


def test_many_states_at_once_come_to_the_newest_one(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()
    api.weather = Weather(seed=1)

    async def scene() -> None:
        async with delivery(api, clock, BUSY) as sending:
            message_id = await shown(sending, Outgoing("r1", Kind.SEND, CHAT, "state 0", important=True))
            edits = [
                await sending.put(Outgoing("r1", Kind.EDIT, CHAT, f"state {number}", message_id=message_id))
                for number in range(1, 500)
            ]
            outcomes = await asyncio.gather(*edits)
            assert all(isinstance(outcome, Superseded) for outcome in outcomes[:-1])
            assert isinstance(outcomes[-1], Delivered)

    play(scene)
    assert chat.shown()[-1].text == "state 499"
