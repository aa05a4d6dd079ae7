"""What a press on a button does: one short function an action. All of it blocks, so it is called in a thread.

A button is a token that was given out with a card; what it means stands in the record, so it works after a restart
as before, and one that means nothing any more says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from executor.errors import Problem
from executor.policy.model import Operation
from executor.record import approvals, cards, controls
from executor.record.approvals import ApprovalState, Verdict, VoteKind, VoteResult
from executor.record.cards import Button
from gateway.approvals import decisions
from gateway.telegram import operator_acts, replies, toasts, votes
from gateway.telegram.approval_card import Asked, details
from gateway.telegram.authorise import Operator
from gateway.telegram.card_model import Action, Card
from gateway.telegram.desk import Desk
from gateway.telegram.stories import story_of

QUESTION = "question"  # the action of what is asked by a message and answered by a reply
ANSWER_SECONDS = 600.0  # for a reason to be written; after that nothing was decided
OLDER_COPY = "This is an older copy of the card: the current one is further down."
TOO_LATE = "Too late, nothing was decided: press Deny again if it still waits."
FOR_ANOTHER = "That question was for somebody else."
NO_CARD = "There is no card of it."
_CLOSED = {
    ApprovalState.EXPIRED: VoteKind.EXPIRED,
    ApprovalState.UNDELIVERABLE: VoteKind.EXPIRED,
    ApprovalState.SUPERSEDED: VoteKind.SUPERSEDED,
    ApprovalState.WITHDRAWN: VoteKind.WITHDRAWN,
}


@dataclass(frozen=True, slots=True)
class Effect:
    """What a press came to: a note for who pressed, and what is to be shown besides.

    An `alert` note is closed by hand. `card` is to be sent as a reply; a reply to it answers the question of the
    token `question`.
    """

    note: str
    alert: bool = False
    card: Card | None = None
    question: str = ""


def press(desk: Desk, token: str, operator: Operator, message_id: int | None) -> Effect:
    """Do what the button of `token`, pressed under message `message_id`, is for; return what to tell.

    Raises no Problem: what stands in the way is what is told.
    """
    try:
        with desk.store.reading() as view:
            button = cards.pressed(view, token)
            card = cards.card_of(view, button.subject) if button else None
        if button is None or button.action not in _DO:
            return Effect(toasts.UNKNOWN_BUTTON, alert=True)
        if card is not None and not card.uncertain and card.message_id not in (None, message_id):
            return Effect(OLDER_COPY, alert=True)
        return _DO[button.action](desk, button, operator)
    except Problem as problem:
        return Effect(str(problem), alert=True)


def reply(desk: Desk, question: Button, operator: Operator, text: str, at: datetime) -> str:
    """Take a reply to a question, written at that moment, as the reason of a no; return what to tell."""
    if question.argument != operator.voter:
        return FOR_ANOTHER
    if (at - datetime.fromisoformat(question.created_at)).total_seconds() > ANSWER_SECONDS:
        return TOO_LATE
    result = votes.by_button(desk, question, operator.voter, Verdict.DENY, text)
    return toasts.denied_with(desk.place, text) if result.kind is VoteKind.DENIED else toasts.vote(desk.place, result)


def _approve(desk: Desk, button: Button, operator: Operator) -> Effect:
    return _told(desk, votes.by_button(desk, button, operator.voter, Verdict.APPROVE))


def _deny_because(desk: Desk, button: Button, operator: Operator) -> Effect:
    result = votes.by_button(desk, button, operator.voter, Verdict.DENY, button.argument)
    if result.kind is VoteKind.DENIED:
        return Effect(toasts.denied_with(desk.place, button.argument))
    return _told(desk, result)


def _deny(desk: Desk, button: Button, _operator: Operator) -> Effect:
    if closed := _closed(desk, button):
        return _told(desk, closed)
    with desk.store.transaction() as tx:
        cards.open_menu(tx, button.subject, Action.DENY)
    return Effect(toasts.CHOOSE_REASON)


def _back(desk: Desk, button: Button, _operator: Operator) -> Effect:
    with desk.store.transaction() as tx:
        cards.open_menu(tx, button.subject, "")
    return Effect(toasts.NOTHING_CHANGED)


def _deny_in_words(desk: Desk, button: Button, operator: Operator) -> Effect:
    if closed := _closed(desk, button):
        return _told(desk, closed)
    with desk.store.transaction() as tx:
        cards.open_menu(tx, button.subject, "")
        meant = {"digest": button.digest, "argument": operator.voter}
        question = cards.button_for(tx, button.subject, QUESTION, button.target, **meant)
        story = story_of(tx, button.subject, 0)
    asked = story.asked if story else None
    card = replies.ask_for_reason(desk.place, asked, operator.name) if asked else None
    return Effect(toasts.CHOOSE_REASON, card=card, question=question.token)


def _details(desk: Desk, button: Button, _operator: Operator) -> Effect:
    with desk.store.reading() as view:
        story = story_of(view, button.target, 0)
    if story is None:
        return Effect(toasts.UNKNOWN_BUTTON, alert=True)
    if story.approval is None:
        return Effect(toasts.DETAILS_SENT, card=replies.why(desk.place, story, story.events))
    asked = Asked(story.request, story.approval, story.approvers)
    return Effect(toasts.DETAILS_SENT, card=details(desk.place, asked))


def _show(desk: Desk, button: Button, _operator: Operator) -> Effect:
    with desk.store.transaction() as tx:
        there = cards.send_anew(tx, button.target)
    return Effect("" if there else NO_CARD)


def _undo(desk: Desk, button: Button, operator: Operator) -> Effect:
    operator_acts.undo_request(desk.dispatcher, button.target, operator.voter)
    return Effect(toasts.UNDO_BEGUN)


def _recover(desk: Desk, button: Button, operator: Operator) -> Effect:
    occasion = f"button {button.token}"
    operator_acts.ask_for(desk.dispatcher, Operation.GIT_RECOVER, button.target, operator.voter, occasion)
    return Effect(toasts.RECOVERY_ASKED)


def _unfreeze(desk: Desk, button: Button, operator: Operator) -> Effect:
    with desk.store.reading() as view:
        held = controls.frozen(view)
    if held is None or held.at != button.target:
        return Effect(toasts.FREEZE_OVER if held is None else toasts.ANOTHER_FREEZE, alert=True)
    operator_acts.unfreeze(desk.dispatcher, operator.voter)
    return Effect("")


def _told(desk: Desk, result: VoteResult) -> Effect:
    return Effect(toasts.vote(desk.place, result), alert=result.kind not in decisions.COUNTED)


def _closed(desk: Desk, button: Button) -> VoteResult | None:
    """Return what a vote would come to if the button's round of asking is over, else None."""
    with desk.store.reading() as view:
        approval = approvals.get(view, button.target)
    if approval is None:
        return VoteResult(VoteKind.UNKNOWN)
    if approval.state is ApprovalState.PENDING:
        return None
    return VoteResult(_CLOSED.get(approval.state, VoteKind.ALREADY_DECIDED), approval)


_DO: Mapping[str, Callable[[Desk, Button, Operator], Effect]] = {
    Action.APPROVE: _approve,
    Action.DENY: _deny,
    Action.DENY_BECAUSE: _deny_because,
    Action.DENY_IN_WORDS: _deny_in_words,
    Action.BACK: _back,
    Action.DETAILS: _details,
    Action.SHOW: _show,
    Action.UNDO: _undo,
    Action.RECOVER: _recover,
    Action.UNFREEZE: _unfreeze,
}
