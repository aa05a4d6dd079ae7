"""A worker for each lane: requests of one repository run one after the other, of several side by side."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from loguru import logger

from executor.errors import Problem

if TYPE_CHECKING:
    from executor.dispatch import Dispatcher

FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS = 1.0, 60.0  # after a failure of the gateway itself, doubling


class Workers:
    """Runs what is queued, in threads, so that the loop never waits for a git process (B03)."""

    def __init__(self, dispatcher: Dispatcher, lanes: Iterable[str], drained: Callable[[], None]) -> None:
        self._dispatcher = dispatcher
        self._wanted = {name: threading.Event() for name in lanes}
        self._drained = drained  # called on the loop when a worker has nothing left to run
        self._stopping = threading.Event()
        self._threads = ThreadPoolExecutor(max_workers=max(1, len(self._wanted)), thread_name_prefix="worker")
        self._told_to_stop = False
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._begun: dict[str, float] = {}  # lane -> when what runs there was begun, by the monotonic clock

    def start(self) -> None:
        """Start a worker for each lane; each first runs what a former gateway left queued."""
        loop = asyncio.get_running_loop()
        for name in self._wanted:
            thread = loop.run_in_executor(self._threads, self._work, name, loop)
            self._tasks[name] = asyncio.create_task(self._release(name, thread), name=f"worker {name}")
        self.wake(self._wanted)

    def wake(self, repositories: Iterable[str]) -> None:
        """Say that these repositories have something queued. May be called from any thread."""
        for name in repositories:
            if name in self._wanted:
                self._wanted[name].set()

    async def stop(self, grace_seconds: float) -> bool:
        """Begin nothing new, and wait for what runs; return False if something still runs after `grace_seconds`."""
        self._told_to_stop = True
        self._stopping.set()
        for wanted in self._wanted.values():
            wanted.set()
        if not self._tasks:
            return True
        _, running = await asyncio.wait(self._tasks.values(), timeout=grace_seconds)
        return not running

    def stuck(self, limit_seconds: float) -> list[str]:
        """Return the lanes that do not get on: a request runs there for longer than that, or the worker has ended."""
        latest = time.monotonic() - limit_seconds
        slow = [lane for lane, begun in list(self._begun.items()) if begun < latest]
        ended = [] if self._told_to_stop else [lane for lane, task in self._tasks.items() if task.done()]
        return sorted({*slow, *ended})

    def close(self) -> None:
        """Let the threads go; what still runs in one is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _release(self, name: str, thread: asyncio.Future[None]) -> None:
        """Wait for the end of a thread; however the loop ends before it, the thread is not left waiting."""
        try:
            await thread
        finally:
            self._stopping.set()
            self._wanted[name].set()

    def _work(self, name: str, loop: asyncio.AbstractEventLoop) -> None:
        """In the thread, which waits here so as to begin at once: run all that is queued whenever that is wanted."""
        wanted, retry, said = self._wanted[name], FIRST_RETRY_SECONDS, ""
        while wanted.wait() and not self._stopping.is_set():
            wanted.clear()
            try:
                self._drain(name)
            except Exception as error:  # noqa: BLE001 (a request's failure is its outcome; this is the gateway's)
                if said != str(error):  # each reason once; the status says it for as long as it holds
                    bug, where = None if isinstance(error, Problem) else error, name or "the lane of the host"
                    logger.opt(exception=bug).error("nothing can be run in {}; it is tried again: {}", where, error)
                    said = str(error)
                loop.call_soon_threadsafe(loop.call_later, retry, wanted.set)
                retry = min(2 * retry, LAST_RETRY_SECONDS)
            else:
                retry, said = FIRST_RETRY_SECONDS, ""
                loop.call_soon_threadsafe(self._drained)

    def _drain(self, name: str) -> None:
        try:
            going = True
            while going and not self._stopping.is_set():
                self._begun[name] = time.monotonic()
                going = self._dispatcher.run_next(name)
        finally:
            self._begun.pop(name, None)
