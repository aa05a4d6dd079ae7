"""The main path against a server that somebody else wrote: ours could be wrong in the same way as the client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from lo_bot_api_emulator import LoBotApiEmulator
from pydantic import SecretStr
from scenes import PATIENT, play

from gateway.telegram.authorise import ChatPolicy, Operator, authorise
from gateway.telegram.transport import Button, Sent, Transport
from gateway.telegram.update_facts import facts_of

TOKEN = "7000002:synthetic-token-for-a-second-server"
ANN_ID = 11
ANN = {"id": ANN_ID, "is_bot": False, "first_name": "Ann", "username": "ann"}
POLICY = ChatPolicy(ANN_ID, None, frozenset({ANN_ID}))
_UNKNOWN_TO_IT = ("message_thread_id", "link_preview_options")


class Emulator(LoBotApiEmulator):
    """The emulator, with two parameters that it does not know, and a bot that has a name."""

    def validate(self, method: str, fields: dict[str, Any], uploads: dict[str, Any]) -> Any:
        known = {name: value for name, value in fields.items() if name not in _UNKNOWN_TO_IT}
        result = super().validate(method, known, uploads)
        return result | {"username": "gateway_bot"} if method == "getMe" else result


@asynccontextmanager
async def served() -> AsyncIterator[tuple[Emulator, Transport]]:
    emulator = Emulator()
    runner = web.AppRunner(emulator.app(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    transport = Transport(SecretStr(TOKEN), f"http://127.0.0.1:{runner.addresses[0][1]}", timeouts=PATIENT)
    try:
        yield emulator, transport
    finally:
        await transport.close()
        await runner.cleanup()


def test_the_main_path_holds_against_a_second_server() -> None:
    async def scene() -> None:
        async with served() as (emulator, transport):
            assert (await transport.get_me()).username == "gateway_bot"
            await transport.set_my_commands([("status", "How things are")])
            card = await transport.send(ANN_ID, "<b>push</b> a&lt;b", buttons=[[Button("Approve", "token")]])

            await emulator.enqueue_update(press(card), token=TOKEN)
            (update,) = await transport.get_updates(None)
            facts = facts_of(update)
            assert authorise(facts, POLICY) == Operator(11, "@ann")
            assert (facts.query_data, facts.message_id) == ("token", card.message_id)

            await transport.answer(facts.query_id, "approved")
            assert await transport.edit(card.chat_id, card.message_id, "<i>approved</i>") == card
            file = await transport.document(card.chat_id, "a.diff", b"diff", caption="diff", reply_to=card.message_id)
            await transport.delete(card.chat_id, file.message_id)
            await emulator.enqueue_update(press(card), token=TOKEN)
            assert len(await transport.get_updates(update.update_id + 1)) == 1
            assert [asked["status"] for asked in emulator.requests] == [200] * 9

    play(scene)


def press(card: Sent) -> dict[str, Any]:
    message = {"message_id": card.message_id, "date": 1, "chat": {"id": card.chat_id, "type": "private"}}
    query = {"id": "90", "from": ANN, "chat_instance": "1", "data": "token", "message": message}
    return {"callback_query": query}
