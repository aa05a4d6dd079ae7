"""A thread that prepared itself once and then runs short functions for others."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")
_Jobs = SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]


class Launcher:
    """Run `prepare` in a new thread, then serve `submit` there, one function after the other.

    Raises what `prepare` raises; the thread has ended then. It also ends with `close`, or when nobody holds the
    launcher any more. What is submitted should be short and open nothing: it runs as restricted as the thread is.
    """

    def __init__(self, prepare: Callable[[], None]) -> None:
        self._jobs: _Jobs = SimpleQueue()
        threading.Thread(target=_serve, args=(self._jobs,), name="launcher", daemon=True).start()
        self._end = weakref.finalize(self, self._jobs.put, None)
        try:
            self.submit(prepare)()
        except BaseException:
            self.close()
            raise

    def submit(self, function: Callable[[], Result]) -> Callable[[], Result]:
        """Queue `function`; return the call that waits for its result. Not after `close`."""
        future: Future[Result] = Future()
        self._jobs.put((function, future))
        return future.result

    def close(self) -> None:
        """Let the thread end when it has served what is queued."""
        self._end()


def _serve(jobs: _Jobs) -> None:
    while (job := jobs.get()) is not None:
        function, future = job
        try:
            future.set_result(function())
        except BaseException as error:  # noqa: BLE001  # it is raised in the thread that waits
            future.set_exception(error)
        del job, function, future  # neither function nor result lives until the next job comes
