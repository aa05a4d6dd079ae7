"""Delivers to the chat: in order per card, decisions first, no faster than Telegram allows. The one retry layer.

What waits here is small and kept in memory only: the durable outbox is the audit log, from which the same would be
rendered again after a restart. So nothing is dropped here either; whoever puts too much waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from loguru import logger

from executor.errors import Unavailable
from gateway.telegram.attempts import Again, Over, Scope, backoff, next_step, plain_of, text_of
from gateway.telegram.clock import Clock
from gateway.telegram.failures import Ambiguous, CallFailed, Flood, NotDone, Unauthorised
from gateway.telegram.line import Entry, Line
from gateway.telegram.outgoing import Declined, Delivered, Kind, Outcome, Outgoing, Priority, Uncertain
from gateway.telegram.transport import Sent, Transport
from gateway.telegram.update_facts import topic_of

CAPACITY = 32  # items; decisions are let in beyond that
TOPIC_RETRY = 600.0  # s until a topic that was gone is tried again (A22)
ANSWER_WAITS = (0.5, 2.0)  # s between the tries to answer a press, which Telegram forgets after some 15 s
ANSWER_MAX = 200  # characters, Bot API


class Delivery:
    """The queue to Telegram. `moved` is told (old, new) when Telegram says that a chat has a new id (A20)."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        *,
        capacity: int = CAPACITY,
        moved: Callable[[int, int], None] = lambda _old, _new: None,
    ) -> None:
        self._transport, self._clock, self._capacity, self._tell_moved = transport, clock, capacity, moved
        self._line = Line()
        self._topics_gone: dict[tuple[int, int], float] = {}  # until when they are not tried
        self._unreached = 0  # calls in a row that Telegram did not answer
        self._wake = asyncio.Event()
        self._changed = asyncio.Condition()
        self._closed = False
        self.problem = ""  # why nothing goes at the moment; empty if all is well
        self.last_success: float | None = None  # monotonic

    @property
    def waiting(self) -> int:
        """How many items are not done yet."""
        return len(self._line)

    def topic_is_gone(self, chat: int, topic: int | None) -> bool:
        """Say whether what is meant for this topic goes to the main chat at present (A22)."""
        number = topic_of(topic)
        return number is not None and self._clock.monotonic() < self._topics_gone.get((chat, number), 0.0)

    async def put(self, item: Outgoing, priority: Priority = Priority.ROUTINE) -> asyncio.Future[Outcome]:
        """Queue `item`; return what will hold its outcome. Waits while the queue is full, but not for a decision.

        A message or an edit that has not begun is replaced by a newer one of the same card, and then its outcome is
        Superseded. Raise Unavailable after `close`.
        """
        result: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        if not self._line.supersede(item, priority, result):
            async with self._changed:
                await self._changed.wait_for(lambda: self._closed or self._has_room(priority))
            if self._closed:
                raise Unavailable("telegram_stopped", "nothing more is sent: the gateway is stopping")
            if not self._line.supersede(item, priority, result):  # others may have put meanwhile
                self._line.add(item, priority, result)
        self._wake.set()
        return result

    def _has_room(self, priority: Priority) -> bool:
        return priority <= Priority.DECIDED or self._line.waiting < self._capacity

    async def answer(self, query_id: str, text: str = "", *, alert: bool = False) -> bool:
        """Answer a press at once, ahead of everything that waits. Never raises: what was decided counts all the same.

        Return whether the answer was seen to arrive (A15).
        """
        for wait in (*ANSWER_WAITS, None):
            try:
                await self._transport.answer(query_id, text[:ANSWER_MAX], alert=alert)
            except (NotDone, Ambiguous, Flood) as failure:
                logger.debug("a press is not answered yet: {}", failure)
                if wait is not None:
                    await self._clock.sleep(wait)
            except CallFailed as failure:
                logger.debug("a press cannot be answered: {}", failure)
                return False
            else:
                return True
        return False

    async def run(self) -> None:
        """Deliver until cancelled. What is under way then ends as Uncertain, and what waits is cancelled."""
        try:
            async with asyncio.TaskGroup() as calls:
                while True:
                    entry, wait = self._line.take(self._clock.monotonic())
                    if entry is None:
                        await self._rest(wait)
                    else:
                        calls.create_task(self._carry(entry))
        finally:
            self._closed = True
            self._line.abandon()

    async def close(self, grace: float) -> None:
        """Take nothing more, and wait up to `grace` seconds for what there is; then `run` may be cancelled."""
        self._closed = True
        try:
            async with asyncio.timeout(grace), self._changed:
                self._changed.notify_all()
                await self._changed.wait_for(lambda: not self._line)
        except TimeoutError:
            logger.info("{} messages are not delivered; they are rendered anew at the next start", self.waiting)

    async def _rest(self, seconds: float | None) -> None:
        """Wait for news, for so long at most."""
        self._wake.clear()
        waits: list[asyncio.Task[object]] = [asyncio.create_task(self._wake.wait())]
        if seconds is not None:
            waits.append(asyncio.create_task(self._clock.sleep(seconds)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _carry(self, entry: Entry) -> None:
        """Make one attempt at `entry`, and do what follows from how it went."""
        try:
            try:
                sent = await self._attempt(entry)
            except CallFailed as failure:
                self._after(entry, failure)
            else:
                self._delivered(entry, sent)
        except asyncio.CancelledError:
            entry.finish(Uncertain("the gateway stopped while it was being sent"))
            raise
        except Exception as error:  # noqa: BLE001 (a bug in one item must not end the delivery of all others)
            logger.opt(exception=error).error("{} cannot be sent", entry.item.key)
            self._over(entry, Declined(f"a bug: {type(error).__name__}"))
        self._wake.set()
        async with self._changed:
            self._changed.notify_all()

    async def _attempt(self, entry: Entry) -> Sent:
        item, chat = entry.item, self._line.chat_of(entry.item)
        if self.topic_is_gone(chat, item.topic):
            entry.form = replace(entry.form, general=True)
        topic = None if entry.form.general else item.topic
        text, html = text_of(item, entry.form)
        message_id = item.message_id or 0
        match item.kind:
            case Kind.SEND:
                return await self._transport.send(
                    chat,
                    text,
                    topic=topic,
                    buttons=item.buttons,
                    reply_to=item.reply_to,
                    reply_hint=item.reply_hint,
                    silent=item.silent,
                    html=html,
                )
            case Kind.EDIT:
                return await self._transport.edit(chat, message_id, text, buttons=item.buttons, html=html)
            case Kind.DELETE:
                await self._transport.delete(chat, message_id)
                return Sent(chat, message_id)
            case Kind.DOCUMENT | Kind.PHOTO:
                return await self._transport.document(
                    chat,
                    item.file_name,
                    item.content,
                    caption=text,
                    topic=topic,
                    reply_to=item.reply_to,
                    silent=item.silent,
                    html=html,
                    as_photo=item.kind is Kind.PHOTO,
                )

    def _delivered(self, entry: Entry, sent: Sent) -> None:
        self._reached()
        item, form = entry.item, entry.form
        topic = None if form.general else topic_of(item.topic)
        if topic is not None:
            self._topics_gone.pop((sent.chat_id, topic), None)
        self._line.shown(entry, sent.message_id)
        self._over(entry, Delivered(sent.chat_id, sent.message_id, topic, form.marked))
        if form.cut and not item.kind.is_file:
            whole = Outgoing(
                item.key,
                Kind.DOCUMENT,
                item.chat,
                topic=item.topic,
                reply_to=sent.message_id,
                silent=True,
                file_name="message.txt",
                content=plain_of(item).encode(),
            )
            self._line.add(whole, entry.priority, asyncio.get_running_loop().create_future())

    def _after(self, entry: Entry, failure: CallFailed) -> None:
        """Do what follows from a failed attempt."""
        step = next_step(entry.item, entry.form, failure)
        if isinstance(failure, NotDone | Ambiguous | Unauthorised):
            self._not_reached(failure.message)
        else:
            self._reached()
        if isinstance(step, Over):
            if not isinstance(step.outcome, Delivered):
                logger.warning("{} of {}: {}", entry.item.kind, entry.item.key, step.outcome)
            self._over(entry, step.outcome)
            return
        logger.debug("{} of {} is tried again: {}", entry.item.kind, entry.item.key, step.reason)
        self._hold(entry, step)
        now = self._clock.monotonic()
        self._line.put_back(entry, now + step.seconds if step.scope is Scope.ITEM else now)

    def _hold(self, entry: Entry, step: Again) -> None:
        """Let wait what has to wait, and note what the failure says about the chat."""
        now = self._clock.monotonic()
        chat, topic = self._line.chat_of(entry.item), topic_of(entry.item.topic)
        if step.moved_to is not None:
            logger.warning("the chat {} is {} from now on: change GATEWAY_TELEGRAM_CHAT_ID", chat, step.moved_to)
            self._line.moved(chat, step.moved_to)
            self._tell_moved(chat, step.moved_to)
        if step.form.general and not entry.form.general and topic is not None:
            logger.warning("topic {} is gone: its messages go to the main chat", topic)
            self._topics_gone[(chat, topic)] = now + TOPIC_RETRY
        if step.scope is Scope.CHAT:
            logger.warning("Telegram asks for {:.0f} s without messages to chat {}", step.seconds, chat)
            self._line.hold_chat(entry, now, step.seconds)
        elif step.scope is Scope.ALL:
            self._line.hold_all(now + max(step.seconds, backoff(self._unreached - 1)))
        entry.form = step.form

    def _not_reached(self, reason: str) -> None:
        if not self.problem:
            logger.warning("Telegram does not confirm messages: {}", reason)
        self.problem = reason
        self._unreached += 1

    def _reached(self) -> None:
        if self.problem:
            logger.info("Telegram is reached again")
        self.problem, self._unreached = "", 0
        self.last_success = self._clock.monotonic()

    def _over(self, entry: Entry, outcome: Outcome) -> None:
        if isinstance(outcome, Uncertain):
            self._line.unsure(entry)
        self._line.done(entry)
        entry.finish(outcome)
