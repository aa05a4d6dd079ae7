"""Fetches updates, for ever: supervised by ourselves, and judged by the last poll that succeeded.

PTB's own loop ends on a 401 without telling anybody (P1), hides time-outs and floods, and retries some at once
(P2). Here each failure has its wait, nothing but being cancelled ends the loop, and an update is confirmed to
Telegram only after it was handled.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from enum import StrEnum

from loguru import logger
from telegram import Update

from gateway.telegram import failures
from gateway.telegram.alarm import Alarm
from gateway.telegram.attempts import backoff
from gateway.telegram.clock import Clock
from gateway.telegram.failures import CallFailed
from gateway.telegram.token_lock import TokenLock
from gateway.telegram.transport import Transport
from gateway.telegram.update_facts import UpdateFacts, facts_of

CONFLICTS_TOLD = (
    3  # within CONFLICT_WINDOW: one or two are usual after a restart, while the old poll is still held (A02)
)
CONFLICT_WINDOW = 600.0  # s
CONFLICT_QUIET = 120.0  # s without any, until a conflict counts as over
CONFLICT_WAIT_MAX = 30.0  # s
UNAUTHORISED_WAIT = 60.0  # s
UNAUTHORISED_QUIET = 600.0  # s without any, until it is told anew
LOCK_WAIT = 15.0  # s
HANDLE_MAX = 60.0  # s for one update; a hanging one must not make the bot deaf
REMEMBERED = 200  # numbers of handled updates; a poll returns 100 at most


class PollState(StrEnum):
    """How hearing operators goes."""

    CONNECTING = "connecting"  # never succeeded so far
    OK = "ok"
    DEGRADED = "degraded"  # does not succeed at present
    CONFLICT = "conflict"  # somebody else fetches this bot's updates
    UNAUTHORISED = "unauthorised"  # Telegram does not know the token


class Polling:
    """The loop that hears operators.

    `handled` are the numbers of updates known to be handled, from before a restart; `remember` is called with each
    new one. `alert` is told once per incident that somebody has to look: a state and a sentence.
    """

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        lock: TokenLock,
        *,
        handled: Iterable[int] = (),
        remember: Callable[[int], Awaitable[None]] | None = None,
        alert: Callable[[PollState, str], None] = lambda _state, _text: None,
    ) -> None:
        self._transport, self._clock, self._lock = transport, clock, lock
        self._handled: deque[int] = deque(handled, maxlen=REMEMBERED)
        self._remember, self._alert = remember, alert
        self._offset: int | None = None
        self._failures = 0  # in a row
        self._conflicts = 0  # since the last time without any
        self._conflict_alarm = Alarm(CONFLICTS_TOLD, CONFLICT_WINDOW, CONFLICT_QUIET)
        self._refusal_alarm = Alarm(1, 0.0, UNAUTHORISED_QUIET)
        self.state = PollState.CONNECTING
        self.problem = ""
        self.last_success: float | None = None  # monotonic

    def silence(self) -> float | None:
        """Return how many seconds ago a poll last succeeded; None if none ever did."""
        return None if self.last_success is None else self._clock.monotonic() - self.last_success

    async def run(self, handle: Callable[[UpdateFacts], Awaitable[None]]) -> None:
        """Hand every update to `handle`, one after the other, until cancelled. What it raises is logged."""
        try:
            await self._alone()
            while True:
                await self._once(handle)
        finally:
            self._lock.release()

    async def _alone(self) -> None:
        """Wait until no other process of this host polls with this token."""
        while not self._lock.take():
            if self.state is not PollState.CONFLICT:
                self._tell(PollState.CONFLICT, "another process on this host polls with the same bot token")
            await self._clock.sleep(LOCK_WAIT)
        self.state, self.problem = PollState.CONNECTING, ""

    async def _once(self, handle: Callable[[UpdateFacts], Awaitable[None]]) -> None:
        try:
            # the first one comes back at once: whether operators can be heard is known then, and not a minute later
            updates = await self._transport.get_updates(self._offset, hold=self.last_success is not None)
        except CallFailed as failure:
            await self._clock.sleep(await self._trouble(failure))
        except Exception as error:  # noqa: BLE001 (a bug must not make the bot deaf for good)
            logger.opt(exception=error).error("polling failed")
            await self._clock.sleep(await self._trouble(failures.Ambiguous(type(error).__name__)))
        else:
            self._well()
            for update in updates:
                await self._handle(handle, update)

    async def _handle(self, handle: Callable[[UpdateFacts], Awaitable[None]], update: Update) -> None:
        number = update.update_id
        try:
            async with asyncio.timeout(HANDLE_MAX):
                await handle(facts_of(update, redelivered=number in self._handled))
                if self._remember is not None and number not in self._handled:
                    await self._remember(number)
        except Exception as error:  # noqa: BLE001 (the one top-level catch per update; it is not fetched for ever, A23)
            logger.opt(exception=error).error("update {} was not handled", number)
        self._handled.append(number)
        self._offset = number + 1

    def _well(self) -> None:
        """Note a poll that succeeded. It confirmed what the offset named, so that is not said again.

        Telegram begins anew with other numbers after a week without updates; an old offset would swallow them.
        """
        now = self._clock.monotonic()
        self._offset, self._failures, self.last_success = None, 0, now
        if self._conflict_alarm.is_on(now):
            self.state = PollState.CONFLICT  # as long as somebody else keeps coming between (A04)
            return
        if self.state is not PollState.OK:
            logger.info("Telegram is connected")
        self.state, self.problem, self._conflicts = PollState.OK, "", 0

    async def _trouble(self, failure: CallFailed) -> float:
        """Note why a poll failed; return how many seconds to wait until the next."""
        self._failures += 1
        match failure:
            case failures.Contended():
                return await self._conflict(failure)
            case failures.Unauthorised():
                if self._refusal_alarm.happened(self._clock.monotonic()):
                    self._tell(PollState.UNAUTHORISED, "Telegram does not accept the bot token")
                self.state, self.problem = PollState.UNAUTHORISED, failure.message
                return UNAUTHORISED_WAIT
            case failures.Flood():
                self._degraded(failure.message)
                return failure.retry_after
            case _:
                self._degraded(failure.message)
                return backoff(self._failures - 1)

    async def _conflict(self, failure: failures.Contended) -> float:
        if failure.webhook:
            logger.warning("a webhook of this bot keeps updates from being fetched: it is taken away")
            try:
                await self._transport.delete_webhook()
            except CallFailed as other:
                logger.warning("the webhook cannot be taken away yet: {}", other)
            return backoff(self._failures - 1)
        self._conflicts += 1
        if self._conflict_alarm.happened(self._clock.monotonic()):
            self._tell(PollState.CONFLICT, "another process, on another host perhaps, polls with the same bot token")
        else:
            self.state, self.problem = PollState.CONFLICT, failure.message
        return min(CONFLICT_WAIT_MAX, backoff(self._conflicts))

    def _degraded(self, reason: str) -> None:
        if self._failures == 1:
            logger.warning("Telegram cannot be polled: {}", reason)
        self.problem = reason
        if self.state is not PollState.CONNECTING:
            self.state = PollState.DEGRADED

    def _tell(self, state: PollState, text: str) -> None:
        self.state, self.problem = state, text
        logger.warning("{}", text)
        self._alert(state, text)
