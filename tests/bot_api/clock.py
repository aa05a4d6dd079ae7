"""Clocks for tests: nobody waits for a flood to pass."""

from __future__ import annotations

import asyncio


class SwiftClock:
    """Time that passes by being slept through: a wait of any length is over at once, and noted."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.now += seconds
        self.slept.append(seconds)


class HandClock(SwiftClock):
    """Time that stands still, but for what a test lets pass."""

    def __init__(self) -> None:
        super().__init__()
        self._moved = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        end = self.now + seconds
        while self.now < end:
            await self._moved.wait()

    def advance(self, seconds: float) -> None:
        """Let so much time pass, and wake who has slept enough."""
        self.now += seconds
        self._moved.set()
        self._moved = asyncio.Event()
