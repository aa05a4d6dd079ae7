"""What the chat shows and has been told: cards, the meaning of their buttons, and where the chat stands.

None of it decides anything. It may be lost at the price of cards being sent anew; what was decided is in `approvals`,
what happened is in `events`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from executor.record.schema import approvals, buttons, cards, chat_state
from executor.record.store import Reading, Transaction

TOKEN_BYTES = 24  # of randomness; 32 characters, where a button holds 64 bytes
_AT_ONCE = 400  # subjects in one query; SQLite takes at least 999 values


@dataclass(frozen=True, slots=True)
class Card:
    """The message of one subject: a request's id, or a name that begins with `_`.

    `shown` is a digest of what stands in it ("" is nothing yet). `uncertain` says that Telegram never told whether an
    earlier copy arrived. `asked` is the approval that it asks for as it stands there, `reminded` the one that was
    reminded of, `menu` the keyboard that an operator opened.
    """

    subject: str
    chat_id: int
    message_id: int | None = None
    shown: str = ""
    uncertain: bool = False
    asked: str = ""
    menu: str = ""
    reminded: str = ""


@dataclass(frozen=True, slots=True)
class Button:
    """What a token under a card means: an action about a target, for what exactly `digest` stands for.

    `message_id` is set for a question that is answered by replying to it.
    """

    token: str
    subject: str
    action: str
    target: str = ""
    digest: str = ""
    argument: str = ""
    message_id: int | None = None
    created_at: str = ""


_CARD = [cards.c[name] for name in Card.__slots__]
_BUTTON = [buttons.c[name] for name in Button.__slots__]


def card_of(tx: Reading, subject: str) -> Card | None:
    """Return the card of a subject, or None when there is none yet."""
    return cards_of(tx, [subject]).get(subject)


def cards_of(tx: Reading, subjects: Iterable[str]) -> dict[str, Card]:
    """Return the cards that there are of these subjects, by subject."""
    wanted = list(subjects)
    found: dict[str, Card] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        part = cards.c.subject.in_(wanted[start : start + _AT_ONCE])
        rows = tx.connection.execute(select(*_CARD).where(cards.c.host == tx.host, part))
        found |= {row.subject: Card(**row._asdict()) for row in rows}
    return found


def unasked_since(tx: Reading, moment: str) -> int:
    """Return how many cards of requests that operators were never asked about have changed since a stored time."""
    asked = select(approvals.c.id).where(approvals.c.host == cards.c.host, approvals.c.request_id == cards.c.subject)
    of_requests = ~cards.c.subject.startswith("_", autoescape=True)
    recent = (cards.c.host == tx.host) & (cards.c.updated_at > moment) & of_requests & ~asked.exists()
    return tx.connection.scalar(select(func.count()).select_from(cards).where(recent)) or 0


def keep(tx: Transaction, card: Card) -> None:
    """Remember a card as it now is."""
    this = (cards.c.host == tx.host) & (cards.c.subject == card.subject)
    values: dict[str, Any] = {name: getattr(card, name) for name in Card.__slots__} | {"updated_at": tx.at}
    if tx.connection.execute(update(cards).where(this).values(values)).rowcount == 0:
        tx.connection.execute(insert(cards).values(host=tx.host, **values))


def open_menu(tx: Transaction, subject: str, menu: str) -> bool:
    """Let a card show another of its keyboards ("" is the first); False where there is no card."""
    card = card_of(tx, subject)
    if card is not None:
        keep(tx, replace(card, menu=menu))
    return card is not None


def remind(tx: Transaction, subject: str, approval_id: str) -> None:
    """Note that operators were reminded of that approval."""
    card = card_of(tx, subject)
    if card is not None:
        keep(tx, replace(card, reminded=approval_id))


def button_for(
    tx: Transaction, subject: str, action: str, target: str = "", *, digest: str = "", argument: str = ""
) -> Button:
    """Return the button of that meaning, made where there is none: a card drawn again has the same buttons."""
    meant = {"subject": subject, "action": action, "target": target, "digest": digest, "argument": argument}
    same = [buttons.c[name] == value for name, value in meant.items()]
    row = tx.connection.execute(select(*_BUTTON).where(buttons.c.host == tx.host, *same)).first()
    if row is not None:
        return Button(**row._asdict())
    token = secrets.token_urlsafe(TOKEN_BYTES)
    made = Button(token, subject, action, target, digest, argument, created_at=tx.at)
    values = {name: getattr(made, name) for name in Button.__slots__}
    tx.connection.execute(insert(buttons).values(host=tx.host, **values))
    return made


def pressed(tx: Reading, token: str) -> Button | None:
    """Return what a token means, or None for one that was never given out, or so long ago that it was removed."""
    row = tx.connection.execute(select(*_BUTTON).where(buttons.c.host == tx.host, buttons.c.token == token)).first()
    return Button(**row._asdict()) if row else None


def offered(tx: Reading, subject: str, action: str, target: str, digest: str) -> bool:
    """Return whether a button of that meaning was ever given out."""
    meant = {"subject": subject, "action": action, "target": target, "digest": digest}
    same = [buttons.c[name] == value for name, value in meant.items()]
    query = select(buttons.c.token).where(buttons.c.host == tx.host, *same).limit(1)
    return tx.connection.execute(query).first() is not None


def send_anew(tx: Transaction, subject: str) -> bool:
    """Let a card be sent once more, at the end of the chat; False where there is none. The old copy stays behind."""
    card = card_of(tx, subject)
    if card is not None:
        keep(tx, replace(card, message_id=None, shown="", asked="", menu=""))
    return card is not None


def asked_in(tx: Transaction, token: str, message_id: int) -> None:
    """Remember that the question of this button is asked in that message, to be answered by a reply."""
    this = (buttons.c.host == tx.host) & (buttons.c.token == token)
    tx.connection.execute(update(buttons).where(this).values(message_id=message_id, created_at=tx.at))


def question_in(tx: Reading, message_id: int) -> Button | None:
    """Return the question that is asked in that message, or None."""
    this = (buttons.c.host == tx.host) & (buttons.c.message_id == message_id)
    row = tx.connection.execute(select(*_BUTTON).where(this)).first()
    return Button(**row._asdict()) if row else None


def state(tx: Reading, name: str) -> str:
    """Return what was noted under `name`, "" when nothing was."""
    this = (chat_state.c.host == tx.host) & (chat_state.c.name == name)
    return tx.connection.scalar(select(chat_state.c.value).where(this)) or ""


def note(tx: Transaction, name: str, value: str) -> None:
    """Note `value` under `name`, in place of what was there."""
    this = (chat_state.c.host == tx.host) & (chat_state.c.name == name)
    if tx.connection.execute(update(chat_state).where(this).values(value=value)).rowcount == 0:
        tx.connection.execute(insert(chat_state).values(host=tx.host, name=name, value=value))


def forget_before(tx: Transaction, moment: str) -> int:
    """Remove cards and buttons that nothing has happened to since `moment`; return how many rows went."""
    old_cards = delete(cards).where(cards.c.host == tx.host, cards.c.updated_at < moment)
    old_buttons = delete(buttons).where(buttons.c.host == tx.host, buttons.c.created_at < moment)
    return tx.connection.execute(old_cards).rowcount + tx.connection.execute(old_buttons).rowcount
