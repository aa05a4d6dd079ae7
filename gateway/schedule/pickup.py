"""Takes flags: the ones it is told of at once, and every one that is there once a minute, whatever the clock does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from loguru import logger

from executor.errors import Problem
from gateway.schedule import word
from gateway.schedule.heartbeat import Heartbeat

if TYPE_CHECKING:
    from executor.dispatch import Dispatcher

SWEEP = "sweep"
SWEEP_SECONDS = 60.0
BACKSTOP_SECONDS = SWEEP_SECONDS + 5.0  # without a sweep for so long, the scheduler is stuck (B05, B06)
SETTLED_SECONDS = 1.2  # a sweep leaves what changed in the last second, so after that it looks again
NAMES_MAX = 10_000  # remembered names; beyond it one sweep is cheaper (D03: bounded memory)


class Pickup:
    """Decides when the dispatcher takes flags. One thread of its own, so that no running git delays a claim."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        state: Path,
        heartbeat: Heartbeat,
        *,
        queued: Callable[[Iterable[str]], None],
        taken: Callable[[bool], None],
        stuck: Callable[[], None],
        backstop_seconds: float = BACKSTOP_SECONDS,
    ) -> None:
        self._dispatcher, self._state, self._heartbeat = dispatcher, state, heartbeat
        self._queued = queued  # called in the thread with the repositories that have something to run
        dispatcher.tell_queued(queued)
        self._taken = taken  # called on the loop when a take is over, with whether there was anything
        self._stuck = stuck  # called on the loop when no sweep was asked for in time
        self._backstop = backstop_seconds
        self._names: dict[bytes, None] = {}  # in order of arrival
        self._sweep = False
        self._too_many = False  # names arrived that are not remembered
        self._word = False
        self._swept = time.monotonic()  # when a sweep was last begun
        self._left_behind = False  # a sweep found no room for all it saw
        self._room_came = False  # since the take that goes on began, which may have found none
        self._retry = SETTLED_SECONDS  # until the sweep after a take that fails, doubling
        self._said = ""  # why the last take failed, which is logged once
        self._something = asyncio.Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pickup")

    def arrived(self, name: bytes) -> None:
        """Say that a flag of this name has arrived."""
        if len(self._names) < NAMES_MAX:
            self._names[name] = None
        else:
            self._sweep = self._too_many = True
        self._something.set()

    def sweep_soon(self) -> None:
        """Ask for a look at every flag that is there."""
        self._sweep = True
        self._something.set()

    def sweep_and_settle(self) -> None:
        """Ask for one now and one more when what is being written right now has settled."""
        self.sweep_soon()
        asyncio.get_running_loop().call_later(SETTLED_SECONDS, self.sweep_soon)

    def word_came(self) -> None:
        """Say that something was decided, or asked, by other ways than a flag."""
        self._word = True
        self._something.set()

    def room_again(self) -> None:
        """Say that something queued was run, so that what was left behind may be taken now."""
        self._room_came = True
        if self._left_behind:
            self.sweep_soon()

    async def run(self) -> None:
        """Take flags until cancelled."""
        while True:
            due = self._swept + self._backstop - time.monotonic()
            try:
                async with asyncio.timeout(max(0.0, due)):  # wait_for can lose a cancellation that comes with news
                    await self._something.wait()
            except TimeoutError:
                logger.warning("no sweep for {:.0f} s: the scheduler is late, the sweep is not", self._backstop)
                self._heartbeat.trouble(SWEEP, "missed")
                self._sweep = True
                self._stuck()
            await self._round()

    async def _round(self) -> None:
        self._something.clear()
        names, self._names = list(self._names), {}
        sweep, self._sweep = self._sweep, False
        too_many, self._too_many = self._too_many, False
        self._room_came = False
        heard, self._word = self._word, False
        if sweep:
            self._swept = time.monotonic()
        loop = asyncio.get_running_loop()
        try:
            taken = await loop.run_in_executor(self._thread, self._take, names, sweep, heard or sweep)
        except Exception as error:  # noqa: BLE001 (what was named is still there, or in the dispatcher's hands)
            self._say(error)
            self._heartbeat.trouble(SWEEP, "failed")
            loop.call_later(self._retry, self.sweep_soon)  # the names are forgotten, and so is whom to wake
            self._retry = min(2 * self._retry, SWEEP_SECONDS)
            await asyncio.sleep(1.0)  # whatever is wrong, it is not to be met thousands of times a second
            return
        if sweep or names:  # with neither it did not look into the shared directory
            self._say(None)
            self._retry = SETTLED_SECONDS
        if sweep:
            self._heartbeat.completed(SWEEP)
        if too_many:  # what was not remembered may be too fresh for the sweep that is just over
            loop.call_later(SETTLED_SECONDS, self.sweep_soon)
        if self._left_behind and (taken or self._room_came):  # there was room, or there is now: go on (B12)
            self.sweep_soon()
        self._taken(bool(taken or names or heard))

    def _say(self, error: Exception | None) -> None:
        """Log why flags cannot be taken, once for each reason, and that they can again."""
        reason = str(error) if error is not None else ""
        if error is not None and reason != self._said:
            bug = None if isinstance(error, Problem) else error
            logger.opt(exception=bug).error("flags cannot be taken; it is tried again and again: {}", error)
        elif self._said and error is None:
            logger.info("flags are taken again")
        self._said = reason

    def _take(self, names: list[bytes], sweep: bool, heard: bool) -> int:
        """In the thread: act on word that came, take everything, then what was named; return how many were taken.

        A sweep takes what is older, and leaves what is as fresh as a name that has just arrived.
        """
        if heard:
            act_on_word(self._dispatcher, self._state)
        taken = self._dispatcher.take(None) if sweep else 0
        taken += self._dispatcher.take(names) if names else 0
        if sweep or names:
            self._left_behind = self._dispatcher.more_waiting()
        if heard:  # what a take records is told by the dispatcher
            self._queued(self._dispatcher.queued_repositories())
        return taken

    async def idle(self) -> None:
        """Wait for a take that goes on; there is one thread, so whatever it does next comes after it."""
        await asyncio.get_running_loop().run_in_executor(self._thread, lambda: None)

    def close(self) -> None:
        """Let the thread go; a take that still goes on is not waited for."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def act_on_word(dispatcher: Dispatcher, state: Path) -> None:
    """Tell the agent of what was decided by other processes since the last time."""
    for about in word.received(state):
        if about == word.CONTROLS:
            dispatcher.publish_capabilities()
        else:
            dispatcher.answer(about)
