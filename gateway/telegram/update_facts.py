"""What one update says, as a frozen value: everything that deciding who speaks, and answering, depends on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from telegram import CallbackQuery, MaybeInaccessibleMessage, Message, Update, User

GENERAL_TOPIC = 1  # forums call their main topic that in some places; sending to it by number is refused (A21)


@dataclass(frozen=True)
class UpdateFacts:
    """One update of the Bot API.

    `kind` is `message`, `edited_message`, `callback_query`, or the name of any other kind, which nothing is known
    about. `date` is when the message was written (zone-aware); a press carries none. `topic` is set only inside a
    topic of a forum: neither the General topic nor a thread of replies counts as one (A21).
    """

    update_id: int
    kind: str
    chat_id: int | None = None
    chat_type: str = ""
    topic: int | None = None
    user_id: int | None = None
    user_name: str = ""  # as shown to people: `@name`, or the full name; foreign text
    is_bot: bool = False
    sender_chat_id: int | None = None  # set when somebody writes as a group or channel
    is_forward: bool = False
    via_bot: bool = False
    message_id: int | None = None  # of the message, or of the message whose button was pressed
    text: str = ""
    date: datetime | None = None
    reply_to: int | None = None  # message id
    migrated_to: int | None = None  # Telegram's own notice that this group became a supergroup
    query_id: str = ""
    query_data: str = ""
    redelivered: bool = False

    def age(self, now: datetime) -> float | None:
        """Return how many seconds before `now` the message was written; None if it carries no date (A29)."""
        return None if self.date is None else (now - self.date).total_seconds()


def topic_of(thread_id: int | None) -> int | None:
    """Given a thread id as settings or Telegram have it, return the topic, None being the General one (A21)."""
    return None if thread_id is None or thread_id <= GENERAL_TOPIC else thread_id


def facts_of(update: Update, *, redelivered: bool = False) -> UpdateFacts:
    """Return what `update` says; `redelivered` tells that it has been handled before."""
    if update.callback_query is not None:
        return _of_press(update.update_id, update.callback_query, redelivered)
    if update.message is not None:
        return _of_message(update.update_id, "message", update.message, redelivered)
    if update.edited_message is not None:
        return _of_message(update.update_id, "edited_message", update.edited_message, redelivered)
    kinds = (name for name in update.to_dict() if name != "update_id")
    return UpdateFacts(update.update_id, next(kinds, "nothing known"), redelivered=redelivered)


def _of_press(update_id: int, query: CallbackQuery, redelivered: bool) -> UpdateFacts:
    pressed = query.message
    return UpdateFacts(
        update_id,
        "callback_query",
        chat_id=None if pressed is None else pressed.chat.id,
        chat_type="" if pressed is None else pressed.chat.type,
        topic=None if pressed is None else _topic(pressed),
        user_id=query.from_user.id,
        user_name=_shown(query.from_user),
        is_bot=query.from_user.is_bot,
        message_id=None if pressed is None else pressed.message_id,
        query_id=query.id,
        query_data=query.data or "",
        redelivered=redelivered,
    )


def _of_message(update_id: int, kind: str, message: Message, redelivered: bool) -> UpdateFacts:
    user = message.from_user
    return UpdateFacts(
        update_id,
        kind,
        chat_id=message.chat.id,
        chat_type=message.chat.type,
        topic=_topic(message),
        user_id=None if user is None else user.id,
        user_name="" if user is None else _shown(user),
        is_bot=user is not None and user.is_bot,
        sender_chat_id=None if message.sender_chat is None else message.sender_chat.id,
        is_forward=message.forward_origin is not None or bool(message.is_automatic_forward),
        via_bot=message.via_bot is not None,
        message_id=message.message_id,
        text=message.text or "",
        date=message.date,
        reply_to=None if message.reply_to_message is None else message.reply_to_message.message_id,
        migrated_to=message.migrate_to_chat_id,
        redelivered=redelivered,
    )


def _topic(message: MaybeInaccessibleMessage) -> int | None:
    if not getattr(message, "is_topic_message", False):
        return None
    return topic_of(getattr(message, "message_thread_id", None))


def _shown(user: User) -> str:
    return f"@{user.username}" if user.username else user.full_name
