"""Staying with a running program: feeding it, keeping a bounded part of what it says, ending it in time."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import threading
import time
from enum import Enum

from executor.sandbox.output import BoundedOutput

GRACE = 2.0  # s between TERM and KILL: git removes its lock files when it gets TERM (P8)
_STUCK = 5.0  # s after KILL; a process that is still there hangs inside the kernel
_DRAIN = 1.0  # s for the pipes to reach their end when every known writer is dead
_CANCEL_TICK = 0.1  # s between looks at the cancel event, which cannot be polled
_LONGEST_POLL = 3600.0  # s; poll counts milliseconds in a C int
_CHUNK = 65536  # bytes; the capacity of a pipe


class Ending(Enum):
    """Why the program is no longer running."""

    EXITED = "exited"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"


class Attendance:
    """One program's pipes and deadline. The caller owns `leader` and its pidfd; the pipes are closed by `close`."""

    def __init__(self, *, stdin: int | None, stdin_data: bytes, outputs: dict[int, BoundedOutput]) -> None:
        self._stdin = stdin
        self._unsent = memoryview(stdin_data)
        self._outputs = dict(outputs)
        self._poller = select.poll()
        for descriptor in outputs:
            os.set_blocking(descriptor, False)
            self._poller.register(descriptor, select.POLLIN)
        if stdin is not None:
            os.set_blocking(stdin, False)
            self._poller.register(stdin, select.POLLOUT)

    def until_exit(self, leader: int, pidfd: int, give_up: float, cancel: threading.Event | None) -> Ending:
        """Serve the pipes until the leader has exited (it is not reaped here).

        At `give_up` (monotonic seconds), or when `cancel` is set, TERM goes to its process group, and KILL after the
        grace. Raise TimeoutError if not even that ends it.
        """
        self._poller.register(pidfd, select.POLLIN)
        ending, signals = Ending.EXITED, [(signal.SIGTERM, GRACE), (signal.SIGKILL, _STUCK)]
        while True:
            now = time.monotonic()
            cancelled = ending is Ending.EXITED and cancel is not None and cancel.is_set()
            if cancelled or now >= give_up:
                if not signals:
                    raise TimeoutError
                if ending is Ending.EXITED:
                    ending = Ending.CANCELLED if cancelled else Ending.TIMED_OUT
                number, patience = signals.pop(0)
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(leader, number)
                give_up = now + patience
            wait = give_up - now
            if cancel is not None and ending is Ending.EXITED:
                wait = min(wait, _CANCEL_TICK)
            if pidfd in self._serve(wait):
                self._poller.unregister(pidfd)
                return ending

    def drain(self) -> None:
        """Take what is left in the pipes of a program whose processes are dead."""
        give_up = time.monotonic() + _DRAIN
        while self._outputs and (wait := give_up - time.monotonic()) > 0:
            self._serve(wait)

    def close(self) -> None:
        for descriptor in list(self._outputs):
            self._finish(descriptor)
        self._finish_stdin()

    def _serve(self, wait: float) -> set[int]:
        """Wait up to `wait` seconds, serve the pipes that are ready, return the ready descriptors."""
        ready = self._poller.poll(math.ceil(min(max(wait, 0.0), _LONGEST_POLL) * 1000))
        for descriptor, _event in ready:
            if descriptor in self._outputs:
                self._read(descriptor)
            elif descriptor == self._stdin:
                self._write(descriptor)
        return {descriptor for descriptor, _event in ready}

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        if data:
            self._outputs[descriptor].feed(data)
        else:
            self._finish(descriptor)

    def _write(self, descriptor: int) -> None:
        try:
            written = os.write(descriptor, self._unsent[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:  # the program has read all that it wanted
            written = len(self._unsent)
        self._unsent = self._unsent[written:]
        if not self._unsent:
            self._finish_stdin()

    def _finish(self, descriptor: int) -> None:
        self._poller.unregister(descriptor)
        os.close(descriptor)
        del self._outputs[descriptor]

    def _finish_stdin(self) -> None:
        if self._stdin is not None:
            self._poller.unregister(self._stdin)
            os.close(self._stdin)
            self._stdin = None
