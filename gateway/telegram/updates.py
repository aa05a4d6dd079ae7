"""What operators do in the chat, one update after the other: who it is, what is meant, and what is answered.

No policy here: `authorise` says who may speak, the record what may still be decided. A press is answered at once
and never waits for a message; what takes long goes on by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

from loguru import logger

from executor.errors import Problem
from executor.record import cards
from executor.record.cards import Button
from gateway.telegram import buttons, commands, replies, strangers, toasts
from gateway.telegram.authorise import Operator, Stranger, authorise, migration
from gateway.telegram.batches import Notice
from gateway.telegram.card_model import Card
from gateway.telegram.desk import Desk
from gateway.telegram.names import remember_name
from gateway.telegram.notifier import Notifier
from gateway.telegram.outgoing import Delivered, Priority
from gateway.telegram.place_in_chat import PlaceInChat
from gateway.telegram.send import Delivery
from gateway.telegram.update_facts import UpdateFacts

TOO_OLD_SECONDS = 600.0  # a command that waited longer was meant for another hour (A29)
TOAST_WITHIN = 2.0  # s: what a press came to is told in its answer if it is known by then
WORKING = "Working on it…"


class Updates:
    """Handles what comes. `bot_name` returns the bot's own name, "" while it is not known."""

    def __init__(
        self,
        desk: Desk,
        place: PlaceInChat,
        delivery: Delivery,
        notifier: Notifier,
        *,
        general_too: Callable[[], bool],
        bot_name: Callable[[], str],
    ) -> None:
        self._desk, self._place, self._delivery, self._notifier = desk, place, delivery, notifier
        self._general_too, self._bot_name = general_too, bot_name
        self._strangers = strangers.Strangers()
        self._tasks: set[asyncio.Task[object]] = set()

    async def handle(self, facts: UpdateFacts) -> None:
        """Do what an update asks for. Returns when a decision in it is recorded."""
        policy = self._place.policy_now(general_too=self._general_too())
        new_id = migration(facts, policy)
        if new_id is not None:
            self._place.moved(policy.chat_id, new_id)
            self._notifier.nudge()
            return
        match authorise(facts, policy):
            case Operator() as operator:
                await self._desk.call(remember_name, self._desk, operator)
                await (self._press if facts.query_id else self._message)(facts, operator)
            case Stranger() as stranger:
                await self._turn_away(facts, stranger)
            case ignored:
                logger.debug("an update is ignored: {}", ignored.why)

    async def finish(self) -> None:
        """Wait for the answers that are still on their way."""
        while self._tasks:  # one may begin another
            await asyncio.wait(self._tasks)

    async def _press(self, facts: UpdateFacts, operator: Operator) -> None:
        working = asyncio.create_task(
            self._desk.call(buttons.press, self._desk, facts.query_data, operator, facts.message_id)
        )
        done, _ = await asyncio.wait([working], timeout=TOAST_WITHIN)
        if not done:
            self._later(self._delivery.answer(facts.query_id, WORKING))
            self._later(self._pressed_slowly(working, facts))
            return
        effect = self._effect(working)
        self._desk.decided()
        self._later(self._delivery.answer(facts.query_id, effect.note, alert=effect.alert))
        self._show(effect, facts)

    async def _pressed_slowly(self, working: asyncio.Task[buttons.Effect], facts: UpdateFacts) -> None:
        """What a press came to that took too long for its answer: an alert becomes a message."""
        await asyncio.wait([working])
        effect = self._effect(working)
        self._desk.decided()
        self._show(effect, facts)
        if effect.alert:
            await self._answer(replies.done(self._desk.place, effect.note), facts)

    def _effect(self, working: asyncio.Task[buttons.Effect]) -> buttons.Effect:
        error = working.exception()
        if error is None:
            return working.result()
        logger.opt(exception=error).error("a press met a bug")
        return buttons.Effect(toasts.UNREACHABLE, alert=True)

    def _show(self, effect: buttons.Effect, facts: UpdateFacts) -> None:
        self._notifier.nudge()
        if effect.card is not None:
            self._later(self._ask(effect.card, effect.question, facts))

    async def _ask(self, card: Card, question: str, facts: UpdateFacts) -> None:
        message_id = await self._answer(card, facts)
        if question and message_id is not None:
            await self._desk.call(_asked_in, self._desk, question, message_id)

    async def _message(self, facts: UpdateFacts, operator: Operator) -> None:
        said = commands.read(facts.text, self._bot_name())
        now = datetime.now(UTC)
        if said is not None:
            age = facts.age(now)
            if age is None or age > TOO_OLD_SECONDS:
                self._later(self._answer(replies.too_old(self._desk.place, said[0], age or 0.0), facts))
                return
            doing = self._command(commands.Said(*said, operator, facts.update_id), facts)
            if said[0] in commands.SLOW:
                self._later(doing)
            else:
                await doing
        elif facts.reply_to is not None:
            question = await self._desk.call(_question_in, self._desk, facts.reply_to)
            if question is not None:
                await self._reason(question, facts, operator, now)

    async def _command(self, said: commands.Said, facts: UpdateFacts) -> None:
        try:
            card = await self._desk.call(commands.answer, self._desk, said)
        except Problem as problem:
            card = replies.went_wrong(self._desk.place, problem)
        self._desk.decided()
        self._notifier.nudge()
        if card is not None:
            self._later(self._answer(card, facts))

    async def _reason(self, question: Button, facts: UpdateFacts, operator: Operator, now: datetime) -> None:
        try:
            note = await self._desk.call(buttons.reply, self._desk, question, operator, facts.text, facts.date or now)
            card = replies.done(self._desk.place, note)
        except Problem as problem:
            card = replies.went_wrong(self._desk.place, problem)
        self._desk.decided()
        self._notifier.nudge()
        self._later(self._answer(card, facts))

    async def _turn_away(self, facts: UpdateFacts, stranger: Stranger) -> None:
        """Tell who may not that it was not counted, and record it, at a rate that nobody can raise."""
        if facts.query_id:
            self._later(self._delivery.answer(facts.query_id, toasts.NOT_AN_OPERATOR, alert=True))
        tried = "a button" if facts.query_id else facts.text
        tries = self._strangers.to_be_told(stranger.user_id, datetime.now(UTC).timestamp())
        if tries:
            await self._desk.call(strangers.record, self._desk, stranger, tried, tries)
            self._notifier.nudge()

    async def _answer(self, card: Card, facts: UpdateFacts) -> int | None:
        """Send an answer as a reply; return its message."""
        notice = Notice(f"_answer:{facts.update_id}", card, important=False)
        outcome = await self._notifier.say(notice, Priority.APPROVAL, facts.message_id)
        return outcome.message_id if isinstance(outcome, Delivered) else None

    def _later(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _question_in(desk: Desk, message_id: int) -> Button | None:
    with desk.store.reading() as view:
        return cards.question_in(view, message_id)


def _asked_in(desk: Desk, token: str, message_id: int) -> None:
    with desk.store.transaction() as tx:
        cards.asked_in(tx, token, message_id)
