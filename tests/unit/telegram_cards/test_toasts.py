"""What somebody who pressed a button reads at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from telegram_samples import ANN, BEN, PLACE, approval, decided

from executor.record.approvals import ApprovalState, VoteKind, VoteResult
from gateway.telegram import toasts

LONG = replace(PLACE, names={ANN: "Ann " * 80, BEN: "Ben " * 80})


def said(kind: VoteKind, **changes: object) -> str:
    return toasts.vote(PLACE, VoteResult(kind, approval(**changes), (ANN,)))


def test_a14_the_second_of_two_taps_is_told_who_approved_and_when() -> None:
    assert said(VoteKind.ALREADY_DECIDED, **decided()) == (
        "Already approved by Ann at 30 Nov 17:40 UTC. Your tap changed nothing."
    )


def test_a28_a_button_from_before_is_explained_and_runs_nothing() -> None:
    assert "/pending" in toasts.vote(PLACE, VoteResult(VoteKind.UNKNOWN))
    assert "expired at 30 Nov 18:34 UTC. The agent has to ask again" in said(
        VoteKind.EXPIRED, **decided(ApprovalState.EXPIRED, ())
    )


def test_what_was_asked_again_leads_to_the_newer_card() -> None:
    assert "Look at the newer card" in said(VoteKind.SUPERSEDED, **decided(ApprovalState.SUPERSEDED, ()))


def test_the_first_of_two_is_told_that_another_must_say_yes() -> None:
    assert said(VoteKind.COUNTED, quorum=2) == "Your yes counts. 1 more operator must say yes."


@pytest.mark.parametrize("kind", VoteKind)
@pytest.mark.parametrize("state", ApprovalState)
def test_every_answer_fits_and_never_calls_an_expiry_a_denial(kind: VoteKind, state: ApprovalState) -> None:
    about = approval(**decided(state, (ANN, BEN)), quorum=3)
    text = toasts.vote(LONG, VoteResult(kind, about, (ANN,)))

    assert 0 < len(text.encode("utf-16-le")) // 2 <= toasts.TOAST_UNITS
    if kind is VoteKind.EXPIRED:
        assert "enied" not in text


def test_the_other_answers_fit_too() -> None:
    constants = [value for name, value in vars(toasts).items() if name.isupper() and isinstance(value, str)]
    texts = [*constants, toasts.denied_with(PLACE, "y" * 500)]

    assert len(constants) > 5
    assert all(0 < len(text) <= toasts.TOAST_UNITS for text in texts)
