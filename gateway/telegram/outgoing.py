"""What is put in front of operators, and what can become of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from gateway.telegram.failures import Lost
from gateway.telegram.keyboards import Buttons

TEXT_ROOM = 3900  # UTF-16 units for `html` without its tags: Telegram's 4096 less what may be noted below it
CAPTION_ROOM = 850  # the same for the caption of a file, of 1024


class Priority(IntEnum):
    """What goes first when not everything can go at once."""

    APPROVAL = 0  # somebody has to decide, or waits for an answer
    DECIDED = 1  # what became of a decision
    CARD = 2
    ROUTINE = 3


class Kind(StrEnum):
    """What to do in the chat. Presses are not answered this way, but at once: `Delivery.answer`."""

    SEND = "send"
    EDIT = "edit"
    DELETE = "delete"
    DOCUMENT = "document"
    PHOTO = "photo"

    @property
    def is_file(self) -> bool:
        """Whether there is a file in it, and its text is a caption."""
        return self in (Kind.DOCUMENT, Kind.PHOTO)


@dataclass(frozen=True)
class Outgoing:
    """One thing to do in a chat.

    `key` is the card it belongs to: what has the same key is done in the order in which it was put, and a card is
    one message, so a second SEND of a key that meanwhile was shown becomes an edit of it. `html` is at
    most TEXT_ROOM units long without its tags (a caption CAPTION_ROOM); `plain` is shown instead where Telegram
    cannot read it, by default the same without its tags. `message_id` says what to edit or delete.

    `reply_hint`, where there are no buttons: the phone of whoever the text mentions opens a reply with this hint.

    `important`: should nobody know whether it arrived, it is sent once more, with a mark that says so. `repeat` sets
    that mark from the start, for a caller that sends something again after an uncertain end. Raise ValueError if
    something lacks that its kind needs.
    """

    key: str
    kind: Kind
    chat: int
    html: str = ""
    plain: str = ""
    buttons: Buttons = ()
    topic: int | None = None
    message_id: int | None = None
    reply_to: int | None = None
    silent: bool = False
    reply_hint: str = ""
    important: bool = False
    repeat: bool = False
    file_name: str = ""
    content: bytes = b""  # of the file

    def __post_init__(self) -> None:
        if self.kind in (Kind.EDIT, Kind.DELETE) and self.message_id is None:
            raise ValueError(f"which message to {self.kind}?")
        if self.kind.is_file and not (self.file_name and self.content):
            raise ValueError("a file needs a name and at least one byte")


@dataclass(frozen=True)
class Delivered:
    """It is in the chat. `topic` is where it really went; `marked` says that it may be there twice."""

    chat: int
    message_id: int
    topic: int | None = None
    marked: bool = False


@dataclass(frozen=True)
class Uncertain:
    """It may be in the chat or not, and nobody knows (A10)."""

    reason: str


@dataclass(frozen=True)
class Vanished:
    """What it was for is not there: the message to edit, or the chat as a whole (A23)."""

    what: Lost
    reason: str


@dataclass(frozen=True)
class Declined:
    """Telegram does not take it, in any form."""

    reason: str


@dataclass(frozen=True)
class Superseded:
    """It never went: something newer of the same card took its place."""


Outcome = Delivered | Uncertain | Vanished | Declined | Superseded
