"""How a pull is told to bring two sides together: the last word counts, and silence is not a choice."""

from __future__ import annotations

import pytest

from executor.git.run_pull import way_to_combine


@pytest.mark.parametrize(
    ("options", "way"),
    [
        ([], ""),
        ([("--ff-only", None)], ""),
        ([("--rebase", None)], "rebase"),
        ([("-r", None)], "rebase"),
        ([("--rebase", "true")], "rebase"),
        ([("--rebase", "merges")], "rebase-merges"),
        ([("--rebase", "false")], "merge"),
        ([("--no-rebase", None)], "merge"),
        ([("--no-ff", None)], "merge"),
        ([("--rebase", None), ("--no-rebase", None)], "merge"),
        ([("--no-rebase", None), ("--rebase", None)], "rebase"),
    ],
)
def test_the_last_word_counts(options: list[tuple[str, str | None]], way: str) -> None:
    assert way_to_combine(options) == way
