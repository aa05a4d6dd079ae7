"""Where git hangs, the requests behind the first ones are told so instead of hanging too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from executor.errors import Refused, TimedOut
from executor.outcome import Outcome, State
from executor.stuck_trees import ENOUGH, HELD_SECONDS, StuckTrees

HUNG = Outcome(State.TIMED_OUT, error=TimedOut("timeout", "git status was ended after 120 seconds."))
FINE = Outcome(State.SUCCEEDED)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def trees(clock: Clock) -> StuckTrees:
    return StuckTrees(clock)


def hang(trees: StuckTrees, tree: Path) -> None:
    for _ in range(ENOUGH):
        trees.check("shop", tree)
        trees.note("shop", tree, HUNG)


def refusal(trees: StuckTrees, tree: Path) -> Refused:
    with pytest.raises(Refused) as refused:
        trees.check("shop", tree)
    assert refused.value.code == "work_tree_stuck"
    return refused.value


def test_after_two_time_outs_in_a_row_the_next_are_refused_for_a_minute(
    trees: StuckTrees, clock: Clock, tmp_path: Path
) -> None:
    hang(trees, tmp_path)

    assert "find . -type p" in refusal(trees, tmp_path).hint
    trees.check("blog", tmp_path)
    clock.now += HELD_SECONDS
    trees.check("shop", tmp_path)


def test_one_that_hangs_after_the_minute_closes_it_again_and_one_that_does_not_opens_it(
    trees: StuckTrees, clock: Clock, tmp_path: Path
) -> None:
    hang(trees, tmp_path)
    clock.now += HELD_SECONDS
    trees.note("shop", tmp_path, HUNG)
    refusal(trees, tmp_path)
    clock.now += HELD_SECONDS
    trees.note("shop", tmp_path, FINE)
    trees.note("shop", tmp_path, HUNG)

    trees.check("shop", tmp_path)


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", ".mailmap"])
def test_a_fifo_where_git_looks_is_named_and_when_it_is_gone_everything_goes_on_at_once(
    trees: StuckTrees, name: str, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / name)
    hang(trees, tmp_path)

    assert name in refusal(trees, tmp_path).hint
    (tmp_path / name).unlink()
    trees.check("shop", tmp_path)
