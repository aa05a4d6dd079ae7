"""What is done about a stuck repository, decided from facts alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.git.recovery import diagnose, plan, rescue_name
from executor.git.recovery_model import (
    STALE_LOCK_SECONDS,
    Activity,
    CannotRecover,
    Lock,
    NothingToDo,
    RecoveryFacts,
    RecoveryPlan,
    StepKind,
)

A, B = "a" * 40, "b" * 40
FINE = RecoveryFacts(
    branch="main",
    commit=A,
    branches={"main": A, "dev": B},
    remote_branches=frozenset({("origin", "main")}),
    default_branch="main",
    upstream="origin/main",
)
DETACHED = replace(FINE, branch=None)


def decided(facts: RecoveryFacts, *, keep: bool = False) -> RecoveryPlan | NothingToDo | CannotRecover:
    return plan(diagnose(facts), date="2025-01-31", keep_activity=keep)


def kinds(facts: RecoveryFacts) -> list[str]:
    found = decided(facts)
    assert isinstance(found, RecoveryPlan), found
    return [step.kind.value for step in found.steps]


def refusal(facts: RecoveryFacts) -> CannotRecover:
    found = decided(facts)
    assert isinstance(found, CannotRecover), found
    return found


@pytest.mark.parametrize(
    ("facts", "steps"),
    [
        (DETACHED, "preserve switch verify"),
        (replace(DETACHED, upstream=None), "preserve switch set_upstream verify"),
        (replace(DETACHED, changed=1, clashes=("f",)), "preserve set_aside switch verify"),
        (replace(FINE, activity=Activity.MERGE, conflicted=("f",)), "preserve abort verify"),
        (
            replace(DETACHED, activity=Activity.REBASE, activity_branch="dev", upstream=None),
            "preserve abort verify",
        ),
        (replace(DETACHED, activity=Activity.CHERRY_PICK), "preserve abort switch verify"),
        (replace(DETACHED, activity=Activity.BISECT, activity_branch="dev"), "preserve abort switch verify"),
        (replace(DETACHED, activity=Activity.REBASE, activity_broken=True), "preserve forget switch verify"),
        (replace(FINE, conflicted=("f",)), "preserve clear_conflicts verify"),
        (replace(FINE, upstream=None), "preserve set_upstream verify"),
        (replace(FINE, upstream="up/main", upstream_gone=True), "preserve set_upstream verify"),
        (replace(FINE, locks=(Lock("index.lock", 7200),)), "preserve remove_locks verify"),
        (
            replace(DETACHED, branches={"dev": B}, upstream=None),
            "preserve create_branch set_upstream verify",
        ),
    ],
)
def test_each_stuck_state_has_its_steps_and_the_first_one_keeps_everything(facts: RecoveryFacts, steps: str) -> None:
    assert kinds(facts) == steps.split()


def test_a_repository_that_works_is_left_alone() -> None:
    assert isinstance(decided(FINE), NothingToDo)


def test_uncommitted_work_on_a_branch_is_no_reason_to_do_anything() -> None:
    assert isinstance(decided(replace(FINE, changed=3, untracked=2)), NothingToDo)


def test_a_gone_upstream_without_another_one_is_said_and_left_alone() -> None:
    facts = replace(FINE, upstream="origin/main", upstream_gone=True, remote_branches=frozenset())

    found = decided(facts)

    assert isinstance(found, NothingToDo)
    assert "origin/main, is gone" in found.reason


def test_head_returns_to_the_branch_it_came_from_rather_than_to_the_default_one() -> None:
    found = decided(replace(DETACHED, previous_branch="dev"))

    assert isinstance(found, RecoveryPlan)
    assert found.target == "dev"


def test_commits_on_no_branch_get_one_that_the_plan_names() -> None:
    found = decided(replace(DETACHED, lonely=2))

    assert isinstance(found, RecoveryPlan)
    assert found.leaves == (f"Branch rescue/2025-01-31-{A[:7]} with 2 commits that no other branch has.",)


def test_a_rescue_branch_never_takes_a_name_that_is_taken() -> None:
    plain = f"rescue/2025-01-31-{A[:7]}"

    assert rescue_name({plain: A}, "2025-01-31", A) == plain
    assert rescue_name({plain: B}, "2025-01-31", A) == f"{plain}-2"
    assert rescue_name({"rescue": B}, "2025-01-31", A) == f"rescue-2025-01-31-{A[:7]}"


def test_c02_a_lock_that_is_fresh_or_held_is_never_removed() -> None:
    fresh = replace(FINE, locks=(Lock("index.lock", 3),))
    held = replace(FINE, locks=(Lock("index.lock", STALE_LOCK_SECONDS * 10, held_by="git (pid 7)"),))

    assert refusal(fresh).code == "locked"
    assert "git (pid 7)" in refusal(held).reason


def test_a_branch_of_another_work_tree_is_not_taken_from_it() -> None:
    assert "/srv/other" in refusal(replace(DETACHED, elsewhere={"main": "/srv/other"})).reason


def test_a_repository_without_a_commit_needs_nothing() -> None:
    facts = RecoveryFacts(branch="main", commit=None, default_branch="main")

    assert isinstance(decided(facts), NothingToDo)


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (replace(FINE, branch="gone", commit=None), "unborn_branch"),
        (replace(FINE, branch=None, commit=None), "broken_head"),
        (replace(DETACHED, branches={}, remote_branches=frozenset()), "no_branch"),
    ],
)
def test_a_state_that_only_a_person_can_judge_is_refused_with_advice(facts: RecoveryFacts, code: str) -> None:
    found = refusal(facts)

    assert (found.code, bool(found.hint)) == (code, True)


def test_an_activity_is_left_as_it_is_when_that_was_chosen() -> None:
    facts = replace(DETACHED, activity=Activity.REBASE, activity_branch="dev")

    assert isinstance(decided(facts, keep=True), NothingToDo)
    assert "rebase" in diagnose(facts).findings[0]


def test_c23_a_cut_history_is_said() -> None:
    assert any("cut" in finding for finding in diagnose(replace(FINE, shallow=True)).findings)


names = st.sampled_from(["main", "dev", "x", None])


@given(
    st.builds(
        RecoveryFacts,
        branch=names,
        commit=st.sampled_from([A, None]),
        branches=st.dictionaries(st.sampled_from(["main", "dev"]), st.sampled_from([A, B])),
        remote_branches=st.frozensets(st.tuples(st.sampled_from(["origin", "up"]), st.sampled_from(["main", "dev"]))),
        default_branch=names,
        previous_branch=names,
        activity=st.sampled_from([None, *Activity]),
        activity_branch=names,
        activity_broken=st.booleans(),
        conflicted=st.sampled_from([(), ("f",)]),
        changed=st.integers(0, 2),
        clashes=st.sampled_from([(), ("f",)]),
        lonely=st.integers(0, 2),
        elsewhere=st.sampled_from([{}, {"main": "/o"}]),
        upstream=st.sampled_from([None, "origin/main"]),
        upstream_gone=st.booleans(),
        locks=st.sampled_from([(), (Lock("index.lock", 1),), (Lock("index.lock", 9999),)]),
        shallow=st.booleans(),
    )
)
def test_every_plan_begins_by_keeping_ends_by_looking_and_never_touches_a_live_lock(facts: RecoveryFacts) -> None:
    found = decided(facts)

    if isinstance(found, RecoveryPlan):
        order = [step.kind for step in found.steps]
        assert order[0] is StepKind.PRESERVE
        assert order[-1] is StepKind.VERIFY
        assert len(order) > 2
        assert all(lock.stale for lock in facts.locks)
        assert facts.commit is not None or order[1:-1] == [StepKind.REMOVE_LOCKS]
