"""Being told to stop, and being gone in the end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Iterator

from loguru import logger


@contextlib.contextmanager
def stop_signals(stop: asyncio.Event) -> Iterator[None]:
    """Let SIGTERM, SIGINT and SIGHUP set `stop`; after the first they have their usual effect: a second one kills."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

    def usual() -> None:
        for number in signals:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    def first() -> None:
        usual()
        stop.set()

    for number in signals:
        loop.add_signal_handler(number, first)
    try:
        yield
    finally:
        usual()


def last_resort(seconds: float) -> None:
    """Make sure that this process is gone after so many seconds whatever hangs. Each wait has its end before that."""

    def give_up() -> None:
        logger.error("it does not stop, and is ended; the next start finds out what became of what ran")
        os._exit(1)

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
