"""Clients of the test server: patient enough for a busy machine, impatient where nothing is going to answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from bot_api import BotApi, SwiftClock
from bot_api.server import DEADLINE
from pydantic import SecretStr

from gateway.telegram.polling import Polling, PollState
from gateway.telegram.send import Delivery
from gateway.telegram.token_lock import TokenLock
from gateway.telegram.transport import Timeouts, Transport
from gateway.telegram.update_facts import UpdateFacts

PATIENT = Timeouts(poll=20.0)
IMPATIENT = Timeouts(read=0.5, whole_call=1.0, upload=1.0, poll=1.0, poll_slack=0.5)  # where nothing will answer


@asynccontextmanager
async def client(api: BotApi, timeouts: Timeouts = PATIENT, *, url: str = "") -> AsyncIterator[Transport]:
    """A transport to the test server, closed at the end."""
    transport = Transport(SecretStr(api.token), url or api.url, timeouts=timeouts)
    try:
        yield transport
    finally:
        await transport.close()


@asynccontextmanager
async def delivery(
    api: BotApi, clock: SwiftClock, timeouts: Timeouts = PATIENT, **more: Any
) -> AsyncIterator[Delivery]:
    """A running delivery to the test server."""
    async with client(api, timeouts) as transport:
        delivering = Delivery(transport, clock, **more)
        task = asyncio.create_task(delivering.run())
        try:
            yield delivering
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


class Listener:
    """A polling loop whose updates are kept, in the order in which they came."""

    def __init__(self, transport: Transport, clock: SwiftClock, token: str, **more: Any) -> None:
        self.heard: list[UpdateFacts] = []
        self.alerts: list[PollState] = []
        self.polling = Polling(
            transport,
            clock,
            TokenLock(SecretStr(token)),
            alert=lambda state, _text: self.alerts.append(state),
            **more,
        )

    async def handle(self, facts: UpdateFacts) -> None:
        self.heard.append(facts)


@asynccontextmanager
async def listener(
    api: BotApi, clock: SwiftClock, timeouts: Timeouts = PATIENT, **more: Any
) -> AsyncIterator[Listener]:
    """A running polling loop."""
    async with client(api, timeouts) as transport:
        listening = Listener(transport, clock, api.token, **more)
        task = asyncio.create_task(listening.polling.run(listening.handle))
        try:
            yield listening
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def until(holds: Callable[[], object]) -> None:
    """Wait until `holds()`; fail after DEADLINE seconds."""
    async with asyncio.timeout(DEADLINE):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.005)  # what is waited for may happen in the server's thread


def play(scene: Callable[[], Awaitable[None]]) -> None:
    """Run a scene to its end."""

    async def whole() -> None:
        await scene()

    asyncio.run(whole())
