"""A thread that prepared itself once and then runs short functions for others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")


class Launcher:
    """Run `prepare` in a new thread, then serve `submit` there, one function after the other.

    Raises what `prepare` raises; the thread has ended then. The thread is a daemon: it never keeps the process alive.
    """

    def __init__(self, prepare: Callable[[], None]) -> None:
        self._jobs: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        ready: Future[None] = Future()
        threading.Thread(target=self._serve, args=(prepare, ready), name="launcher", daemon=True).start()
        ready.result()

    def submit(self, function: Callable[[], Result]) -> Callable[[], Result]:
        """Queue `function`; return the call that waits for its result. Not after `close`."""
        future: Future[Result] = Future()
        self._jobs.put((function, future))
        return future.result

    def close(self) -> None:
        """Let the thread end when it has served what is queued."""
        self._jobs.put(None)

    def _serve(self, prepare: Callable[[], None], ready: Future[None]) -> None:
        if not _answer(prepare, ready):
            return
        while (job := self._jobs.get()) is not None:
            _answer(*job)
            del job  # a result must not live until the next job comes


def _answer(function: Callable[[], Any], future: Future[Any]) -> bool:
    try:
        future.set_result(function())
    except BaseException as error:  # noqa: BLE001  # it is raised in the thread that waits
        future.set_exception(error)
        return False
    return True
