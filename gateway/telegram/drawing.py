"""From the record to what is put into the chat: cards as they should stand there now, with tokens for their buttons.

Everything here blocks; nothing here sends.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from executor.outcome import State
from executor.record import cards as kept
from executor.record.store import Reading, Transaction
from gateway.telegram import queue_stories
from gateway.telegram.approval_card import Asked, deny_keyboard
from gateway.telegram.card_model import Action, Card
from gateway.telegram.cards import Story, request_card
from gateway.telegram.keyboards import Button, Buttons
from gateway.telegram.outgoing import Kind, Outgoing
from gateway.telegram.stories import story_of

if TYPE_CHECKING:
    from gateway.telegram.desk import Desk


@dataclass(frozen=True, slots=True)
class Drawn:
    """A card as it should stand in the chat, and what stands there. `asked` is the approval that it asks for.

    `story` is None for a message about queues. `digest` tells the card from every other content. `decided` says that
    operators were asked, so it is in a hurry.
    """

    story: Story | None
    card: Card
    digest: str
    asked: str
    stands: kept.Card

    @property
    def subject(self) -> str:
        return self.stands.subject

    @property
    def asks(self) -> Asked | None:
        """The round of asking that waits for an answer, or None."""
        return self.story.asked if self.story is not None else None

    @property
    def decided(self) -> bool:
        return self.story is not None and self.story.approval is not None

    @property
    def is_due(self) -> bool:
        """Whether something else stands in the chat, or nothing yet that somebody should see.

        What is only being looked at begins no card: when operators are asked, the phone must make its sound.
        """
        received = self.story is not None and self.story.request.state is State.RECEIVED
        begins = self.stands.message_id is None and received
        return self.digest != self.stands.shown and not begins


def draw(desk: Desk, subjects: Iterable[str], chat: int) -> list[Drawn]:
    """Return the cards of these requests and stories for the chat of that id, as the record has them now."""
    names = list(dict.fromkeys(subjects))
    with desk.store.reading() as view:
        standing = kept.cards_of(view, names)
        drawn = (_drawn(desk, view, name, standing.get(name), chat) for name in names)
        return [one for one in drawn if one is not None]


def outgoing(desk: Desk, drawn: Drawn, topic: int | None) -> Outgoing:
    """Return the message or the edit that brings a card into the chat. Its buttons work from this moment on (A34).

    What is sent for the first time is noted as uncertain until it is known to stand there, so that after a crash
    in between it comes again with a mark, and not unmarked twice.
    """
    stands = drawn.stands
    with desk.store.transaction() as tx:
        keyboard = keyboard_of(tx, drawn.subject, drawn.card)
        if stands.message_id is None:
            kept.keep(tx, replace(stands, uncertain=True))
    return Outgoing(
        key=drawn.subject,
        kind=Kind.SEND if stands.message_id is None else Kind.EDIT,
        chat=stands.chat_id,
        html=drawn.card.html,
        plain=drawn.card.plain,
        buttons=keyboard,
        topic=topic,
        message_id=stands.message_id,
        important=True,
        repeat=stands.uncertain,
    )


def keyboard_of(tx: Transaction, subject: str, card: Card) -> Buttons:
    """Return the buttons of a card with their tokens, given out where they were not before."""
    rows = []
    for row in card.buttons:
        tokens = [
            kept.button_for(tx, subject, each.action, each.target, digest=each.digest, argument=each.reason).token
            for each in row
        ]
        rows.append([Button(each.label, token) for each, token in zip(row, tokens, strict=True)])
    return rows


def files_of(card: Card, key: str, chat: int, topic: int | None, reply_to: int | None) -> Iterator[Outgoing]:
    """Yield the picture and the files of any message, as replies to message `reply_to`."""
    if card.picture is not None:
        yield Outgoing(
            key=f"{key} picture",
            kind=Kind.PHOTO,
            chat=chat,
            topic=topic,
            reply_to=reply_to,
            silent=True,
            file_name=card.picture.name,
            content=card.picture.content,
        )
    for number, file in enumerate(card.attachments):
        yield Outgoing(
            key=f"{key} file {number}",
            kind=Kind.DOCUMENT,
            chat=chat,
            topic=topic,
            reply_to=reply_to,
            silent=True,
            file_name=file.name,
            content=file.text.encode(),
        )


def digest_of(card: Card) -> str:
    """Return what tells a card from every other content of the same message."""
    buttons = [[astuple(each) for each in row] for row in card.buttons]
    return hashlib.sha256(json.dumps([card.html, buttons]).encode("utf-8", "surrogatepass")).hexdigest()


def _drawn(desk: Desk, view: Reading, name: str, standing: kept.Card | None, chat: int) -> Drawn | None:
    stands = standing or kept.Card(name, chat)
    if stands.chat_id != chat:  # another chat was configured, or this one got another id: there is nothing there yet
        stands = kept.Card(name, chat, reminded=stands.reminded)
    if queue_stories.is_story(name):
        told = queue_stories.card_of_story(view, desk.place, name)
        return Drawn(None, told, digest_of(told), "", stands) if told is not None else None
    story = story_of(view, name, desk.settings.rescue_days)
    if story is None:
        return None
    card = request_card(desk.place, story)
    if story.asked is not None and stands.menu == Action.DENY:
        card = replace(card, buttons=deny_keyboard(story.asked.approval))
    asked = story.asked.approval.id if story.asked is not None else ""
    return Drawn(story, card, digest_of(card), asked, stands)
