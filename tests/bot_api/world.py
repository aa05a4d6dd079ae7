"""What the server knows: chats and what is shown in them, updates that wait for the bot, presses to be answered."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Markup = list[list[dict[str, str]]]  # rows of buttons, as the Bot API has them


@dataclass
class Shown:
    """A message as a chat shows it."""

    message_id: int
    sender: dict[str, Any]
    text: str  # without markup
    html: str = ""  # as the bot sent it
    entities: list[tuple[str, int, int]] = field(default_factory=list)
    buttons: Markup = field(default_factory=list)
    topic: int | None = None
    reply_to: int | None = None
    document: tuple[str, bytes] | None = None
    photo: tuple[str, bytes] | None = None
    silent: bool = False
    deleted: bool = False
    earlier: list[str] = field(default_factory=list)  # the texts before each edit, oldest first
    date: int = field(default_factory=lambda: int(time.time()))

    def labels(self) -> list[str]:
        """Return what the buttons say."""
        return [button["text"] for row in self.buttons for button in row]

    def data_of(self, label: str) -> str:
        """Return what comes back when the button that says `label` is pressed."""
        return next(b["callback_data"] for row in self.buttons for b in row if b["text"] == label)


@dataclass
class Chat:
    """A private chat, group, supergroup or channel."""

    chat_id: int
    kind: str
    title: str = ""
    topics: set[int] | None = None  # of a forum; None if it is none
    messages: dict[int, Shown] = field(default_factory=dict)
    refusal: str = ""  # why the bot may not write here (403)
    migrated_to: int | None = None

    def shown(self) -> list[Shown]:
        """Return the messages that are there, oldest first."""
        return [message for message in self.messages.values() if not message.deleted]

    def from_bot(self) -> list[Shown]:
        """Return what the bot shows here, oldest first."""
        return [message for message in self.shown() if message.sender["is_bot"]]

    def as_json(self) -> dict[str, Any]:
        """Return the chat as the Bot API describes it."""
        described: dict[str, Any] = {"id": self.chat_id, "type": self.kind}
        described |= {"first_name": self.title} if self.kind == "private" else {"title": self.title}
        return described | ({"is_forum": True} if self.topics is not None else {})


@dataclass
class Press:
    """A press on a button that waits for its answer."""

    too_old: bool = False
    answer: str | None = None
    alert: bool = False


class World:
    """Everything, without any HTTP; whoever uses it from several threads holds the server's lock."""

    def __init__(self, bot_id: int) -> None:
        self.bot = {"id": bot_id, "is_bot": True, "first_name": "Gateway", "username": "gateway_bot"}
        self.chats: dict[int, Chat] = {}
        self.updates: list[dict[str, Any]] = []
        self.presses: dict[str, Press] = {}
        self.commands: list[dict[str, str]] = []
        self.webhook = ""
        self.heard: list[str] | None = None  # the kinds of update that the bot asked for
        self.arrived: Callable[[], None] = lambda: None
        self._message_ids = itertools.count(1)
        self._update_ids = itertools.count(1000)
        self._press_ids = itertools.count(90_000)

    def chat(self, chat_id: int, kind: str = "supergroup", title: str = "Ops", *, forum: bool = False) -> Chat:
        """Return the chat, made if there is none yet."""
        return self.chats.setdefault(chat_id, Chat(chat_id, kind, title, {5, 6} if forum else None))

    def post(self, chat: Chat, sender: dict[str, Any], text: str, **more: Any) -> Shown:
        """Put a message into the chat."""
        message = Shown(next(self._message_ids), sender, text, **more)
        chat.messages[message.message_id] = message
        return message

    def push(self, kind: str, content: dict[str, Any]) -> int:
        """Let an update wait for the bot, unless it does not hear its kind; return its number."""
        number = next(self._update_ids)
        if self.heard is None or kind in self.heard:
            self.updates.append({"update_id": number, kind: content})
            self.arrived()
        return number

    def redeliver(self, update: dict[str, Any]) -> None:
        """Let an update come once more."""
        self.updates.append(update)
        self.arrived()

    def press_id(self) -> str:
        """Return the number of a new press."""
        number = str(next(self._press_ids))
        self.presses[number] = Press()
        return number

    def migrate(self, old: Chat, new_id: int) -> Chat:
        """Turn a group into a supergroup with another id, as Telegram does: both chats get a notice."""
        new = self.chat(new_id, "supergroup", old.title)
        old.migrated_to = new_id
        sender = {"id": 777000, "is_bot": False, "first_name": "Telegram"}
        for chat, notice in ((old, {"migrate_to_chat_id": new_id}), (new, {"migrate_from_chat_id": old.chat_id})):
            message = self.post(chat, sender, "")
            self.push("message", self.message_json(chat, message) | notice)
        return new

    def message_json(self, chat: Chat, message: Shown) -> dict[str, Any]:
        """Return the message as the Bot API describes it."""
        described: dict[str, Any] = {
            "message_id": message.message_id,
            "date": message.date,
            "chat": chat.as_json(),
            "from": message.sender,
        }
        if message.document is not None:
            name, content = message.document
            file_id = f"file{message.message_id}"
            described["document"] = {
                "file_id": file_id, "file_unique_id": file_id, "file_name": name, "file_size": len(content),
            }  # fmt: skip
            described |= {"caption": message.text} if message.text else {}
        elif message.photo is not None:
            file_id, (width, height) = f"file{message.message_id}", _size(message.photo[1])
            described["photo"] = [{"file_id": file_id, "file_unique_id": file_id, "width": width, "height": height}]
            described |= {"caption": message.text} if message.text else {}
        elif message.text:
            described["text"] = message.text
        if message.buttons:
            described["reply_markup"] = {"inline_keyboard": message.buttons}
        if message.topic is not None:
            described |= {"message_thread_id": message.topic, "is_topic_message": True}
        return described | self._reply_json(chat, message)

    def _reply_json(self, chat: Chat, message: Shown) -> dict[str, Any]:
        if message.reply_to is None or message.reply_to not in chat.messages:
            return {}
        answered = {"message_id": message.reply_to, "date": message.date, "chat": chat.as_json()}
        # outside of topics a reply carries a thread id that is none (A21)
        thread = {} if message.topic is not None else {"message_thread_id": message.reply_to}
        return {"reply_to_message": answered, **thread}


def _size(png: bytes) -> tuple[int, int]:
    """Return the width and the height that a PNG names in its first chunk."""
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])
