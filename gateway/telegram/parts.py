"""The parts of the chat and how they are tied together: sending, hearing, following the record, keeping time."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta

from loguru import logger

from executor.record import cards
from gateway.telegram.authorise import ChatPolicy
from gateway.telegram.clock import RealClock
from gateway.telegram.desk import Desk
from gateway.telegram.failures import CallFailed
from gateway.telegram.notifier import Notifier
from gateway.telegram.place_in_chat import PlaceInChat
from gateway.telegram.polling import REMEMBERED, Polling, PollState
from gateway.telegram.replies import COMMANDS
from gateway.telegram.send import Delivery
from gateway.telegram.token_lock import TokenLock
from gateway.telegram.transport import Transport
from gateway.telegram.unreachable import Reach
from gateway.telegram.updates import Updates
from gateway.telegram.upkeep import Upkeep

INTRODUCE_AGAIN = 60.0  # s
_HANDLED = "updates"  # numbers of the updates that were handled last


class Parts:
    """What the chat is made of; made anew as a whole after a bug."""

    def __init__(self, desk: Desk, handled: list[int]) -> None:
        settings, clock = desk.settings, RealClock()
        self._desk, self._handled = desk, handled
        self._hearing: asyncio.Task[None] | None = None
        self._told = ""  # what keeps operators from being heard, once it was often enough
        self._bot_name = ""
        self._begun = clock.monotonic()
        self._clock = clock
        self.place = PlaceInChat(
            ChatPolicy(
                settings.telegram_chat_id or 0,
                settings.telegram_topic_id,
                frozenset(settings.telegram_operator_ids),
            )
        )
        self.transport = Transport(settings.telegram_bot_token, settings.telegram_api_url or None)
        self.delivery = Delivery(self.transport, clock, moved=self._moved)
        self.polling = Polling(
            self.transport,
            clock,
            TokenLock(settings.telegram_bot_token),
            handled=handled,
            remember=self._remember,
            alert=self._alert,
        )
        self.notifier = Notifier(desk, self.delivery, self.place, clock)
        self.updates = Updates(
            desk,
            self.place,
            self.delivery,
            self.notifier,
            general_too=lambda: self.delivery.topic_is_gone(self.place.chat, self.place.topic),
            bot_name=lambda: self._bot_name,
        )
        self.upkeep = Upkeep(desk, self.notifier, clock, self.reach)

    async def run(self) -> None:
        """Do all of it at the same time, until cancelled or something in it fails."""
        async with asyncio.TaskGroup() as group:
            self._hearing = group.create_task(self.polling.run(self.updates.handle))
            for work in (self.delivery.run(), self.notifier.run(), self.upkeep.run(), self._introduce()):
                group.create_task(work)

    def deaf(self) -> str:
        """Return why operators cannot be heard, if that was so often enough to be told; else an empty text."""
        return self._told if self.polling.state is not PollState.OK else ""

    def state(self) -> str:
        """Return in a sentence how the chat is."""
        if self.deaf():
            return self.deaf()
        if self.delivery.problem:
            return f"messages wait: {self.delivery.problem}"
        if self.polling.state is not PollState.OK:
            return (
                f"{self.polling.state}: {self.polling.problem}" if self.polling.problem else str(self.polling.state)
            )
        return f"connected as @{self._bot_name}" if self._bot_name else "connected"

    def reach(self) -> Reach:
        """Return since when the chat is gone, and since when nothing reached Telegram."""
        silent = self.delivery.problem or self.polling.state in (PollState.DEGRADED, PollState.UNAUTHORISED)
        silent = silent or (self.polling.state is PollState.CONNECTING and self.delivery.last_success is None)
        last = max(self.delivery.last_success or self._begun, self.polling.last_success or self._begun)
        unauthorised = self.polling.state is PollState.UNAUTHORISED
        gone = self.notifier.gone_since if self.notifier.gone_since is not None else (last if unauthorised else None)
        return Reach(
            None if gone is None else self._wall(gone),
            self._wall(last) if silent else None,
        )

    async def _introduce(self) -> None:
        """Find out who the bot is, and tell Telegram which commands to offer; as often as it takes."""
        while True:
            try:
                self._bot_name = (await self.transport.get_me()).username
                await self.transport.set_my_commands(COMMANDS)
            except CallFailed as failure:
                logger.debug("the bot cannot introduce itself yet: {}", failure)
                await asyncio.sleep(INTRODUCE_AGAIN)
            else:
                return

    async def finish(self, grace: float) -> None:
        """Hear nobody any more, and tell how things ended, for up to `grace` seconds."""
        if self._hearing is not None:
            self._hearing.cancel()
        try:
            async with asyncio.timeout(grace):
                await self.updates.finish()
                await self.notifier.look()
                await self.notifier.settle()
        except (TimeoutError, Exception) as error:  # noqa: BLE001 (what is not told now is told at the next start)
            logger.debug("not everything is told before the end: {}", error)
        await self.delivery.close(0.0)

    def _moved(self, old: int, new: int) -> None:
        self.place.moved(old, new)
        self.notifier.nudge()

    def _alert(self, state: PollState, text: str) -> None:
        self._told = text

    async def _remember(self, number: int) -> None:
        self._handled.append(number)
        del self._handled[:-REMEMBERED]
        await self._desk.call(_note_handled, self._desk, list(self._handled))

    def _wall(self, monotonic: float) -> datetime:
        return datetime.now(UTC) - timedelta(seconds=self._clock.monotonic() - monotonic)


def handled_updates(desk: Desk) -> list[int]:
    """Return the numbers of the updates that were handled last, also by an earlier process."""
    with desk.store.reading() as view:
        noted = cards.state(view, _HANDLED)
    return [int(number) for number in json.loads(noted)] if noted else []


def _note_handled(desk: Desk, numbers: list[int]) -> None:
    with desk.store.transaction() as tx:
        cards.note(tx, _HANDLED, json.dumps(numbers))
