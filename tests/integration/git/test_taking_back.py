"""Taking a published push back, on a real remote."""

from __future__ import annotations

from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, clone, commit_file, plain_git

from executor.errors import Failed, Refused
from executor.git.actions import run_operation
from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.run_command import run_command
from executor.git.taking_back import take_back, told, ways_back
from executor.git.undo_push import NoPushToUndo, OfferRevert, PushedRef, ResetRemote, pushed_refs
from executor.outcome import State
from executor.policy.model import Operation, PushParams, Request

pytestmark = pytest.mark.needs("git")
MAIN = "refs/heads/main"


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def pushed(repo: Adopted) -> tuple[PushedRef, ...]:
    """Push main by a flag and return what it moved."""
    outcome = run_operation(repo.open(), Request(Operation.GIT_PUSH, PushParams("main")))
    assert outcome.state is State.SUCCEEDED, outcome.error
    return pushed_refs(outcome.verified)


def pushed_by(repo: Adopted, line: str) -> tuple[PushedRef, ...]:
    outcome = run_command(repo.open(), judge(split(line)))
    assert outcome.state is State.SUCCEEDED, outcome.error
    return pushed_refs(outcome.verified)


def pushed_by_a_colleague(repo: Adopted, where: Path) -> str:
    colleague = clone(repo.remote or "", where)
    theirs = commit_file(colleague, "theirs.txt", "theirs\n")
    plain_git(colleague, "push", "-q", "origin", "HEAD")
    return theirs


def test_a_push_goes_back_to_where_the_remote_was_and_the_commit_stays_here(repo: Adopted) -> None:
    before, new = repo.remote_ref(MAIN), repo.commit("a.txt", "a\n")
    git, moved = repo.open(), pushed(repo)

    ways = ways_back(git, moved)
    outcome = take_back(git, ways)

    assert outcome.verified == {"effect": True, "remote": "origin", "refs": {MAIN: before}}
    assert repo.remote_ref(MAIN) == before
    assert (repo.ref(MAIN), repo.ref("refs/remotes/origin/main")) == (new, before)
    goes_back = f"goes back to {before}, only if it still is at {new}; commits that this takes off it: 1."
    assert goes_back in told(git, ways)[0]


def test_what_one_command_pushed_is_taken_back_together(repo: Adopted) -> None:
    before = repo.remote_ref(MAIN)
    repo.plain("tag", "v1")
    repo.commit("a.txt", "a\n")
    moved = pushed_by(repo, "push origin main main:topic v1")

    take_back(repo.open(), ways_back(repo.open(), moved))

    assert [repo.remote_ref(ref) for ref in (MAIN, "refs/heads/topic", "refs/tags/v1")] == [before, None, None]


def test_a_branch_that_a_push_deleted_is_made_again(repo: Adopted) -> None:
    pushed_by(repo, "push origin main:topic")
    there = repo.remote_ref("refs/heads/topic")
    moved = pushed_by(repo, "push origin --delete topic")
    assert repo.remote_ref("refs/heads/topic") is None

    take_back(repo.open(), ways_back(repo.open(), moved))

    assert repo.remote_ref("refs/heads/topic") == there


def test_where_somebody_built_on_it_a_revert_is_offered_with_the_exact_commands(
    repo: Adopted, tmp_path: Path
) -> None:
    before, new = repo.remote_ref(MAIN), repo.commit("a.txt", "a\n")
    git, moved = repo.open(), pushed(repo)
    theirs = pushed_by_a_colleague(repo, tmp_path / "colleague")

    run_command(git, judge(split("fetch origin")))
    ways = ways_back(git, moved)

    assert isinstance(ways[0], OfferRevert)
    with pytest.raises(Refused) as caught:
        take_back(git, ways)
    assert caught.value.code == "nothing_to_take_back"
    assert repo.remote_ref(MAIN) == theirs
    for line in told(git, ways)[-4:]:
        assert run_command(git, judge(split(line.strip().removeprefix("git ")))).state is State.SUCCEEDED, line
    assert f"git revert --no-edit {before}..{new}" in told(git, ways)[-2]
    tip = repo.remote_ref(MAIN) or ""
    assert plain_git(repo.remote or tmp_path, "ls-tree", "--name-only", tip).split() == ["file.txt", "theirs.txt"]


def test_what_comes_between_the_plan_and_the_push_stops_it(repo: Adopted, tmp_path: Path) -> None:
    repo.commit("a.txt", "a\n")
    git, moved = repo.open(), pushed(repo)
    ways = ways_back(git, moved)
    theirs = pushed_by_a_colleague(repo, tmp_path / "colleague")

    with pytest.raises(Failed) as caught:
        take_back(git, ways)

    assert caught.value.code == "remote_changed"
    assert repo.remote_ref(MAIN) == theirs


def test_what_the_remote_had_before_and_nobody_has_here_cannot_be_pushed(repo: Adopted) -> None:
    repo.commit("a.txt", "a\n")
    moved = pushed(repo)
    lost = PushedRef("origin", MAIN, "1" * 40, moved[0].new)

    ways = ways_back(repo.open(), [lost])

    assert isinstance(ways[0], NoPushToUndo)
    assert "is not here" in ways[0].reason


def test_a_push_that_was_taken_back_already_is_said_to_be(repo: Adopted) -> None:
    repo.commit("a.txt", "a\n")
    git, moved = repo.open(), pushed(repo)
    assert isinstance(ways_back(git, moved)[0], ResetRemote)
    take_back(git, ways_back(git, moved))

    again = ways_back(git, moved)

    assert isinstance(again[0], NoPushToUndo)
    assert "already" in told(git, again)[0]
