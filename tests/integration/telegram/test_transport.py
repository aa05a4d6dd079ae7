"""One call, once: what it does in the chat, and what the client says became of it when it fails."""

from __future__ import annotations

import logging
import pickle
import traceback

import pytest
from bot_api import BotApi, Fault, error, flood, garbage, reset, server_error, stall
from scenes import IMPATIENT, client, play

from gateway.telegram.failures import (
    Ambiguous,
    CallFailed,
    Contended,
    Flood,
    Gone,
    Lost,
    Migrated,
    NotDone,
    Rejected,
    Unauthorised,
    Unmodified,
)
from gateway.telegram.failures import Fault as Refusal
from gateway.telegram.keyboards import Button
from gateway.telegram.transport import Sent
from gateway.telegram.update_facts import facts_of

CHAT = -1001


def test_a_message_arrives_with_its_markup_its_buttons_and_no_link_preview(api: BotApi) -> None:
    chat = api.group()

    async def scene() -> None:
        async with client(api) as transport:
            sent = await transport.send(CHAT, "<b>push</b> a&lt;b", buttons=[[Button("Approve", "t1")]])
            assert sent == Sent(CHAT, chat.shown()[0].message_id)

    play(scene)
    (message,) = chat.shown()
    assert (message.text, message.entities, message.labels()) == ("push a<b", [("bold", 0, 4)], ["Approve"])
    assert '"is_disabled": true' in api.called("sendMessage")[0].values["link_preview_options"]


def test_a_card_is_edited_in_place_and_loses_its_buttons_when_none_are_given(api: BotApi) -> None:
    chat = api.group()

    async def scene() -> None:
        async with client(api) as transport:
            sent = await transport.send(CHAT, "waiting", buttons=[[Button("Approve", "t1")]])
            await transport.edit(CHAT, sent.message_id, "<i>done</i>")

    play(scene)
    (message,) = chat.shown()
    assert (message.text, message.earlier, message.buttons) == ("done", ["waiting"], [])


def test_a_file_arrives_whole_as_a_reply(api: BotApi) -> None:
    chat = api.group()
    content = bytes(range(256)) * 500

    async def scene() -> None:
        async with client(api) as transport:
            card = await transport.send(CHAT, "card")
            await transport.document(CHAT, "größe.diff", content, caption="<b>diff</b>", reply_to=card.message_id)

    play(scene)
    card, file = chat.shown()
    assert file.document == ("größe.diff", content)
    assert (file.text, file.reply_to) == ("diff", card.message_id)


def test_a_reply_to_a_message_that_is_gone_is_sent_all_the_same(api: BotApi) -> None:
    chat = api.group()

    async def scene() -> None:
        async with client(api) as transport:
            await transport.send(CHAT, "answer", reply_to=4711)

    play(scene)
    assert [message.text for message in chat.shown()] == ["answer"]


def test_deleting_twice_is_no_error(api: BotApi) -> None:
    chat = api.group()

    async def scene() -> None:
        async with client(api) as transport:
            sent = await transport.send(CHAT, "short-lived")
            await transport.delete(CHAT, sent.message_id)
            await transport.delete(CHAT, sent.message_id)

    play(scene)
    assert chat.shown() == []


@pytest.mark.parametrize("topic", [None, 0, 1])
def test_a21_the_general_topic_is_never_named(api: BotApi, topic: int | None) -> None:
    chat = api.group(forum=True)

    async def scene() -> None:
        async with client(api) as transport:
            await transport.send(CHAT, "to all", topic=topic)

    play(scene)
    assert "message_thread_id" not in api.called("sendMessage")[0].values
    assert chat.shown()[0].topic is None


def test_a21_a_thread_of_replies_is_not_taken_for_a_topic(api: BotApi) -> None:
    chat, ann = api.group(forum=True), api.person(11, "Ann")
    first = ann.says(chat, "/status")
    ann.says(chat, "/why", reply_to=first.message_id)
    ann.says(chat, "/status", topic=5)

    async def scene() -> None:
        async with client(api) as transport:
            facts = [facts_of(update) for update in await transport.get_updates(None)]
            assert [(f.topic, f.reply_to) for f in facts] == [(None, None), (None, first.message_id), (5, None)]

    play(scene)


def test_a24_a_button_that_telegram_would_refuse_cannot_be_made() -> None:
    assert Button("Approve", "x" * 64)
    with pytest.raises(ValueError, match="64 bytes"):
        Button("Approve", "ж" * 33)


FAILURES: dict[str, tuple[Fault, type[CallFailed]]] = {
    "429": (flood(37), Flood),
    "500": (server_error(500), Ambiguous),
    "502": (server_error(502, applied=True), Ambiguous),
    "a time-out": (stall(applied=True), Ambiguous),
    "a reset": (reset(), Ambiguous),
    "a proxy's page": (garbage(), Ambiguous),
    "409": (error(409, "Conflict: terminated by other getUpdates request"), Contended),
    "401": (error(401, "Unauthorized"), Unauthorised),
    "404": (error(404, "Not Found"), Unauthorised),
    "too large": (error(413, "Request Entity Too Large"), Rejected),
    "kicked": (error(403, "Forbidden: bot was kicked from the supergroup chat"), Gone),
    "migrated": (error(400, "Bad Request: group chat was upgraded", migrate_to_chat_id=-1002), Migrated),
    "not modified": (error(400, "Bad Request: message is not modified: specified new message content"), Unmodified),
}


@pytest.mark.parametrize(("fault", "kind"), FAILURES.values(), ids=FAILURES)
def test_p3_every_failure_is_told_apart(api: BotApi, fault: Fault, kind: type[CallFailed]) -> None:
    api.group()
    api.script("sendMessage", [fault])

    async def scene() -> None:
        async with client(api, IMPATIENT) as transport:
            with pytest.raises(CallFailed) as caught:
                await transport.send(CHAT, "hello")
            assert type(caught.value) is kind

    play(scene)
    assert len(api.called("sendMessage")) == 1


def test_a12_a_flood_wait_says_how_long_even_if_a_proxy_did_not(api: BotApi) -> None:
    api.script("sendMessage", [flood(37), error(429, "Too Many Requests")])

    async def scene() -> None:
        async with client(api) as transport:
            for expected in (37.0, 30.0):
                with pytest.raises(Flood) as caught:
                    await transport.send(CHAT, "hello")
                assert caught.value.retry_after == expected

    play(scene)


GONE = {
    "message thread not found": Lost.TOPIC,
    "TOPIC_CLOSED": Lost.TOPIC,
    "chat not found": Lost.CHAT,
    "not enough rights to send text messages to the chat": Lost.CHAT,
    "message to edit not found": Lost.MESSAGE,
    "message can't be edited": Lost.MESSAGE,
    "query is too old and response timeout expired or query ID is invalid": Lost.QUERY,
}


@pytest.mark.parametrize(("text", "what"), GONE.items(), ids=GONE)
def test_what_is_gone_is_named(api: BotApi, text: str, what: Lost) -> None:
    api.script("sendMessage", [error(400, f"Bad Request: {text}")])

    async def scene() -> None:
        async with client(api) as transport:
            with pytest.raises(Gone) as caught:
                await transport.send(CHAT, "hello")
            assert caught.value.what is what

    play(scene)


REFUSALS = {
    "can't parse entities: Unmatched end tag at byte offset 3": Refusal.PARSE,
    "message is too long": Refusal.TOO_LONG,
    "BUTTON_DATA_INVALID": Refusal.OTHER,
    "the message is not modified by this": Refusal.OTHER,
}


@pytest.mark.parametrize(("text", "fault"), REFUSALS.items(), ids=REFUSALS)
def test_a14_other_refusals_are_not_folded_together(api: BotApi, text: str, fault: Refusal) -> None:
    api.script("sendMessage", [error(400, f"Bad Request: {text}")])

    async def scene() -> None:
        async with client(api) as transport:
            with pytest.raises(Rejected) as caught:
                await transport.send(CHAT, "hello")
            assert caught.value.fault is fault

    play(scene)


def test_a_refused_connection_surely_did_nothing(api: BotApi) -> None:
    api.stop()

    async def scene() -> None:
        async with client(api) as transport:
            with pytest.raises(NotDone):
                await transport.send(CHAT, "hello")

    play(scene)


def test_a_name_that_is_not_found_surely_did_nothing(api: BotApi) -> None:
    async def scene() -> None:
        async with client(api, url="http://telegram.invalid") as transport:
            with pytest.raises(NotDone):
                await transport.send(CHAT, "hello")

    play(scene)


def test_an_update_that_cannot_be_read_does_not_hide_the_others(api: BotApi) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    with api.lock:
        api.world.push("message", {"message_id": "seven", "chat": []})
    ann.says(chat, "/status")

    async def scene() -> None:
        async with client(api) as transport:
            facts = [facts_of(update) for update in await transport.get_updates(None)]
            assert [f.kind for f in facts] == ["nothing known", "message"]

    play(scene)


def test_a25_the_token_is_in_no_log_no_text_and_no_representation(
    api: BotApi, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    api.script("sendMessage", [garbage(), reset(), error(400, f"Bad Request: no {api.token}"), stall()])
    api.script("getUpdates", [error(409, "Conflict"), error(401, "Unauthorized"), garbage()])
    told: list[str] = []

    async def scene() -> None:
        async with client(api, IMPATIENT) as transport:
            told.append(f"{transport!r} {transport}")
            for _ in range(4):
                with pytest.raises(CallFailed) as caught:
                    await transport.send(CHAT, "hello")
                told.append("".join(traceback.format_exception(caught.value)) + repr(caught.value))
            for _ in range(3):
                with pytest.raises(CallFailed) as caught:
                    await transport.get_updates(None)
                told.append("".join(traceback.format_exception(caught.value)) + repr(caught.value))
            with pytest.raises((TypeError, pickle.PicklingError)):
                pickle.dumps(transport)

    play(scene)
    secret = api.token.partition(":")[2].lower()
    everything = "\n".join([*told, *(record.getMessage() for record in caplog.records), caplog.text])
    assert "hello" not in caplog.text  # the libraries were heard at all levels, and had nothing to say
    assert secret not in everything.lower()
