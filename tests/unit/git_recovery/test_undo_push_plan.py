"""A push is taken back only while nobody built on it."""

from __future__ import annotations

import pytest

from executor.git.undo_push import NoPushToUndo, OfferRevert, PushedRef, ResetRemote, pushed_refs, way_back

OLD, NEW, THEIRS = "a" * 40, "b" * 40, "c" * 40
MAIN, TAG = "refs/heads/main", "refs/tags/v1"


@pytest.mark.parametrize(
    ("ref", "old", "new", "words"),
    [
        (MAIN, OLD, NEW, (f"--force-with-lease={MAIN}:{NEW}", "origin", f"{OLD}:{MAIN}")),
        (MAIN, None, NEW, (f"--force-with-lease={MAIN}:{NEW}", "origin", f":{MAIN}")),
        (MAIN, OLD, None, (f"--force-with-lease={MAIN}:", "origin", f"{OLD}:{MAIN}")),
        (TAG, None, NEW, (f"--force-with-lease={TAG}:{NEW}", "origin", f":{TAG}")),
    ],
)
def test_a_push_that_nobody_followed_is_taken_back_with_a_lease_on_exactly_what_it_left(
    ref: str, old: str | None, new: str | None, words: tuple[str, ...]
) -> None:
    found = way_back(PushedRef("origin", ref, old, new), now=new)

    assert isinstance(found, ResetRemote)
    assert (found.target, found.lease) == (old, new)
    assert found.argv == ("git", "push", *words)


def test_a_push_that_somebody_built_on_is_reverted_by_new_commits() -> None:
    found = way_back(PushedRef("origin", MAIN, OLD, NEW), now=THEIRS, contains_new=True)

    assert isinstance(found, OfferRevert)
    assert found.argv[-1] == f"{OLD}..{NEW}"


@pytest.mark.parametrize(
    ("ref", "old", "new", "now", "contains"),
    [
        (MAIN, OLD, NEW, None, None),  # somebody deleted it
        (MAIN, OLD, NEW, OLD, None),  # somebody took it back
        (MAIN, OLD, NEW, THEIRS, False),  # somebody moved it elsewhere
        (MAIN, None, NEW, THEIRS, True),  # somebody built on a branch that the push made
        (MAIN, OLD, None, THEIRS, None),  # somebody made anew what the push deleted
        (TAG, OLD, NEW, THEIRS, True),  # a tag is not reverted
    ],
)
def test_nothing_is_done_to_what_somebody_else_moved(
    ref: str, old: str | None, new: str | None, now: str | None, contains: bool | None
) -> None:
    found = way_back(PushedRef("origin", ref, old, new), now=now, contains_new=contains)

    assert isinstance(found, NoPushToUndo)


def test_what_a_push_moved_is_read_from_what_was_recorded_of_it() -> None:
    other = "refs/heads/unmoved"
    by_flag = {"effect": True, "remote": "origin", "ref": MAIN, "old": OLD, "new": NEW}
    by_command = {
        "remote": "origin",
        "refs": {MAIN: NEW, TAG: NEW, other: OLD},
        "were": {MAIN: OLD, TAG: None, other: OLD},
    }

    assert pushed_refs(by_flag) == (PushedRef("origin", MAIN, OLD, NEW),)
    assert pushed_refs(by_command) == (PushedRef("origin", MAIN, OLD, NEW), PushedRef("origin", TAG, None, NEW))


@pytest.mark.parametrize(
    "recorded", [{}, {"effect": True, "moved": 3}, {"remote": "origin"}, {"remote": "origin", "refs": {MAIN: NEW}}]
)
def test_what_was_no_push_has_nothing_to_be_taken_back(recorded: dict[str, object]) -> None:
    assert pushed_refs(recorded) == ()
