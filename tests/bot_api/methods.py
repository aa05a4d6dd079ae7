"""The methods of the Bot API that change or show something, on a World; their errors are Telegram's own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot_api.markup import Parsed, ParseError, parse, utf16
from bot_api.world import Chat, Shown, World

TEXT_MAX = 4096  # UTF-16 units, after parsing
CAPTION_MAX = 1024
PHOTO_MAX = 10 * 1024 * 1024  # bytes
PNG = b"\x89PNG\r\n\x1a\n"


class Refusal(Exception):
    """An error as the Bot API answers it."""

    def __init__(self, status: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.status, self.description, self.parameters = status, description, parameters


def bad(description: str) -> Refusal:
    return Refusal(400, f"Bad Request: {description}")


def call(world: World, method: str, values: Mapping[str, Any], files: Mapping[str, tuple[str, bytes]]) -> Any:
    """Make one call whose parameters are known to fit the schema; return its result or raise Refusal."""
    match method:
        case "getMe":
            return world.bot | {"can_join_groups": True, "can_read_all_group_messages": False}
        case "sendMessage":
            return _send(world, values)
        case "sendDocument":
            return _document(world, values, files)
        case "sendPhoto":
            return _photo(world, values, files)
        case "editMessageText":
            return _edit(world, values)
        case "deleteMessage":
            return _delete(world, values)
        case "answerCallbackQuery":
            return _answer(world, values)
        case "setMyCommands":
            world.commands = values["commands"]
        case "deleteWebhook":
            world.webhook = ""
    return True


def _send(world: World, values: Mapping[str, Any]) -> Any:
    chat = _writable(world, values)
    parsed = _text(values, "text", TEXT_MAX)
    if not parsed.text.strip():
        raise bad("message text is empty")
    return _posted(world, chat, values, parsed, values["text"])


def _document(world: World, values: Mapping[str, Any], files: Mapping[str, tuple[str, bytes]]) -> Any:
    chat = _writable(world, values)
    parsed = _text(values, "caption", CAPTION_MAX)
    content = files[values["document"].removeprefix("attach://")]
    if not content[1]:
        raise bad("file must be non-empty")
    return _posted(world, chat, values, parsed, values.get("caption", ""), document=content)


def _photo(world: World, values: Mapping[str, Any], files: Mapping[str, tuple[str, bytes]]) -> Any:
    chat = _writable(world, values)
    parsed = _text(values, "caption", CAPTION_MAX)
    name, content = files[values["photo"].removeprefix("attach://")]
    if not content.startswith(PNG) or len(content) > PHOTO_MAX:
        raise bad("IMAGE_PROCESS_FAILED")
    return _posted(world, chat, values, parsed, values.get("caption", ""), photo=(name, content))


def _posted(
    world: World, chat: Chat, values: Mapping[str, Any], parsed: Parsed, html: str, **more: Any
) -> dict[str, Any]:
    message = world.post(
        chat,
        world.bot,
        parsed.text.strip(),
        html=html,
        entities=parsed.entities,
        buttons=_buttons(values),
        topic=values.get("message_thread_id"),
        reply_to=_reply_target(chat, values),
        silent=values.get("disable_notification", False),
        **more,
    )
    return world.message_json(chat, message)


def _writable(world: World, values: Mapping[str, Any]) -> Chat:
    chat = _chat(world, values)
    topic = values.get("message_thread_id")
    if topic is not None and topic not in (chat.topics or ()):
        raise bad("message thread not found")  # General, which is number 1 elsewhere, included (A21)
    return chat


def _chat(world: World, values: Mapping[str, Any]) -> Chat:
    chat = world.chats.get(values["chat_id"])
    if chat is None:
        raise bad("chat not found")
    if chat.migrated_to is not None:
        raise Refusal(
            400,
            "Bad Request: group chat was upgraded to a supergroup chat",
            migrate_to_chat_id=chat.migrated_to,
        )
    if chat.refusal:
        raise Refusal(403, f"Forbidden: {chat.refusal}")
    return chat


def _text(values: Mapping[str, Any], name: str, limit: int) -> Parsed:
    raw = values.get(name, "")
    mode = values.get("parse_mode")
    if mode not in (None, "HTML"):
        raise bad("unsupported parse_mode")
    try:
        parsed = parse(raw) if mode else Parsed(raw)
    except ParseError as problem:
        raise Refusal(400, str(problem)) from None
    if utf16(parsed.text) > limit:
        raise bad("message is too long" if name == "text" else "message caption is too long")
    return parsed


def _buttons(values: Mapping[str, Any]) -> list[list[dict[str, str]]]:
    rows: list[list[dict[str, str]]] = values.get("reply_markup", {}).get("inline_keyboard", [])
    for row in rows:
        for button in row:
            if not 1 <= len(button.get("callback_data", "").encode()) <= 64:
                raise bad("BUTTON_DATA_INVALID")
    return rows


def _reply_target(chat: Chat, values: Mapping[str, Any]) -> int | None:
    reply = values.get("reply_parameters")
    if reply is None:
        return None
    target = chat.messages.get(reply["message_id"])
    if target is not None and not target.deleted:
        return target.message_id
    if not reply.get("allow_sending_without_reply"):
        raise bad("message to be replied not found")
    return None


def _edit(world: World, values: Mapping[str, Any]) -> Any:
    chat = _chat(world, values)
    message = _own(world, chat, values, "edit")
    if message.document is not None or message.photo is not None:
        raise bad("there is no text in the message to edit")
    parsed, buttons = _text(values, "text", TEXT_MAX), _buttons(values)
    if not parsed.text.strip():
        raise bad("message text is empty")
    if (message.text, message.entities, message.buttons) == (parsed.text.strip(), parsed.entities, buttons):
        raise bad(
            "message is not modified: specified new message content and reply markup are exactly the same as a "
            "current content and reply markup of the message"
        )
    message.earlier.append(message.text)
    message.text, message.html, message.entities = parsed.text.strip(), values["text"], parsed.entities
    message.buttons = buttons
    return world.message_json(chat, message)


def _delete(world: World, values: Mapping[str, Any]) -> bool:
    _own(world, _chat(world, values), values, "delete").deleted = True
    return True


def _own(world: World, chat: Chat, values: Mapping[str, Any], verb: str) -> Shown:
    message = chat.messages.get(values["message_id"])
    if message is None or message.deleted:
        raise bad(f"message to {verb} not found")
    if message.sender["id"] != world.bot["id"]:
        raise bad(f"message can't be {verb}{'d' if verb.endswith('e') else 'ed'}")
    return message


def _answer(world: World, values: Mapping[str, Any]) -> bool:
    press = world.presses.get(values["callback_query_id"])
    if press is None or press.too_old or press.answer is not None:
        raise bad("query is too old and response timeout expired or query ID is invalid")
    press.answer, press.alert = values.get("text", ""), values.get("show_alert", False)
    return True
