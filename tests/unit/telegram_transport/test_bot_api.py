"""The test server is as strict as the documentation: what Telegram refuses must not pass here."""

from __future__ import annotations

import pytest
from bot_api import World
from bot_api.markup import ParseError, parse
from bot_api.methods import Refusal, call
from bot_api.schema import METHODS, BadCall, decode

CHAT = "-1001"


@pytest.mark.parametrize(
    ("method", "fields"),
    [
        ("sendMessage", {"chat_id": CHAT, "text": "x", "colour": "red"}),
        ("sendMessage", {"chat_id": CHAT}),
        ("sendMessage", {"chat_id": CHAT, "text": "x", "message_thread_id": '"5"'}),
        ("sendMessage", {"chat_id": CHAT, "text": "x", "disable_notification": "1"}),
        ("sendMessage", {"chat_id": CHAT, "text": "x", "reply_markup": '{"inline_keyboard": [{"text": "x"}]}'}),
        ("sendMessage", {"chat_id": CHAT, "text": "x", "reply_markup": '{"inline_keyboard": [[{"text": 1}]]}'}),
        ("answerCallbackQuery", {"callback_query_id": "1", "text": "x" * 201}),
        ("setMyCommands", {"commands": '[{"command": "x"}]'}),
        ("setMyCommands", {"commands": "[{]"}),
        ("sendDocument", {"chat_id": CHAT, "document": "attach://file0"}),
    ],
)
def test_a_call_that_breaks_the_schema_is_noticed(method: str, fields: dict[str, str]) -> None:
    with pytest.raises(BadCall):
        decode(method, fields, [])


def test_button_data_is_measured_in_bytes() -> None:
    markup = '{"inline_keyboard": [[{"text": "x", "callback_data": "%s"}]]}'

    assert decode("sendMessage", {"chat_id": CHAT, "text": "x", "reply_markup": markup % ("x" * 64)}, [])
    with pytest.raises(BadCall, match="66 bytes"):
        decode("sendMessage", {"chat_id": CHAT, "text": "x", "reply_markup": markup % ("ж" * 33)}, [])


def test_every_method_is_known_with_its_parameters() -> None:
    assert "sendMessage" in METHODS
    assert METHODS["sendMessage"]["text"] == {
        "type": "String", "required": True, "limit": "1-4096 characters after entities parsing",
    }  # fmt: skip


def test_markup_is_read_as_telegram_does() -> None:
    parsed = parse('<b>a <i>😀</i></b> &lt;&amp;&#65; &nbsp; <pre><code class="language-x">y</code></pre>')

    assert parsed.text == "a 😀 <&A &nbsp; y"
    assert parsed.entities == [("italic", 2, 2), ("bold", 0, 4), ("code", 16, 1), ("pre", 16, 1)]


@pytest.mark.parametrize(
    "html", ["<b>", "</b>", "<b><i></b></i>", "a < b", "<script>x</script>", '<b class="x">y</b>']
)
def test_markup_that_telegram_cannot_read_is_refused(html: str) -> None:
    with pytest.raises(ParseError, match="can't parse entities"):
        parse(html)


def text(chat: str, content: str, mode: str = "HTML") -> dict[str, object]:
    return decode("sendMessage", {"chat_id": chat, "text": content, "parse_mode": mode}, [])


@pytest.mark.parametrize(
    ("chat", "content", "status"),
    [
        ("-7", "x", 400),
        (CHAT, "<b></b>", 400),
        (CHAT, "😀" * 2049, 400),
        ("-2", "x", 403),
        ("-3", "x", 400),
    ],
    ids=["no such chat", "empty", "too long in UTF-16", "kicked", "migrated"],
)
def test_a_message_that_telegram_would_not_take_is_refused(chat: str, content: str, status: int) -> None:
    world = World(7)
    world.chat(-1001)
    world.chat(-2).refusal = "bot was kicked from the group chat"
    world.chat(-3).migrated_to = -4

    with pytest.raises(Refusal) as caught:
        call(world, "sendMessage", text(chat, content), {})
    assert caught.value.status == status


def test_tags_do_not_count_for_the_length_of_a_message() -> None:
    world = World(7)
    world.chat(-1001)

    assert call(world, "sendMessage", text(CHAT, f"<b>{'x' * 4096}</b>"), {})


def test_a_press_is_answered_once() -> None:
    world = World(7)
    answer = {"callback_query_id": world.press_id(), "text": "done"}

    assert call(world, "answerCallbackQuery", answer, {}) is True
    with pytest.raises(Refusal, match="query is too old"):
        call(world, "answerCallbackQuery", answer, {})
