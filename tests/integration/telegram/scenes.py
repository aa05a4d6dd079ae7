"""Clients of the test server: patient enough for a busy machine, impatient where nothing is going to answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from bot_api import BotApi
from pydantic import SecretStr

from gateway.telegram.transport import Timeouts, Transport

PATIENT = Timeouts(poll=20.0)
IMPATIENT = Timeouts(read=0.2, whole_call=0.4, upload=0.4, poll=1.0, poll_slack=0.2)  # where nothing will answer


@asynccontextmanager
async def client(api: BotApi, timeouts: Timeouts = PATIENT, *, url: str = "") -> AsyncIterator[Transport]:
    """A transport to the test server, closed at the end."""
    transport = Transport(SecretStr(api.token), url or api.url, timeouts=timeouts)
    try:
        yield transport
    finally:
        await transport.close()


def play(scene: Callable[[], Awaitable[None]]) -> None:
    """Run a scene to its end."""

    async def whole() -> None:
        await scene()

    asyncio.run(whole())
