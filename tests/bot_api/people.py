"""Who writes and presses: people, and what looks like people (anonymous administrators, bots, forwards)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot_api.world import Chat, Press, Shown

if TYPE_CHECKING:
    from bot_api.server import BotApi

_ANONYMOUS = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
_AS_CHANNEL = {"id": 136817688, "is_bot": True, "first_name": "Channel", "username": "Channel_Bot"}


@dataclass(frozen=True)
class Person:
    """Somebody with a Telegram account; every action is seen by the bot as an update."""

    api: BotApi
    user_id: int
    name: str
    username: str = ""
    is_bot: bool = False

    def as_json(self) -> dict[str, Any]:
        described = {"id": self.user_id, "is_bot": self.is_bot, "first_name": self.name}
        return described | ({"username": self.username} if self.username else {})

    def says(
        self, chat: Chat, text: str, *, topic: int | None = None, reply_to: int | None = None, ago: int = 0
    ) -> Shown:
        """Write a message, `ago` seconds ago."""
        return self._write(chat, self.as_json(), text, {}, topic=topic, reply_to=reply_to, ago=ago)

    def says_anonymously(self, chat: Chat, text: str) -> Shown:
        """Write as an anonymous administrator: the group itself is the sender."""
        return self._write(chat, _ANONYMOUS, text, {"sender_chat": chat.as_json()})

    def says_as_channel(self, chat: Chat, text: str, channel_id: int = -1009) -> Shown:
        """Write in the name of a channel that one owns."""
        channel = {"id": channel_id, "type": "channel", "title": "News"}
        return self._write(chat, _AS_CHANNEL, text, {"sender_chat": channel})

    def forwards(self, chat: Chat, text: str, author: Person) -> Shown:
        """Forward what somebody else wrote."""
        origin = {"type": "user", "date": int(time.time()), "sender_user": author.as_json()}
        return self._write(chat, self.as_json(), text, {"forward_origin": origin})

    def says_by_inline_bot(self, chat: Chat, text: str) -> Shown:
        """Send what an inline bot made."""
        return self._write(chat, self.as_json(), text, {"via_bot": _AS_CHANNEL})

    def edits(self, chat: Chat, message: Shown, text: str) -> None:
        """Change an earlier message of one's own."""
        with self.api.lock:
            message.text = text
            content = self.api.world.message_json(chat, message) | {"edit_date": int(time.time())}
            self.api.world.push("edited_message", content)

    def presses(self, chat: Chat, message: Shown, label: str) -> str:
        """Press the button that says `label`; return the number of the press."""
        return self.presses_data(chat, message, message.data_of(label))

    def presses_data(self, chat: Chat, message: Shown, data: str) -> str:
        """Press a button with this data, which a forged client may make up."""
        with self.api.lock:
            number = self.api.world.press_id()
            self.api.world.push(
                "callback_query",
                {
                    "id": number,
                    "from": self.as_json(),
                    "chat_instance": "1",
                    "data": data,
                    "message": self.api.world.message_json(chat, message),
                },
            )
            return number

    def press(self, number: str) -> Press:
        """Return what became of a press."""
        with self.api.lock:
            return self.api.world.presses[number]

    def posts(self, channel: Chat, text: str) -> None:
        """Write a post in a channel."""
        with self.api.lock:
            message = self.api.world.post(channel, self.as_json(), text)
            content = self.api.world.message_json(channel, message)
            del content["from"]
            self.api.world.push("channel_post", content | {"sender_chat": channel.as_json()})

    def _write(
        self, chat: Chat, sender: dict[str, Any], text: str, extra: dict[str, Any], *, ago: int = 0, **more: Any
    ) -> Shown:
        with self.api.lock:
            message = self.api.world.post(chat, sender, text, date=int(time.time()) - ago, **more)
            self.api.world.push("message", self.api.world.message_json(chat, message) | extra)
            return message
