"""Which commits' files a command brings in."""

from __future__ import annotations

import pytest

from executor.git.bringing_in import Coming, what_comes
from executor.git.grammar import judge
from executor.git.lexer import split


@pytest.mark.parametrize(
    ("line", "coming"),
    [
        ("checkout other", Coming(trees=("other",))),
        ("checkout -m other", Coming(trees=("other",), merges=True)),
        ("checkout -", Coming(trees=("@{-1}",))),
        ("checkout -b new", Coming(trees=("HEAD",))),
        ("switch --detach main...other", Coming(trees=("main...other",))),
        ("restore -s main...other a.txt", Coming(trees=("HEAD", "main...other"))),
        (
            "rebase --onto main...other topic",
            Coming(trees=("topic", "main...other"), ranges=("topic..HEAD",), merges=True),
        ),
        ("cherry-pick main...other", Coming(ranges=("main...other",), merges=True)),
        ("checkout other -- a.txt", Coming(trees=("other",))),
        ("restore --source=other a.txt", Coming(trees=("HEAD", "other"))),
        (
            "rebase --onto other main topic",
            Coming(trees=("main", "topic", "other"), ranges=("main..topic",), merges=True),
        ),
        ("rebase", Coming(trees=("@{upstream}",), ranges=("@{upstream}..HEAD",), merges=True)),
        ("rebase --root", Coming(trees=("@{upstream}",), ranges=("HEAD",), merges=True)),
        ("merge", Coming(trees=("@{upstream}",), merges=True)),
        ("merge --abort", Coming(trees=("ORIG_HEAD", "HEAD"), resumes=True, merges=True)),
        ("cherry-pick main..other", Coming(ranges=("main..other",), merges=True)),
        ("cherry-pick main..other one", Coming(trees=("one",), ranges=("main..other", "one"), merges=True)),
        ("cherry-pick other ^main", Coming(trees=("other",), ranges=("other", "^main"), merges=True)),
        ("revert one^!", Coming(ranges=("one^!",), merges=True)),
        ("cherry-pick one two", Coming(trees=("one", "two"), merges=True)),
        ("revert one", Coming(trees=("one^1", "one^2"), merges=True)),
        ("stash pop", Coming(trees=("refs/stash",), merges=True)),
        ("stash pop 2", Coming(trees=("stash@{2}",), merges=True)),
        ("stash branch new", Coming(trees=("refs/stash",), merges=True)),
        ("mv -f a/b.txt c", Coming(files=("c", "c/b.txt"))),
        ("bisect start other main", Coming(trees=("other",), bisects=True, good=("main",))),
        ("bisect good", Coming(bisects=True, good=("HEAD",))),
        ("bisect bad other", Coming(trees=("other",), bisects=True)),
        ("bisect reset", Coming(resumes=True)),
        ("bisect log", Coming()),
        ("add -A", Coming()),
        ("log other", Coming()),
    ],
)
def test_a_command_brings_in_what_it_names_or_takes_by_itself(line: str, coming: Coming) -> None:
    assert what_comes(judge(split(line))) == coming
