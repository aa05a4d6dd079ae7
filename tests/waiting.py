"""Waiting on an event loop for what threads, servers and the kernel do, and a clock that does not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

DEADLINE = 40.0  # s until a wait fails: less than a minute, so that no scheduled sweep can help


async def until(condition: Callable[[], object]) -> None:
    """Wait until `condition` holds; fail the test if it never does."""
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 (what is waited for sets no event of ours)
            await asyncio.sleep(0.005)


class Clock:
    """A monotonic clock that a test turns."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds
