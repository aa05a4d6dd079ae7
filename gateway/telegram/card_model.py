"""What a card is: text in two forms, buttons as data, files to go with it. And what every card is made with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from enum import StrEnum

from executor.record.redaction import Redactor
from gateway.telegram.html import Markup, Pen
from gateway.telegram.text_budget import Block, fit


class Action(StrEnum):
    """What a button asks for. `Button.target` is what it is about."""

    APPROVE = "approve"  # an approval
    DENY = "deny"  # an approval; answered with the reasons to choose from
    DENY_BECAUSE = "deny_because"  # an approval; `Button.reason` is the reason, "" for none
    DENY_IN_WORDS = "deny_in_words"  # an approval; the reason comes as a reply to the question that follows
    BACK = "back"  # an approval: from the reasons to the buttons before
    DETAILS = "details"  # a request
    SHOW = "show"  # a request: its card once more, at the end of the chat
    UNDO = "undo"  # a request
    RECOVER = "recover"  # a repository
    UNFREEZE = "unfreeze"  # a freeze, by the moment it began: an older notice does not end a newer one


@dataclass(frozen=True, slots=True)
class Button:
    """A button before it has a token. `digest` names what an approve or deny is about, "" for other actions."""

    label: str
    action: Action
    target: str = ""
    digest: str = ""
    reason: str = ""


Keyboard = tuple[tuple[Button, ...], ...]  # rows of buttons


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text file to send along; masked, and with hidden characters made visible."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture to send along: a PNG that the gateway had drawn."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Card:
    """One message. `plain` is the same text without markup, for when Telegram does not take the markup (A16).

    `reply_hint` is set for a question that is answered by a reply: what stands in the empty field of the one whom
    the text mentions. `too_long` says that what an operator must see does not fit: the card says that, and offers no
    approval (A31).
    """

    html: str
    plain: str
    buttons: Keyboard = ()
    attachments: tuple[Attachment, ...] = ()
    too_long: bool = False
    picture: Picture | None = None
    reply_hint: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where cards come from and how they are written: one for the life of the process.

    `names` maps an operator as decisions record them ("telegram:12345") to a name for people; `zone` is the time
    zone in which moments are told.
    """

    host: str
    redactor: Redactor = field(default_factory=Redactor)
    zone: tzinfo = UTC
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def pen(self) -> Pen:
        return Pen(self.redactor)


def card_of(
    blocks: Sequence[Block],
    buttons: Keyboard = (),
    attachments: tuple[Attachment, ...] = (),
) -> Card:
    """Return a card of blocks whose needs are known to be small. Raises ValueError when they are not: a bug."""
    fitted = fit(blocks)
    if fitted is None:
        raise ValueError("what must be shown does not fit into one message")
    return finished(fitted.text, buttons, attachments)


def finished(text: Markup, buttons: Keyboard = (), attachments: tuple[Attachment, ...] = ()) -> Card:
    """Return a card of a text that fits."""
    return Card(text.html, text.plain, tuple(row for row in buttons if row), attachments)
