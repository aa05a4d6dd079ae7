"""The chat as the host process sees it: started, stopped, nudged, asked how it is. What fails in it stays in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from loguru import logger

from gateway.settings_model import Settings
from gateway.telegram.card_model import Place
from gateway.telegram.desk import Desk
from gateway.telegram.names import known_names
from gateway.telegram.parts import Parts, handled_updates

if TYPE_CHECKING:
    from executor.dispatch import Dispatcher

AGAIN_FIRST, AGAIN_MOST = 1.0, 60.0  # s until it is all begun anew after a bug, doubling


class ChatService:
    """Made once, on the loop. `decided` is called when something is to be acted on.

    `troubles` and `health` tell how the gateway is. With Telegram away, slow or wrong nothing here holds up anybody.
    """

    def __init__(
        self,
        settings: Settings,
        dispatcher: Dispatcher,
        *,
        decided: Callable[[], None],
        troubles: Callable[[], Mapping[str, str]],
        health: Callable[[], Mapping[str, Any]],
    ) -> None:
        self._settings, self._dispatcher = settings, dispatcher
        names = known_names(dispatcher.store)
        place = Place(settings.host_name, dispatcher.store.redactor, names=names)
        self._desk = Desk(settings, dispatcher, place, names, decided, lambda: self._troubles(troubles()), health)
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self._parts: Parts | None = None
        self._bug = ""  # what ended it, until it has held for a while again
        self._nudged = False

    def start(self) -> None:
        """Begin; returns at once."""
        self._desk.store.told = self._told
        self._task = asyncio.create_task(self._for_ever(), name="chat")

    def nudge(self) -> None:
        """Say that something may have happened. From the loop only."""
        self._nudged = False
        if self._parts is not None:
            self._parts.notifier.nudge()
            self._parts.upkeep.nudge()

    async def stop(self, grace: float) -> None:
        """Hear nobody any more, tell how things ended for up to `grace` seconds, and let go of everything."""
        self._desk.store.told = lambda: None
        if self._parts is not None:
            await self._parts.finish(grace)
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._desk.threads.shutdown(wait=False, cancel_futures=True)

    def health(self) -> dict[str, Any]:
        """Return how the chat is, as JSON can hold it. From any thread."""
        parts = self._parts
        if parts is None:
            return {"state": "failing", "problem": self._bug} if self._bug else {"state": "starting"}
        return {
            "state": parts.state(),
            "polls": parts.polling.state,
            "last_poll_seconds_ago": parts.polling.silence(),
            "waiting_messages": parts.delivery.waiting,
            "problem": parts.delivery.problem or parts.polling.problem,
        }

    def trouble(self) -> str:
        """Return in words that a bug keeps ending the chat; "" while none does. From any thread."""
        return f"it ended with an error ({self._bug}) and is begun anew: see the gateway's log" if self._bug else ""

    async def _for_ever(self) -> None:
        """Keep the chat going: a bug in it is logged, and it is made anew."""
        again = AGAIN_FIRST
        while True:
            begun = time.monotonic()
            held = asyncio.get_running_loop().call_later(AGAIN_MOST, self._holds)
            try:
                await self._once()
            except Exception as error:  # noqa: BLE001 (the one place where the chat's bugs end)
                self._bug = type(error).__name__
                again = AGAIN_FIRST if time.monotonic() - begun > AGAIN_MOST else min(2 * again, AGAIN_MOST)
                logger.exception("the chat met an error and is begun anew in {:.0f} s", again)
            finally:
                held.cancel()
            await asyncio.sleep(again)

    def _holds(self) -> None:
        self._bug = ""

    async def _once(self) -> None:
        handled = await self._desk.call(handled_updates, self._desk)
        self._parts = parts = Parts(self._desk, handled)
        try:
            await parts.run()
        finally:
            self._parts = None
            await parts.transport.close()

    def _troubles(self, others: Mapping[str, str]) -> dict[str, str]:
        told = self._parts.deaf() if self._parts is not None else ""
        return {**others, **({"hearing operators": told} if told else {})}

    def _told(self) -> None:
        """The log has grown, by any thread: look soon. Many events are one look."""
        if not self._nudged:
            self._nudged = True
            self._loop.call_soon_threadsafe(self.nudge)
