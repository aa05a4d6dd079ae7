"""A push is taken back only while nobody built on it."""

from __future__ import annotations

from executor.git.undo_push import NoPushToUndo, OfferRevert, ResetRemote, plan_undo_push
from executor.policy.model import RiskClass

OLD, NEW, THEIRS = "a" * 40, "b" * 40, "c" * 40


def test_a_push_that_nobody_followed_is_taken_back_with_a_lease_on_exactly_what_was_pushed() -> None:
    plan = plan_undo_push("origin", "main", old=OLD, new=NEW, now=NEW)

    assert isinstance(plan, ResetRemote)
    assert plan.argv == (
        "git",
        "push",
        f"--force-with-lease=refs/heads/main:{NEW}",
        "origin",
        f"{OLD}:refs/heads/main",
    )
    assert plan.risk is RiskClass.FORCE


def test_a_push_that_created_the_branch_is_undone_by_deleting_it() -> None:
    plan = plan_undo_push("origin", "topic", old=None, new=NEW, now=NEW)

    assert isinstance(plan, ResetRemote)
    assert (plan.target, plan.lease, plan.argv[-1]) == (None, NEW, ":refs/heads/topic")


def test_a_push_that_somebody_built_on_is_reverted_by_new_commits() -> None:
    plan = plan_undo_push("origin", "main", old=OLD, new=NEW, now=THEIRS, contains_new=True)

    assert isinstance(plan, OfferRevert)
    assert plan.argv[-1] == f"{OLD}..{NEW}"


def test_nothing_is_done_to_a_branch_that_no_longer_holds_the_push() -> None:
    for now, contains in ((None, None), (OLD, None), (THEIRS, False)):
        plan = plan_undo_push("origin", "main", old=OLD, new=NEW, now=now, contains_new=contains)
        assert isinstance(plan, NoPushToUndo)


def test_a_new_branch_that_somebody_built_on_is_never_deleted() -> None:
    plan = plan_undo_push("origin", "topic", old=None, new=NEW, now=THEIRS, contains_new=True)

    assert isinstance(plan, NoPushToUndo)
