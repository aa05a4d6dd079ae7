"""A server that somebody else wrote: ours could be wrong in the same way as the client.

`Emulator` is that server with what the gateway needs besides; `second_server` runs one beside a test.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web
from lo_bot_api_emulator import LoBotApiEmulator

from bot_api.markup import parse

ANN_ID = 11
ANN = {"id": ANN_ID, "is_bot": False, "first_name": "Ann", "username": "ann"}
_UNKNOWN_TO_IT = ("message_thread_id", "link_preview_options")


class Emulator(LoBotApiEmulator):
    """The emulator, with two parameters that it does not know, a bot that has a name, and a memory of messages."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: dict[int, dict[str, Any]] = {}  # message id -> the message as it stands now

    def validate(self, method: str, fields: dict[str, Any], uploads: dict[str, Any]) -> Any:
        known = {name: value for name, value in fields.items() if name not in _UNKNOWN_TO_IT}
        result = super().validate(method, known, uploads)
        if method in ("sendMessage", "editMessageText"):
            self.messages[result["message_id"]] = result
        return result | {"username": "gateway_bot"} if method == "getMe" else result


def pressed(message_id: int, data: str) -> dict[str, Any]:
    """Return the update that Telegram makes of Ann's pressing a button, in her private chat with the bot."""
    message = {"message_id": message_id, "date": 1, "chat": {"id": ANN_ID, "type": "private"}}
    query = {"id": "90", "from": ANN, "chat_instance": "1", "data": data, "message": message}
    return {"callback_query": query}


class SecondServer:
    """An emulator at work in a thread, and what Ann sees and does there."""

    def __init__(self) -> None:
        self.token = f"7000002:{secrets.token_hex(17)}"  # its own for each server, for a token is locked on the host
        self.emulator = Emulator()
        self.loop = asyncio.new_event_loop()
        self.url = ""

    async def listen(self) -> web.AppRunner:
        runner = web.AppRunner(self.emulator.app(), access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        return runner

    def wait(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Let something happen in the thread, and return what it returned."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(20)

    def showing(self, *parts: str) -> int | None:
        """Return the number of the message that holds all these parts now."""
        texts = {number: parse(message["text"]).text for number, message in list(self.emulator.messages.items())}
        return next((number for number, text in texts.items() if all(part in text for part in parts)), None)

    def press(self, message_id: int, label: str) -> None:
        """Let Ann press a button that stands under a message."""
        rows = self.emulator.messages[message_id]["reply_markup"]["inline_keyboard"]
        (data,) = (button["callback_data"] for row in rows for button in row if button["text"] == label)
        self.wait(self.emulator.enqueue_update(pressed(message_id, data), token=self.token))

    def asked(self, method: str) -> list[int]:
        """Return how the calls of a method ended, as HTTP says it."""
        return [call["status"] for call in list(self.emulator.requests) if call["method"] == method]

    def refused(self) -> str:
        """Return the calls that were not well."""
        return json.dumps([call for call in list(self.emulator.requests) if call["status"] != 200])


@contextmanager
def second_server() -> Iterator[SecondServer]:
    """A server that is listening."""
    server = SecondServer()
    thread = threading.Thread(target=server.loop.run_forever, name="second-bot-api", daemon=True)
    thread.start()
    runner = server.wait(server.listen())
    try:
        yield server
    finally:
        server.wait(runner.cleanup())
        server.loop.call_soon_threadsafe(server.loop.stop)
        thread.join(20)
        server.loop.close()
