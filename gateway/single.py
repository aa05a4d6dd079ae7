"""One gateway per state directory: two would run the requests of one repository side by side."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from executor.errors import Unavailable

_FILE = "gateway.lock"


class Busy(Unavailable):
    """Another process serves this state directory; `verb` is what it does (`run` or `tick`)."""

    def __init__(self, verb: str, pid: str) -> None:
        who = f"`ops-gateway {verb}`, process {pid}," if pid else "another process"
        super().__init__("already_running", f"{who} serves this state directory already", "stop it first")
        self.verb = verb


@contextmanager
def alone(state: Path, verb: str, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the state directory for `verb`, creating the directory if need be; raise Busy if somebody else holds it.

    Another `tick` is waited for up to `wait_seconds`; a `run` never ends by itself, so it is not waited for. The lock
    is the kernel's: it goes with the process, however that ends.
    """
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(state / _FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _acquire(descriptor, time.monotonic() + wait_seconds)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{verb} {os.getpid()}".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            verb, _, pid = os.pread(descriptor, 64, 0).decode("ascii", "replace").partition(" ")
            if verb != "tick" or time.monotonic() >= deadline:
                raise Busy(verb, pid) from None
            time.sleep(0.2)
        else:
            return


def holder(state: Path) -> str:
    """Return who holds the state directory (`run 4711`), or an empty string."""
    try:
        descriptor = os.open(state / _FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return ""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(descriptor, 64, 0).decode("ascii", "replace")
    else:
        return ""
    finally:
        os.close(descriptor)
