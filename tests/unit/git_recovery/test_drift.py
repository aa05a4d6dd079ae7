"""What moved between an approval and its execution is said in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.git.drift import Binding, drift

A, B = "a" * 40, "b" * 40
SHOWN = Binding(
    "project",
    "git_push",
    ("git_push", "main"),
    (("HEAD is on", "refs/heads/main"), ("main", A), ("main at origin", None)),
    {"new": A},
    ("nothing",),
)


def test_nothing_moved_means_the_same_digest_and_no_words() -> None:
    assert drift(SHOWN, Binding.from_data(SHOWN.to_data())) == ()
    assert Binding.from_data(SHOWN.to_data()).digest == SHOWN.digest


def test_a_branch_that_moved_is_named_with_both_ids_and_the_number_of_commits() -> None:
    now = replace(SHOWN, things=(("HEAD is on", "refs/heads/main"), ("main", B), ("main at origin", None)))

    assert drift(SHOWN, now, lambda old, new: 2) == ("main moved from aaaaaaaaaa to bbbbbbbbbb (2 commits).",)


def test_what_appears_and_what_goes_is_said() -> None:
    now = replace(SHOWN, things=(("main", A), ("main at origin", B)))

    assert drift(SHOWN, now) == (
        "HEAD is on is gone; it was refs/heads/main.",
        "main at origin is there now: bbbbbbbbbb.",
    )


def test_another_command_is_never_taken_for_the_same() -> None:
    assert drift(SHOWN, replace(SHOWN, argv=("git_push", "dev"))) == ("The command is another one.",)


def test_a_difference_that_has_no_words_of_its_own_is_still_said() -> None:
    assert drift(SHOWN, replace(SHOWN, ids={"new": B})) == ("What is bound is not the same.",)


@pytest.mark.parametrize("data", [None, [], {}, {"format": 1}, {"format": 2, "repo": "x"}])
def test_what_is_no_binding_is_not_read_as_one(data: object) -> None:
    with pytest.raises(ValueError, match="binding"):
        Binding.from_data(data)


bindings = st.builds(
    Binding,
    repo=st.sampled_from(["a", "b"]),
    operation=st.just("git_cmd"),
    argv=st.tuples(st.text(max_size=3)),
    things=st.lists(st.tuples(st.sampled_from("xyz"), st.none() | st.sampled_from([A, B])), max_size=3).map(tuple),
    ids=st.dictionaries(st.sampled_from("xy"), st.sampled_from([A, B])),
    unbound=st.just(()),
)


@given(bindings, bindings)
def test_words_and_digest_agree_about_whether_anything_moved(old: Binding, new: Binding) -> None:
    assert (drift(old, new) == ()) == (old.digest == new.digest)
