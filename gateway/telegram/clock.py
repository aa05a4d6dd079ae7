"""Time as a parameter: flood waits and back-off are minutes long, and tests do not wait for them."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """What the chat needs of time; all in seconds."""

    def monotonic(self) -> float:
        """Return the time by a clock that never jumps."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class RealClock:
    """The time of this machine."""

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
