"""What is said at once to whoever pressed a button: one line of plain text (answerCallbackQuery), never cut short.

A tap that comes too late or twice is explained, never just ignored (A14, A28).
"""

from __future__ import annotations

from executor.record.approvals import Approval, ApprovalState, VoteKind, VoteResult
from gateway.telegram import words
from gateway.telegram.card_model import Place
from gateway.telegram.html import cut

TOAST_UNITS = 200  # Bot API, answerCallbackQuery: 0-200 characters
_WHO_UNITS = 60

NOT_AN_OPERATOR = "You are not an operator here, so this was not counted. It has been recorded."
UNKNOWN_BUTTON = (
    "This button is no longer known: its request has ended or was asked again. /pending shows what waits."
)
DETAILS_SENT = "The details are below."
NOTHING_CHANGED = "Nothing has changed."
CHOOSE_REASON = "Why not? The reason reaches the agent."
FREEZE_OVER = "It is not frozen any more."
ANOTHER_FREEZE = "That freeze is over, and another holds now: look at it, then press its button or say /unfreeze."
UNDO_BEGUN = "Taking it back; the card tells how it ends."
RECOVERY_ASKED = "A plan is being made; its card follows."
UNREACHABLE = "The gateway cannot do this now. Try again in a moment, or decide on the host."


def vote(place: Place, result: VoteResult) -> str:
    """Return what became of a vote, in words for the one who voted."""
    approval = result.approval
    if approval is None or result.kind is VoteKind.UNKNOWN:
        return UNKNOWN_BUTTON
    match result.kind:
        case VoteKind.COUNTED:
            return f"Your yes counts. {_more(approval, result.approvers)}"
        case VoteKind.APPROVED:
            return "Approved: it runs now."
        case VoteKind.DENIED:
            return "Denied. The agent is told why, and not to retry."
        case VoteKind.ALREADY_VOTED:
            return f"You have said yes already. {_more(approval, result.approvers)}"
        case VoteKind.ALREADY_DECIDED:
            return _already(place, approval)
        case VoteKind.EXPIRED:
            return _expired(place, approval)
        case VoteKind.SUPERSEDED:
            return "What it would do has changed since, so this does not count. Look at the newer card."
        case VoteKind.WITHDRAWN:
            return f"It was taken back{_by(place, approval)}; there is nothing to decide."
        case _:
            return "This card shows something else than what is asked now, so this does not count. /pending shows it."


def denied_with(place: Place, reason: str) -> str:
    """Return the answer to a denial whose reason was chosen or written."""
    if not reason:
        return "Denied, with no reason given."
    shown = place.pen.text(reason).plain
    return cut(f"Denied: {shown}", TOAST_UNITS)


def _more(approval: Approval, approvers: tuple[str, ...]) -> str:
    left = approval.quorum - len(approvers)
    if left < 1:
        return "Nobody else is needed."
    return f"{left} more {'operator' if left == 1 else 'operators'} must say yes."


def _already(place: Place, approval: Approval) -> str:
    verb = "denied" if approval.state is ApprovalState.DENIED else "approved"
    return f"Already {verb}{_by(place, approval)}{_at(place, approval)}. Your tap changed nothing."


def _expired(place: Place, approval: Approval) -> str:
    if approval.state is ApprovalState.UNDELIVERABLE:
        return f"Too late: nobody could be asked, and it ended{_at(place, approval)}. The agent has to ask again."
    return f"Too late: it expired at {words.moment(place, approval.expires_at)}. The agent has to ask again."


def _by(place: Place, approval: Approval) -> str:
    return f" by {_who(place, approval.decided_by)}" if approval.decided_by else ""


def _at(place: Place, approval: Approval) -> str:
    return f" at {words.moment(place, approval.decided_at)}" if approval.decided_at else ""


def _who(place: Place, operators: tuple[str, ...]) -> str:
    return cut(words.people(place, operators).plain, _WHO_UNITS)
