"""Taking a decision: the one way in for every door, be it the command line or a chat."""

from __future__ import annotations

from pathlib import Path

from executor.errors import Refused
from executor.record import approvals, controls
from executor.record.approvals import Approval, ApprovalState, Verdict, VoteKind, VoteResult
from executor.record.store import Reading, Store
from gateway.schedule import word

DIGEST_SHORT = 12  # characters of a digest that are shown, and that must be given at least

_SAID = {
    VoteKind.COUNTED: "counted; {left} more must say yes",
    VoteKind.APPROVED: "approved",
    VoteKind.DENIED: "denied",
    VoteKind.ALREADY_VOTED: "you have voted on this already",
    VoteKind.ALREADY_DECIDED: "already {state} by {by}",
    VoteKind.EXPIRED: "too late: it has expired",
    VoteKind.SUPERSEDED: "what was asked has changed since; look at it again",
    VoteKind.WITHDRAWN: "it was withdrawn",
    VoteKind.OTHER_CONTENT: "what you were shown is not what is asked; look at it again",
    VoteKind.UNKNOWN: "there is nothing of that name to decide",
}
COUNTED = frozenset({VoteKind.COUNTED, VoteKind.APPROVED, VoteKind.DENIED})


def asked_about(reading: Reading, name: str) -> Approval:
    """Given the id of a request or of an approval, return the approval; raise Refused if nothing was ever asked."""
    found = approvals.get(reading, name) or approvals.latest_of(reading, name)
    if found is None:
        raise Refused("unknown_approval", "nothing of that name awaits a decision", "see: ops-gateway pending")
    return found


def check_digest(approval: Approval, given: str) -> None:
    """Raise Refused unless `given` begins the digest of what is asked."""
    if len(given) < DIGEST_SHORT or not approval.digest.startswith(given.lower()):
        raise Refused(
            "other_content",
            "that digest is not the one of what is asked",
            f"ops-gateway pending {approval.request_id}",
        )


def take(
    store: Store, state: Path, approval: Approval, *, operator: str, verdict: Verdict, reason: str
) -> VoteResult:
    """Record the vote of `operator` on `approval` as it was shown, and send word to the gateway that acts on it.

    The caller has made sure that this is an operator. What was asked may have changed since it was read; then the
    vote is not counted, and the result says why. Raises Refused for a yes during a freeze: it would only end as
    refused what can still be approved afterwards.
    """
    with store.transaction() as tx:
        if verdict is Verdict.APPROVE and approval.state is ApprovalState.PENDING and controls.frozen(tx) is not None:
            raise Refused(
                "frozen",
                "the gateway is frozen, so a yes is not taken; the request goes on waiting",
                "unfreeze first: /unfreeze, or on the host ops-gateway unfreeze",
            )
        result = approvals.vote(tx, approval.id, operator, verdict, reason, approval.digest)
    if result.kind in COUNTED or result.kind is VoteKind.EXPIRED:  # both changed the request
        word.send(state, approval.request_id)
    return result


def told(result: VoteResult) -> str:
    """Given the result of a vote, return it in words."""
    approval = result.approval
    return _SAID[result.kind].format(
        left=approval.quorum - len(result.approvers) if approval else 0,
        state=approval.state if approval else "",
        by=", ".join(approval.decided_by) if approval else "",
    )
