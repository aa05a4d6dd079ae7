"""What stands below a message, as Telegram takes it: buttons, or a reply that is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from telegram import ForceReply, InlineKeyboardButton, InlineKeyboardMarkup, ReplyParameters

CALLBACK_DATA_MAX_BYTES = 64  # Bot API, InlineKeyboardButton (A24)


@dataclass(frozen=True)
class Button:
    """A button under a message. Raise ValueError if Telegram would refuse it."""

    text: str
    data: str  # comes back when it is pressed

    def __post_init__(self) -> None:
        if not self.text or not 1 <= len(self.data.encode()) <= CALLBACK_DATA_MAX_BYTES:
            raise ValueError(f"a button needs a text and 1 to {CALLBACK_DATA_MAX_BYTES} bytes of data")


Buttons = Sequence[Sequence[Button]]  # rows from top to bottom


def keyboard(buttons: Buttons | None) -> InlineKeyboardMarkup | None:
    """Return buttons as Telegram takes them, None for none."""
    if not buttons:
        return None
    rows = [[InlineKeyboardButton(button.text, callback_data=button.data) for button in row] for row in buttons]
    return InlineKeyboardMarkup(rows)


def opened_reply(chat: int, hint: str) -> ForceReply | None:
    """Return what opens a reply on the phone of whoever a message mentions, None without a hint for its field."""
    if not hint:
        return None
    return ForceReply(selective=chat < 0, input_field_placeholder=hint)  # in a group it is nobody else's business


def reply(message_id: int | None) -> ReplyParameters | None:
    """Return what makes a message a reply; where the other one was deleted meanwhile it is sent all the same."""
    return None if message_id is None else ReplyParameters(message_id, allow_sending_without_reply=True)
