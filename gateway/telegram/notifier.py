"""Keeps the chat true to the record: each card as the record has it now, each notice once, nothing lost.

One loop. It looks at the next stretch of the audit log, draws what should stand in the chat, and delivers what does
not. Only when all of a stretch stands there does the cursor move on, so after a crash or an outage of any length the
rest is drawn anew. What waits for operators is looked at each time, ahead of everything.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from loguru import logger

from executor.errors import Problem, Unavailable
from executor.outcome import State
from executor.policy.model import Operation
from gateway.telegram import drawing, standing
from gateway.telegram.batches import Batch, Notice, next_batch
from gateway.telegram.cards import reminder
from gateway.telegram.clock import Clock
from gateway.telegram.desk import Desk
from gateway.telegram.drawing import Drawn
from gateway.telegram.failures import Lost
from gateway.telegram.outgoing import Delivered, Kind, Outcome, Outgoing, Priority, Uncertain, Vanished
from gateway.telegram.place_in_chat import PlaceInChat
from gateway.telegram.send import Delivery

LOOK_SECONDS = 60.0  # between two looks without news, while anything waits for an answer or for another try
QUIET_SECONDS = 600.0  # the same while nothing does: what other processes write is news, found once a minute
ONCE_MORE_SECONDS = 1.0  # after news
GATHER_SECONDS = 0.1  # after the first news, for what comes with it
SETTLE_SECONDS = 1.5  # after a decision: what is done by then is one edit, and edits count where messages are counted
ROUTINE_SECONDS = 30.0  # between two messages that only tell of routine
FLOOD_SECONDS = 300.0  # the same while there is a flood of what would make a sound at other times
ALARM_SECONDS = 600.0  # between two alarms about suspicious flags; what comes in between is told without a sound
AGAIN_SECONDS = 60.0  # until something that could not be delivered is tried again
UNDER_WAY_MAX = 6  # messages that are not urgent; what stands in a queue grows old there


class Notifier:
    """The loop. `nudge` may be called whenever something may have happened; it is cheap and from the loop only."""

    def __init__(self, desk: Desk, delivery: Delivery, place: PlaceInChat, clock: Clock) -> None:
        self._desk, self._delivery, self._place, self._clock = desk, delivery, place, clock
        self._news = asyncio.Event()
        self._open = True  # something waits for an answer, or is not in the chat yet
        self._cursor: int | None = None
        self._batch: Batch | None = None
        self._seen = 0  # the last event that is known to be nothing but routine, to be told a little later
        self._untold: list[Notice] = []  # of the batch
        self._under_way: dict[
            str, tuple[str, asyncio.Task[object]]
        ] = {}  # key -> digest of the content, its delivery
        self._not_before: dict[str, float] = {}
        self._routine_from = 0.0  # when routine is told next
        self._alarmed_until = 0.0
        self.gone_since: float | None = None  # monotonic; the chat is known to be closed to us

    def nudge(self) -> None:
        """Say that there may be news."""
        self._news.set()

    async def run(self) -> None:
        """Keep the chat true until cancelled. The record not being there is waited out.

        News of a commit can come a moment before the commit itself, so after news there is one more look.
        """
        patience = 0.0
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience):  # wait_for can lose a cancellation that comes with the news
                    await self._news.wait()
                await asyncio.sleep(GATHER_SECONDS)
            heard = self._news.is_set()
            self._news.clear()
            try:
                await self.look()
            except Problem as problem:
                logger.warning("the chat cannot follow the record now: {}", problem)
                await asyncio.sleep(ONCE_MORE_SECONDS)
            patience = ONCE_MORE_SECONDS if heard else LOOK_SECONDS if self._open else QUIET_SECONDS

    async def look(self) -> None:
        """Bring the chat up to the record, as far as that goes without waiting for Telegram."""
        self._open = True
        if self._cursor is None:
            self._cursor = await self._desk.call(standing.first_cursor, self._desk)
        if self._batch is None:
            await self._open_batch(self._cursor)
        subjects = self._batch.subjects if self._batch else ()
        waiting = await self._desk.call(standing.waiting_subjects, self._desk)
        drawn = await self._desk.call(drawing.draw, self._desk, [*waiting, *subjects], self._place.chat)
        for one in sorted(drawn, key=lambda one: not one.asked):
            await self._follow(one)
        if self._batch is not None:
            await self._tell_rest()
            unsettled = {one.subject for one in drawn if one.is_due} & set(subjects)
            if not unsettled and not self._untold and not self._notices_under_way():
                await self._close_batch(self._batch)
        self._open = bool(waiting or self._batch or self._not_before or self._under_way)

    async def say(self, notice: Notice, priority: Priority = Priority.CARD, reply_to: int | None = None) -> Outcome:
        """Put a message into the chat that is not a request's card, with its files; return what became of it."""
        return await self._send(notice, priority, reply_to)

    def start(self, key: str, work: Coroutine[Any, Any, object]) -> None:
        """Let a delivery go on by itself, to be waited for only at the end."""
        self._start(key, key, work)

    async def settle(self) -> None:
        """Wait until nothing is under way any more."""
        while self._under_way:
            await asyncio.gather(*(task for _, task in self._under_way.values()), return_exceptions=True)

    async def _open_batch(self, cursor: int) -> None:
        """Take up the next stretch; of routine alone there is one message in a while, whatever comes in between."""
        now, waited = self._clock.monotonic(), self._seen > cursor
        wait = max(self._routine_from - now, 0.0)
        news = await (self._news_after(max(cursor, self._seen)) if wait else self._news_after(cursor, waited=waited))
        if news is not None and wait:
            if news.routine and news.notices:
                self._seen = news.upto
                asyncio.get_running_loop().call_later(wait, self.nudge)
                return
            if waited:
                news = await self._news_after(cursor, waited=True)
        if news is None:
            return
        if any(notice.silent for notice in news.notices):
            self._routine_from = now + (FLOOD_SECONDS if news.flood else ROUTINE_SECONDS)
        if news.alarms:
            self._alarmed_until = now + ALARM_SECONDS
        self._batch, self._untold = news, list(news.notices)

    async def _news_after(self, event: int, *, waited: bool = False) -> Batch | None:
        alarmed = self._clock.monotonic() < self._alarmed_until
        return await self._desk.call(next_batch, self._desk, event, waited=waited, alarmed=alarmed)

    async def _close_batch(self, batch: Batch) -> None:
        await self._desk.call(standing.note_cursor, self._desk, batch.upto)
        self._cursor, self._batch = batch.upto, None
        self.nudge()  # there may be more

    async def _follow(self, one: Drawn) -> None:
        """Deliver a card if something else stands in the chat, unless that is under way already."""
        under_way = self._under_way.get(one.subject)
        if not one.is_due or not self._may_go(one.subject, urgent=one.decided):
            return
        if (unsettled := _unsettled(one)) > 0:
            asyncio.get_running_loop().call_later(unsettled, self.nudge)
            return
        if under_way is not None and (under_way[0] == one.digest or one.stands.message_id is None):
            return  # a first message is not sent twice: it is edited as soon as it stands there
        item = await self._desk.call(drawing.outgoing, self._desk, one, self._place.topic)
        priority = Priority.APPROVAL if one.asked else Priority.DECIDED if one.decided else Priority.CARD
        self._start(one.subject, one.digest, self._deliver(one, item, priority))

    async def _deliver(self, one: Drawn, item: Outgoing, priority: Priority) -> None:
        outcome = await self._outcome(item, priority)
        stands = await self._desk.call(standing.after_delivery, self._desk, one, outcome)
        if not isinstance(outcome, Delivered):
            self._hold(one.subject, outcome)
            return
        self.gone_since = None
        if stands.message_id is None or not one.asked or one.asked == one.stands.asked:
            return
        for file in drawing.files_of(one.card, one.subject, outcome.chat, self._place.topic, stands.message_id):
            await self._delivery.put(file, Priority.DECIDED)  # after the questions about other requests
        if item.kind is Kind.EDIT and one.asks is not None:  # asked again, and an edit makes no sound
            again = Notice(f"_again:{one.asked}", reminder(self._desk.place, one.asks, _left(one)))
            await self._send(again, priority, stands.message_id)

    def _hold(self, key: str, outcome: Outcome) -> None:
        """After a delivery that came to nothing: note if the chat is closed to us, and try again later.

        A message that somebody deleted is no reason to wait: the next one of its card is a new message.
        """
        if isinstance(outcome, Vanished) and outcome.what is Lost.MESSAGE:
            return
        if isinstance(outcome, Vanished) and outcome.what is Lost.CHAT and self.gone_since is None:
            self.gone_since = self._clock.monotonic()
            logger.warning("the operators' chat is closed to the bot: {}", outcome.reason)
        if isinstance(outcome, Uncertain | Vanished):
            self._not_before[key] = self._clock.monotonic() + AGAIN_SECONDS

    async def _tell_rest(self) -> None:
        for notice in list(self._untold):
            if self._may_go(notice.key, urgent=False):
                self._untold.remove(notice)
                self._start(notice.key, notice.key, self._tell(notice))

    async def _tell(self, notice: Notice) -> None:
        outcome = await self._send(notice, Priority.ROUTINE if notice.silent else Priority.CARD, None)
        if isinstance(outcome, Vanished | Uncertain):
            self._hold(notice.key, outcome)
            self._untold.append(replace(notice, repeat=notice.repeat or isinstance(outcome, Uncertain)))

    async def _send(self, notice: Notice, priority: Priority, reply_to: int | None) -> Outcome:
        keyboard = await self._desk.call(standing.keyboard, self._desk, notice.key, notice.card)
        item = Outgoing(
            key=notice.key,
            kind=Kind.SEND,
            chat=self._place.chat,
            html=notice.card.html,
            plain=notice.card.plain,
            buttons=keyboard,
            topic=self._place.topic,
            reply_to=reply_to,
            silent=notice.silent,
            reply_hint=notice.card.reply_hint,
            important=notice.important,
            repeat=notice.repeat,
        )
        outcome = await self._outcome(item, priority)
        if isinstance(outcome, Delivered):
            self.gone_since = None
            files = drawing.files_of(notice.card, notice.key, outcome.chat, self._place.topic, outcome.message_id)
            for file in files:
                await self._delivery.put(file, priority)
        return outcome

    async def _outcome(self, item: Outgoing, priority: Priority) -> Outcome:
        try:
            return await (await self._delivery.put(item, priority))
        except Unavailable as stopping:
            return Uncertain(stopping.message)

    def _may_go(self, key: str, *, urgent: bool) -> bool:
        if self._clock.monotonic() < self._not_before.get(key, 0.0):
            return False
        self._not_before.pop(key, None)
        if urgent or key in self._under_way:
            return True
        return len(self._under_way) < UNDER_WAY_MAX and not (self._delivery.problem and self._under_way)

    def _start(self, key: str, digest: str, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(work, name=f"chat {key}")
        self._under_way[key] = (digest, task)
        task.add_done_callback(lambda done: self._ended(key, done))

    def _ended(self, key: str, task: asyncio.Task[object]) -> None:
        if self._under_way.get(key, ("", None))[1] is task:
            del self._under_way[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.opt(exception=error).error("{} was not delivered", key)
            self._not_before[key] = self._clock.monotonic() + AGAIN_SECONDS
        self.nudge()

    def _notices_under_way(self) -> bool:
        return self._batch is not None and any(notice.key in self._under_way for notice in self._batch.notices)


def _unsettled(one: Drawn) -> float:
    """Return how many seconds to wait, after a yes, for what comes of it. A recovery is watched step by step."""
    story = one.story
    if story is None or story.request.state not in (State.QUEUED, State.RUNNING):
        return 0.0
    if story.request.operation is Operation.GIT_RECOVER:
        return 0.0
    if story.approval is None or story.approval.decided_at is None:
        return 0.0
    since = (datetime.now(UTC) - datetime.fromisoformat(story.approval.decided_at)).total_seconds()
    return SETTLE_SECONDS - since if since >= 0 else 0.0


def _left(one: Drawn) -> float:
    """Return how many seconds there are to answer."""
    expires = one.story.approval.expires_at if one.story is not None and one.story.approval else ""
    return (datetime.fromisoformat(expires) - datetime.now(UTC)).total_seconds()
