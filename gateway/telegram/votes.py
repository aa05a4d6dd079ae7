"""Votes that come from the chat: the same way in as from the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from executor.errors import Refused
from executor.record import approvals, cards
from executor.record.approvals import Approval, ApprovalState, Verdict, VoteKind, VoteResult
from executor.record.cards import Button
from gateway.approvals import decisions
from gateway.telegram.card_model import Action

if TYPE_CHECKING:
    from gateway.telegram.desk import Desk


def by_button(desk: Desk, button: Button, voter: str, verdict: Verdict, reason: str = "") -> VoteResult:
    """Count the vote of `voter` on exactly what the button's card showed. Raises Unavailable.

    One vote an operator and a round: a second press changes nothing, whoever presses and whatever else was pressed.
    """
    with desk.store.reading() as view:
        approval = approvals.get(view, button.target)
        latest = approvals.latest_of(view, approval.request_id) if approval is not None else None
    if approval is None or latest is None:
        return VoteResult(VoteKind.UNKNOWN)
    if latest.id != approval.id:
        return VoteResult(VoteKind.SUPERSEDED, approval)
    return _taken(desk, replace(approval, digest=button.digest), voter, verdict, reason)


def by_name(desk: Desk, request_id: str, voter: str, verdict: Verdict, reason: str, digest: str) -> VoteResult:
    """Count the vote of `voter` on what is asked about a request. Raises Refused, Unavailable.

    A yes is taken only for what a card in the chat shows at this moment, with a button to say yes to it. Where it
    was asked before and something moved, the digest must be given: the name may have been meant for the older card.
    """
    with desk.store.reading() as view:
        approval = decisions.asked_about(view, request_id)
        card = cards.card_of(view, approval.request_id)
        offered = cards.offered(view, approval.request_id, Action.APPROVE, approval.id, approval.digest)
    if verdict is Verdict.APPROVE and approval.state is ApprovalState.PENDING:
        if digest:
            decisions.check_digest(approval, digest)
        elif approval.round > 1:
            raise Refused(
                "asked_again",
                "it was asked again because something moved, and the name alone does not tell which is meant",
                f"look at its card, then: /approve {approval.request_id} DIGEST, or press Approve there",
            )
        if not offered or card is None or card.asked != approval.id:
            raise Refused(
                "not_shown",
                "no card in this chat shows what would be approved, as it is now and in full",
                f"see /pending, or on the host: ops-gateway pending {approval.request_id}",
            )
    return _taken(desk, approval, voter, verdict, reason)


def _taken(desk: Desk, approval: Approval, voter: str, verdict: Verdict, reason: str) -> VoteResult:
    return decisions.take(
        desk.store, desk.settings.state_dir, approval, operator=voter, verdict=verdict, reason=reason
    )
