"""One decision, first answer wins, recorded before it acts; nobody else's vote and nothing stale counts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from executor.outcome import State
from executor.policy.model import RiskClass
from executor.record import approvals, requests
from executor.record.approvals import Approval, ApprovalState, Verdict, VoteKind
from executor.record.audit import events_of, verify
from executor.record.requests import NewRequest
from executor.record.retention import agreed_since
from executor.record.schema import timestamp
from executor.record.store import Store, Transaction
from executor.record.transitions import transition

YES, NO = Verdict.APPROVE, Verdict.DENY


@pytest.fixture
def ask(store: Store, new: Callable[..., NewRequest], clock: Any) -> Callable[..., Approval]:
    def make(request_id: str = "a", quorum: int = 1) -> Approval:
        with store.transaction() as tx:
            requests.insert_one(tx, new(request_id, state=State.AWAITING_APPROVAL))
            return _ask_again(tx, clock, request_id, quorum)

    return make


def _ask_again(tx: Transaction, clock: Any, request_id: str, quorum: int = 1, digest: str = "d1") -> Approval:
    return approvals.create(
        tx,
        request_id,
        digest=digest,
        risk=RiskClass.FORCE,
        reasons=("moves main back",),
        quorum=quorum,
        shown={"argv": ["git", "push"]},
        expires_at=timestamp(clock() + timedelta(hours=1)),
    )


def _vote(
    store: Store, approval: Approval | str, operator: str, verdict: Verdict, digest: str = "d1"
) -> approvals.VoteResult:
    approval_id = approval if isinstance(approval, str) else approval.id
    with store.transaction() as tx:
        return approvals.vote(tx, approval_id, operator, verdict, "because", digest)


def _state(store: Store, request_id: str = "a") -> State:
    with store.reading() as tx:
        row = requests.get(tx, request_id)
    assert row is not None
    return row.state


def test_a_yes_lets_the_request_go_on(store: Store, ask: Callable[..., Approval]) -> None:
    result = _vote(store, ask(), "telegram:1", YES)

    assert result.kind is VoteKind.APPROVED
    assert result.approval is not None
    assert (result.approval.decided_by, result.approval.state) == (("telegram:1",), ApprovalState.APPROVED)
    assert _state(store) is State.QUEUED
    with store.reading() as tx:
        assert approvals.get(tx, "a.1") == result.approval
        kinds = [event.kind for event in events_of(tx, "a")]
    assert kinds == [
        "request.awaiting_approval",
        "approval.asked",
        "approval.vote",
        "request.queued",
        "approval.approved",
    ]


def test_what_was_agreed_to_lately_is_known(store: Store, ask: Callable[..., Approval], clock: Any) -> None:
    _vote(store, ask("old"), "telegram:1", YES)
    clock.move(days=2)
    _vote(store, ask("fresh"), "telegram:1", YES)
    _vote(store, ask("denied"), "telegram:1", NO)
    ask("open")

    with store.reading() as tx:
        assert agreed_since(tx, clock() - timedelta(days=1)) == {"fresh"}
        assert agreed_since(tx, clock() - timedelta(days=3)) == {"fresh", "old"}


def test_a_no_ends_it_at_once_even_where_two_must_agree(store: Store, ask: Callable[..., Approval]) -> None:
    approval = ask(quorum=2)
    _vote(store, approval, "telegram:1", YES)

    assert _vote(store, approval, "telegram:2", NO).kind is VoteKind.DENIED
    assert _state(store) is State.DENIED


def test_who_has_said_yes_may_still_say_no_while_it_is_open(store: Store, ask: Callable[..., Approval]) -> None:
    approval = ask(quorum=2)
    _vote(store, approval, "telegram:1", YES)

    result = _vote(store, approval, "telegram:1", NO)
    assert (result.kind, result.approvers) == (VoteKind.DENIED, ())
    assert _state(store) is State.DENIED
    assert _vote(store, approval, "telegram:2", YES).kind is VoteKind.ALREADY_DECIDED


def test_where_two_must_agree_one_person_twice_is_not_two(store: Store, ask: Callable[..., Approval]) -> None:
    approval = ask(quorum=2)

    assert _vote(store, approval, "telegram:1", YES).kind is VoteKind.COUNTED
    assert _vote(store, approval, "telegram:1", YES).kind is VoteKind.ALREADY_VOTED
    assert _state(store) is State.AWAITING_APPROVAL
    result = _vote(store, approval, "telegram:2", YES)
    assert (result.kind, result.approvers) == (VoteKind.APPROVED, ("telegram:1", "telegram:2"))


def test_a_later_answer_learns_who_decided(store: Store, ask: Callable[..., Approval]) -> None:
    approval = ask()
    _vote(store, approval, "telegram:1", NO)
    late = _vote(store, approval, "cli:ann", YES)

    assert late.kind is VoteKind.ALREADY_DECIDED
    assert late.approval is not None
    assert (late.approval.state, late.approval.decided_by) == (ApprovalState.DENIED, ("telegram:1",))
    assert late.approval.decided_at
    assert _state(store) is State.DENIED
    with store.reading() as tx:
        assert events_of(tx, "a")[-1].data["why"] == "already_decided"


def test_of_many_answers_at_once_exactly_one_decides(store: Store, ask: Callable[..., Approval]) -> None:
    approval = ask()
    kinds: list[VoteKind] = []

    def answer(number: int) -> None:
        kinds.append(_vote(store, approval, f"telegram:{number}", (YES, NO)[number % 2]).kind)

    threads = [threading.Thread(target=answer, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert kinds.count(VoteKind.ALREADY_DECIDED) == 7
    decided = (set(kinds) - {VoteKind.ALREADY_DECIDED}).pop()
    assert _state(store) is {VoteKind.APPROVED: State.QUEUED, VoteKind.DENIED: State.DENIED}[decided]
    assert verify(store).ok


def test_a_vote_on_what_was_not_shown_does_not_count(store: Store, ask: Callable[..., Approval]) -> None:
    assert _vote(store, ask(), "telegram:1", YES, digest="d0").kind is VoteKind.OTHER_CONTENT
    assert _state(store) is State.AWAITING_APPROVAL


def test_a_vote_after_the_time_ran_out_expires_it(store: Store, ask: Callable[..., Approval], clock: Any) -> None:
    approval = ask()
    clock.move(hours=1)

    assert _vote(store, approval, "telegram:1", YES).kind is VoteKind.EXPIRED
    assert _state(store) is State.EXPIRED


def test_what_nobody_answered_expires_once(store: Store, ask: Callable[..., Approval], clock: Any) -> None:
    ask("a")
    clock.move(minutes=30)
    ask("b")
    clock.move(minutes=30)
    with store.transaction() as tx:
        expired = approvals.expire_due(tx)
        again = approvals.expire_due(tx)

    assert [(row.id, row.state) for row in expired] == [("a.1", ApprovalState.EXPIRED)]
    assert again == ()
    assert (_state(store, "a"), _state(store, "b")) == (State.EXPIRED, State.AWAITING_APPROVAL)


def test_when_what_was_asked_about_changes_the_old_question_is_void(
    store: Store, ask: Callable[..., Approval], clock: Any
) -> None:
    old = ask()
    with store.transaction() as tx:
        second = _ask_again(tx, clock, "a", digest="d2")

    assert (second.id, second.round) == ("a.2", 2)
    assert _vote(store, old, "telegram:1", YES).kind is VoteKind.SUPERSEDED
    assert _state(store) is State.AWAITING_APPROVAL
    assert _vote(store, second, "telegram:1", YES, "d2").kind is VoteKind.APPROVED
    with store.reading() as tx:
        latest = approvals.latest_of(tx, "a")
    assert latest is not None
    assert latest.id == "a.2"


def test_a_request_taken_back_or_that_reaches_nobody_ends_with_its_question(
    store: Store, ask: Callable[..., Approval]
) -> None:
    first, second = ask("a"), ask("b")
    with store.transaction() as tx:
        assert approvals.withdraw(tx, "a", "agent", "no longer needed")
        assert not approvals.withdraw(tx, "a", "agent", "again")
        assert approvals.undeliverable(tx, "b", "the chat is gone")

    assert (_state(store, "a"), _state(store, "b")) == (State.WITHDRAWN, State.UNDELIVERABLE)
    assert _vote(store, first, "telegram:1", YES).kind is VoteKind.WITHDRAWN
    assert _vote(store, second, "telegram:1", YES).kind is VoteKind.EXPIRED


def test_a_yes_to_a_request_that_went_another_way_approves_nothing(
    store: Store, ask: Callable[..., Approval]
) -> None:
    approval = ask()
    with store.transaction() as tx:
        transition(tx, "a", State.AWAITING_APPROVAL, State.UNDELIVERABLE)

    assert _vote(store, approval, "telegram:1", YES).kind is VoteKind.SUPERSEDED
    assert _state(store) is State.UNDELIVERABLE


def test_a28_a_pending_question_is_still_there_after_a_restart(
    store: Store, ask: Callable[..., Approval], open_store: Callable[..., Store]
) -> None:
    asked = [ask("a"), ask("b")]
    store.close()
    reopened = open_store()

    with reopened.reading() as tx:
        assert approvals.pending(tx) == asked
    assert _vote(reopened, "a.1", "telegram:1", YES).kind is VoteKind.APPROVED


def test_a34_an_answer_that_comes_before_the_question_was_sent_finds_it(
    store: Store, ask: Callable[..., Approval]
) -> None:
    assert _vote(store, "a.1", "telegram:1", YES).kind is VoteKind.UNKNOWN
    ask()  # recorded first, sent afterwards
    assert _vote(store, "a.1", "telegram:1", YES).kind is VoteKind.APPROVED
