"""What the record knows of the chat: how far it follows the log, and what stands in it. Everything here blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loguru import logger

from executor.record import audit, cards
from executor.record.approvals import pending
from gateway.telegram.card_model import Card
from gateway.telegram.drawing import Drawn, keyboard_of
from gateway.telegram.failures import Lost
from gateway.telegram.keyboards import Buttons
from gateway.telegram.outgoing import Declined, Delivered, Outcome, Uncertain, Vanished

if TYPE_CHECKING:
    from gateway.telegram.desk import Desk

CURSOR = "cursor"


def first_cursor(desk: Desk) -> int:
    """Return where to begin: where the last process left off; the first one does not tell old stories."""
    with desk.store.reading() as view:
        noted = cards.state(view, CURSOR)
        if noted:
            return int(noted)
        starts = [event.seq for event in audit.last_events(view, 50) if event.kind == "gateway.started"]
        end = audit.head(view).seq
    return max(starts, default=end + 1) - 1


def note_cursor(desk: Desk, seq: int) -> None:
    """Note that all events up to that number are reflected."""
    with desk.store.transaction() as tx:
        cards.note(tx, CURSOR, str(seq))


def waiting_subjects(desk: Desk) -> list[str]:
    """Return the requests that wait for operators."""
    with desk.store.reading() as view:
        return [approval.request_id for approval in pending(view)]


def keyboard(desk: Desk, key: str, card: Card) -> Buttons:
    """Return the buttons of a message that is not a request's card."""
    if not card.buttons:
        return ()
    with desk.store.transaction() as tx:
        return keyboard_of(tx, key, card)


def after_delivery(desk: Desk, one: Drawn, outcome: Outcome) -> cards.Card:
    """Remember what stands in the chat now; return it."""
    with desk.store.transaction() as tx:
        stands = cards.card_of(tx, one.subject) or one.stands
        stands = _stands(stands, one, outcome)
        cards.keep(tx, stands)
    return stands


def _stands(before: cards.Card, one: Drawn, outcome: Outcome) -> cards.Card:
    """Return what stands in the chat after `one` was delivered with that outcome."""
    match outcome:
        case Delivered():
            return replace(
                before,
                chat_id=outcome.chat,
                message_id=outcome.message_id or before.message_id,
                shown=one.digest,
                asked=one.asked,
                menu=before.menu if one.asked == before.asked else "",
                uncertain=outcome.marked,
            )
        case Uncertain() if before.message_id is None:
            return replace(before, uncertain=True)
        case Vanished(what=Lost.MESSAGE):
            # somebody deleted it: sent anew while there is something to decide, else it is left at that
            return replace(before, message_id=None, shown="" if one.asked else one.digest, asked="", uncertain=False)
        case Declined():
            logger.error("Telegram does not take the card of {}: {}", one.subject, outcome.reason)
            return replace(before, shown=one.digest, uncertain=False)
    return before
