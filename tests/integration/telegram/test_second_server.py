"""What is sent and heard, against a server that somebody else wrote."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from bot_api.second_server import ANN_ID, Emulator, pressed
from pydantic import SecretStr
from scenes import PATIENT, play

from gateway.telegram.authorise import ChatPolicy, Operator, authorise
from gateway.telegram.keyboards import Button
from gateway.telegram.transport import Transport
from gateway.telegram.update_facts import facts_of

TOKEN = "7000002:synthetic-token-for-a-second-server"
POLICY = ChatPolicy(ANN_ID, None, frozenset({ANN_ID}))


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


def test_each_call_of_the_main_path_holds_against_a_second_server() -> None:
    async def scene() -> None:
        async with served() as (emulator, transport):
            assert (await transport.get_me()).username == "gateway_bot"
            await transport.set_my_commands([("status", "How things are")])
            card = await transport.send(ANN_ID, "<b>push</b> a&lt;b", buttons=[[Button("Approve", "token")]])

            await emulator.enqueue_update(pressed(card.message_id, "token"), token=TOKEN)
            (update,) = await transport.get_updates(None)
            facts = facts_of(update)
            assert authorise(facts, POLICY) == Operator(11, "@ann")
            assert (facts.query_data, facts.message_id) == ("token", card.message_id)

            await transport.answer(facts.query_id, "approved")
            assert await transport.edit(card.chat_id, card.message_id, "<i>approved</i>") == card
            file = await transport.document(card.chat_id, "a.diff", b"diff", caption="diff", reply_to=card.message_id)
            await transport.delete(card.chat_id, file.message_id)
            await emulator.enqueue_update(pressed(card.message_id, "token"), token=TOKEN)
            assert len(await transport.get_updates(update.update_id + 1)) == 1
            assert [asked["status"] for asked in emulator.requests] == [200] * 9

    play(scene)
