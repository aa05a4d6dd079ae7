"""Approvals: what operators are asked, how they vote, and what comes of it. One decision, first answer wins.

A vote is recorded, counted and acted on (the request goes on or ends) in one transaction, so a decision can neither
be lost nor be taken twice, whichever door it came through. An approval is one round of asking about one request;
its `digest` stands for exactly what was shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, bindparam, delete, func, insert, select, update

from executor.outcome import State
from executor.policy.model import RiskClass
from executor.record.columns import storable
from executor.record.schema import approvals, canonical_json, votes
from executor.record.store import Reading, Transaction
from executor.record.transitions import transition


class ApprovalState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"  # what was asked about has changed; another round may follow
    WITHDRAWN = "withdrawn"
    UNDELIVERABLE = "undeliverable"  # nobody could be asked


class Verdict(StrEnum):
    APPROVE = "approve"
    DENY = "deny"


class VoteKind(StrEnum):
    """What became of a vote. Only the first three were counted."""

    COUNTED = "counted"  # recorded; more operators must say yes
    APPROVED = "approved"  # it decided: the request goes on
    DENIED = "denied"  # it decided: the request ends
    ALREADY_VOTED = "already_voted"  # by this operator, on this approval
    ALREADY_DECIDED = "already_decided"  # see `decided_by`, `decided_at`
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    OTHER_CONTENT = "other_content"  # what this operator was shown is not what this approval is about
    UNKNOWN = "unknown"  # no such approval


@dataclass(frozen=True, slots=True)
class Approval:
    """One round of asking about one request. `shown` is what operators see of it, `decided_by` who settled it."""

    id: str
    request_id: str
    round: int
    digest: str
    risk: RiskClass
    reasons: tuple[str, ...]
    quorum: int
    shown: Mapping[str, Any]
    state: ApprovalState
    created_at: str
    expires_at: str
    decided_at: str | None
    decided_by: tuple[str, ...]
    decision_reason: str


@dataclass(frozen=True, slots=True)
class VoteResult:
    """`approval` as it stands after the vote (None when unknown), `approvers` who has said yes to it so far."""

    kind: VoteKind
    approval: Approval | None = None
    approvers: tuple[str, ...] = ()


_AFTERWARDS = {  # what a request becomes when its approval ends; superseding leaves it to what follows
    ApprovalState.APPROVED: State.QUEUED,
    ApprovalState.DENIED: State.DENIED,
    ApprovalState.EXPIRED: State.EXPIRED,
    ApprovalState.WITHDRAWN: State.WITHDRAWN,
    ApprovalState.UNDELIVERABLE: State.UNDELIVERABLE,
}
_SETTLED = {
    ApprovalState.APPROVED: VoteKind.APPROVED,
    ApprovalState.DENIED: VoteKind.DENIED,
    ApprovalState.SUPERSEDED: VoteKind.SUPERSEDED,  # the request went another way meanwhile
}
_TOO_LATE = {
    ApprovalState.EXPIRED: VoteKind.EXPIRED,
    ApprovalState.UNDELIVERABLE: VoteKind.EXPIRED,
    ApprovalState.SUPERSEDED: VoteKind.SUPERSEDED,
    ApprovalState.WITHDRAWN: VoteKind.WITHDRAWN,
}
_COLUMNS = [approvals.c[name] for name in Approval.__slots__]
# What is asked every minute is built once: building a query costs more than running it.
_OF_HOST = approvals.c.host == bindparam("of_host")
_PENDING = select(*_COLUMNS).where(_OF_HOST, approvals.c.state == ApprovalState.PENDING)
_IN_ORDER = _PENDING.order_by(approvals.c.created_at)
_DUE = _PENDING.where(approvals.c.expires_at <= bindparam("moment")).order_by(approvals.c.expires_at)
_ONE_DUE = _DUE.limit(1)


def create(
    tx: Transaction,
    request_id: str,
    *,
    digest: str,
    risk: RiskClass,
    reasons: Sequence[str],
    quorum: int,
    shown: Mapping[str, object],
    expires_at: str,
) -> Approval:
    """Begin the next round of asking about a request; a round still pending is superseded. Return the approval.

    The request must be awaiting approval (or be put there in the same transaction). Its id is the request's id and
    the round: "fix-login.1".
    """
    supersede(tx, request_id, "asked again")
    rounds = tx.connection.scalar(
        select(func.max(approvals.c.round)).where(approvals.c.host == tx.host, approvals.c.request_id == request_id)
    )
    number = (rounds or 0) + 1
    approval = Approval(
        id=f"{request_id}.{number}",
        request_id=request_id,
        round=number,
        digest=digest,
        risk=risk,
        reasons=tuple(reasons),
        quorum=quorum,
        shown=shown,
        state=ApprovalState.PENDING,
        created_at=tx.at,
        expires_at=expires_at,
        decided_at=None,
        decided_by=(),
        decision_reason="",
    )
    values = {name: getattr(approval, name) for name in Approval.__slots__}
    values |= {name: canonical_json(values[name]) for name in ("reasons", "shown", "decided_by")}
    tx.connection.execute(insert(approvals).values(host=tx.host, **values))
    told = {"approval": approval.id, "digest": digest, "class": risk, "quorum": quorum, "expires_at": expires_at}
    tx.append("approval.asked", request_id, told | {"reasons": approval.reasons})
    return approval


def vote(tx: Transaction, approval_id: str, operator: str, verdict: Verdict, reason: str, digest: str) -> VoteResult:
    """Record an operator's vote and do what follows from it; `digest` names what this operator was shown.

    A deny settles it at once, an approve when as many operators as the quorum have approved. Who has said yes may
    still say no while it is open. `operator` names a person and the door ("telegram:12345", "cli:ann"): the caller
    has checked that this is an operator at all.
    """
    approval = get(tx, approval_id)
    if approval is None:
        return VoteResult(VoteKind.UNKNOWN)
    if approval.state is ApprovalState.PENDING and approval.expires_at <= tx.at:
        approval = _close(tx, approval, ApprovalState.EXPIRED, (), "nobody answered in time")
    earlier = tx.connection.scalar(select(votes.c.verdict).where(*_vote_of(tx, approval, operator)))
    ignored = _why_ignored(approval, digest) or (VoteKind.ALREADY_VOTED if earlier == verdict else None)
    if ignored:
        tx.append("approval.vote_ignored", approval.request_id, _told(approval, operator, verdict) | {"why": ignored})
        return VoteResult(ignored, approval, _approvers(tx, approval))
    if earlier is not None:  # this no takes the place of that yes
        tx.connection.execute(delete(votes).where(*_vote_of(tx, approval, operator)))
    row = {"host": tx.host, "approval_id": approval.id, "operator": operator, "verdict": verdict, "at": tx.at}
    tx.connection.execute(insert(votes).values(row | {"reason": storable(reason)}))
    tx.append("approval.vote", approval.request_id, _told(approval, operator, verdict) | {"reason": reason})
    approvers = _approvers(tx, approval)
    if verdict is Verdict.DENY:
        settled = _close(tx, approval, ApprovalState.DENIED, (operator,), reason)
    elif len(approvers) >= approval.quorum:
        settled = _close(tx, approval, ApprovalState.APPROVED, approvers, reason)
    else:
        return VoteResult(VoteKind.COUNTED, approval, approvers)
    return VoteResult(_SETTLED[settled.state], settled, approvers)


def supersede(tx: Transaction, request_id: str, why: str) -> bool:
    """End the pending approval of a request because what it asked about has changed; the request is left as it is."""
    approval = pending_of(tx, request_id)
    if approval:
        _close(tx, approval, ApprovalState.SUPERSEDED, (), why)
    return approval is not None


def withdraw(tx: Transaction, request_id: str, by: str, why: str) -> bool:
    """Take back a request that awaits approval, on behalf of `by`; False when it does not."""
    approval = pending_of(tx, request_id)
    if approval:
        _close(tx, approval, ApprovalState.WITHDRAWN, (by,), why)
    return approval is not None


def undeliverable(tx: Transaction, request_id: str, why: str) -> bool:
    """End a request about which nobody can be asked; False when it does not await approval."""
    approval = pending_of(tx, request_id)
    if approval:
        _close(tx, approval, ApprovalState.UNDELIVERABLE, (), why)
    return approval is not None


def any_due(tx: Reading) -> bool:
    """Return whether the time of an approval has run out, without changing anything."""
    return tx.connection.execute(_ONE_DUE, {"of_host": tx.host, "moment": tx.at}).first() is not None


def expire_due(tx: Transaction) -> tuple[Approval, ...]:
    """End the approvals whose time has run out, and their requests; return them as they now are."""
    found = [_read(row) for row in tx.connection.execute(_DUE, {"of_host": tx.host, "moment": tx.at})]
    return tuple(_close(tx, row, ApprovalState.EXPIRED, (), "nobody answered in time") for row in found)


def get(tx: Reading, approval_id: str) -> Approval | None:
    """Return the approval of that id, or None."""
    row = tx.connection.execute(_select(tx).where(approvals.c.id == approval_id)).first()
    return _read(row) if row else None


def pending(tx: Reading) -> list[Approval]:
    """Return what awaits operators, in the order it was asked."""
    return [_read(row) for row in tx.connection.execute(_IN_ORDER, {"of_host": tx.host})]


def pending_of(tx: Reading, request_id: str) -> Approval | None:
    """Return the pending approval of a request, or None."""
    query = _select(tx).where(approvals.c.request_id == request_id, approvals.c.state == ApprovalState.PENDING)
    row = tx.connection.execute(query).first()
    return _read(row) if row else None


def latest_of(tx: Reading, request_id: str) -> Approval | None:
    """Return the last round of asking about a request, whatever its state, or None."""
    query = _select(tx).where(approvals.c.request_id == request_id).order_by(approvals.c.round.desc()).limit(1)
    row = tx.connection.execute(query).first()
    return _read(row) if row else None


def _why_ignored(approval: Approval, digest: str) -> VoteKind | None:
    if approval.state is not ApprovalState.PENDING:
        return _TOO_LATE.get(approval.state, VoteKind.ALREADY_DECIDED)
    return VoteKind.OTHER_CONTENT if digest != approval.digest else None


def _vote_of(tx: Reading, approval: Approval, operator: str) -> tuple[ColumnElement[bool], ...]:
    return votes.c.host == tx.host, votes.c.approval_id == approval.id, votes.c.operator == operator


def _close(tx: Transaction, approval: Approval, to: ApprovalState, by: tuple[str, ...], reason: str) -> Approval:
    """Settle a pending approval and move its request on; return the approval as it now is.

    When the request no longer awaits approval there is nothing to settle: the approval is superseded.
    """
    told = {"approval": approval.id, "digest": approval.digest, "by": by, "reason": reason}
    after = _AFTERWARDS.get(to)
    if after and not transition(tx, approval.request_id, State.AWAITING_APPROVAL, after, data=told):
        to, by, reason = ApprovalState.SUPERSEDED, (), "the request no longer awaits approval"
        told |= {"by": by, "reason": reason}
    settled = replace(approval, state=to, decided_at=tx.at, decided_by=by, decision_reason=storable(reason))
    this = (approvals.c.host == tx.host) & (approvals.c.id == approval.id)
    values = {"state": to, "decided_at": tx.at, "decided_by": canonical_json(by)}
    tx.connection.execute(update(approvals).where(this).values(decision_reason=settled.decision_reason, **values))
    tx.append(f"approval.{to}", approval.request_id, told)
    return settled


def _approvers(tx: Reading, approval: Approval) -> tuple[str, ...]:
    query = select(votes.c.operator).where(
        votes.c.host == tx.host, votes.c.approval_id == approval.id, votes.c.verdict == Verdict.APPROVE
    )
    return tuple(tx.connection.scalars(query.order_by(votes.c.at, votes.c.operator)))


def _told(approval: Approval, operator: str, verdict: Verdict) -> dict[str, object]:
    return {"approval": approval.id, "operator": operator, "verdict": verdict}


def _select(tx: Reading) -> Select[Any]:
    return select(*_COLUMNS).where(approvals.c.host == tx.host)


def _read(row: Row[Any]) -> Approval:
    values = row._asdict()
    values["risk"] = RiskClass(values["risk"])
    values["state"] = ApprovalState(values["state"])
    values["shown"] = json.loads(values["shown"])
    values["reasons"] = tuple(json.loads(values["reasons"]))
    values["decided_by"] = tuple(json.loads(values["decided_by"]))
    return Approval(**values)
