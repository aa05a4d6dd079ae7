"""How local refs follow what the transfer repository fetched, and how a push's answer is read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from executor.git.transfer_plan import RefChange, parse_porcelain, plan_take_over

TRACKING = "refs/remotes/origin/"
names = st.sampled_from(["refs/remotes/origin/a", "refs/remotes/origin/b", "refs/remotes/origin/HEAD", "refs/tags/t"])
some_refs = st.dictionaries(names, st.sampled_from(["1" * 40, "2" * 40]))


def test_a_tracking_ref_follows_even_backwards() -> None:
    assert plan_take_over({"refs/remotes/origin/a": "1"}, {"refs/remotes/origin/a": "2"}, TRACKING, prune=False) == (
        RefChange("refs/remotes/origin/a", "1", "2"),
    )


def test_a_tag_is_added_but_not_moved_unless_that_is_asked_for() -> None:
    ours, theirs = {"refs/tags/old": "1"}, {"refs/tags/old": "2", "refs/tags/new": "3"}

    assert plan_take_over(ours, theirs, TRACKING, prune=False) == (RefChange("refs/tags/new", None, "3"),)
    assert RefChange("refs/tags/old", "1", "2") in plan_take_over(ours, theirs, TRACKING, prune=False, move_tags=True)


@given(some_refs, some_refs, st.booleans())
def test_pruning_never_touches_tags_or_the_remotes_default_branch(
    ours: dict[str, str], theirs: dict[str, str], prune: bool
) -> None:
    gone = [change.ref for change in plan_take_over(ours, theirs, TRACKING, prune=prune) if change.new is None]

    assert "refs/remotes/origin/HEAD" not in gone
    assert all(ref.startswith(TRACKING) for ref in gone)
    assert prune or not gone


@given(some_refs, some_refs)
def test_after_the_plan_every_tracking_ref_of_the_remote_is_here(
    ours: dict[str, str], theirs: dict[str, str]
) -> None:
    here = dict(ours)
    for change in plan_take_over(ours, theirs, TRACKING, prune=True):
        assert here.get(change.ref) == change.old
        if change.new is None:
            del here[change.ref]
        else:
            here[change.ref] = change.new

    for ref, object_id in theirs.items():
        if ref.startswith(TRACKING):
            assert here[ref] == object_id


def test_the_porcelain_of_a_push_is_read_by_ref() -> None:
    output = (
        "To /srv/x.git\n"
        " \trefs/heads/main:refs/heads/main\t1111111..2222222\n"
        "!\trefs/heads/a:refs/heads/b\t[rejected] (stale info)\n"
        "-\t:refs/heads/old\t[deleted]\n"
        "Done\n"
    )

    assert parse_porcelain(output) == {
        "refs/heads/main": (" ", "1111111..2222222"),
        "refs/heads/b": ("!", "[rejected] (stale info)"),
        "refs/heads/old": ("-", "[deleted]"),
    }


@given(st.text())
def test_any_answer_can_be_read(output: str) -> None:
    assert all(len(flag) == 1 for flag, _ in parse_porcelain(output).values())
