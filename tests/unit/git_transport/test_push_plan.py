"""Which refs a push command means, and what may be forced."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.errors import Failed
from executor.git.push_plan import Known, Wanted, plan_push

OURS = frozenset({"refs/heads/main", "refs/heads/topic", "refs/tags/v1.0", "refs/heads/both", "refs/tags/both"})
KNOWN = Known(OURS, frozenset({"refs/heads/main", "refs/heads/old", "refs/tags/v0.9"}), "topic")
TOPIC = Wanted("refs/heads/topic", "refs/heads/topic")


@pytest.mark.parametrize(
    ("refspecs", "options", "wanted"),
    [
        ([], [], [TOPIC]),
        (["HEAD"], [], [TOPIC]),
        (["main"], [], [Wanted("refs/heads/main", "refs/heads/main")]),
        (["v1.0"], [], [Wanted("refs/tags/v1.0", "refs/tags/v1.0")]),
        (["refs/heads/both"], [], [Wanted("refs/heads/both", "refs/heads/both")]),
        (["+main"], [], [Wanted("refs/heads/main", "refs/heads/main", force=True)]),
        (["main"], [("-f", None)], [Wanted("refs/heads/main", "refs/heads/main", force=True)]),
        (["main:release"], [], [Wanted("refs/heads/main", "refs/heads/release")]),
        (["v1.0:v1.1"], [], [Wanted("refs/tags/v1.0", "refs/tags/v1.1")]),
        (["HEAD~1:main"], [], [Wanted("HEAD~1", "refs/heads/main")]),
        (["HEAD:refs/tags/v2"], [], [Wanted("refs/heads/topic", "refs/tags/v2")]),
        ([":old"], [], [Wanted(None, "refs/heads/old")]),
        (["old"], [("--delete", None)], [Wanted(None, "refs/heads/old")]),
        (["v0.9"], [("-d", None)], [Wanted(None, "refs/tags/v0.9")]),
        ([], [("--tags", None)], [Wanted(tag, tag) for tag in ("refs/tags/both", "refs/tags/v1.0")]),
    ],
)  # fmt: skip
def test_a_push_means(refspecs: list[str], options: list[tuple[str, str | None]], wanted: list[Wanted]) -> None:
    assert list(plan_push(refspecs, options, KNOWN)) == wanted


@pytest.mark.parametrize(
    ("refspecs", "options", "code"),
    [
        (["both"], [], "ambiguous_name"),
        (["nope"], [], "no_such_branch"),
        ([":nope"], [], "remote_ref_missing"),
        (["nope"], [("--delete", None)], "remote_ref_missing"),
    ],
)
def test_what_cannot_be_told_is_not_guessed(
    refspecs: list[str], options: list[tuple[str, str | None]], code: str
) -> None:
    with pytest.raises(Failed) as caught:
        plan_push(refspecs, options, KNOWN)

    assert caught.value.code == code


def test_without_a_branch_there_is_nothing_to_mean() -> None:
    with pytest.raises(Failed) as caught:
        plan_push([], [], Known(OURS, frozenset(), None))

    assert caught.value.code == "detached_head"


@pytest.mark.parametrize(
    ("value", "leased", "expected"),
    [(None, True, None), ("main", True, None), ("refs/heads/main:abc123", True, "abc123"), ("topic", False, None)],
)
def test_a_lease_is_for_the_ref_it_names(value: str | None, leased: bool, expected: str | None) -> None:
    (wanted,) = plan_push(["main"], [("--force-with-lease", value)], KNOWN)

    assert (wanted.force, wanted.leased, wanted.expected) == (leased, leased, expected)


@given(st.lists(st.text(alphabet="abmainto/:+refshdg.~1", min_size=1, max_size=20), max_size=4))
def test_only_branches_and_tags_are_ever_moved(refspecs: list[str]) -> None:
    try:
        plan = plan_push([spec for spec in refspecs if ":refs/" not in spec], [], KNOWN)
    except Failed:
        return
    assert all(one.destination.startswith(("refs/heads/", "refs/tags/")) for one in plan)
