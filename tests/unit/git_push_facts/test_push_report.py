"""The words for a push say first what decides: what and where, what is risky, then what it consists of."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from executor.git.push_report import FileStat, PushFacts, PushKind, lines
from executor.git.risk_facts import CommitFact, RiskFact, Severity
from executor.git.secrets import SecretFinding

OLD, NEW = "a" * 40, "b" * 40
COMMIT = CommitFact(NEW, "Ann", "ann@x", "ann@x", "2025-01-31T12:00:00+01:00", "Fix it")
FACTS = PushFacts(
    remote="origin",
    url="https://example.org/x.git",
    ref="refs/heads/main",
    old=OLD,
    new=NEW,
    kind=PushKind.FAST_FORWARD,
    commits=(COMMIT,),
    commits_total=1,
    base=OLD,
    files=(FileStat("a.py", "M", 3, 1), FileStat("b.bin", "A", None, None), FileStat("n", "R", 0, 0, "o")),
    files_total=3,
    added_total=3,
    deleted_total=1,
    risks=(RiskFact("ci", Severity.DANGER, "changes what CI runs", (".github/workflows/x.yml",), 1),),
    secrets=(SecretFinding("a.py", 2, "an AWS key"),),
    notes=("History is cut here.",),
)


def test_the_facts_survive_being_stored() -> None:
    assert PushFacts.from_data(json.loads(json.dumps(FACTS.to_data()))) == FACTS


def test_what_and_where_come_first_then_dangers_then_the_rest() -> None:
    assert lines(FACTS) == (
        "Moves main at origin forward by 1 commit.",
        "aaaaaaaaaaaa -> bbbbbbbbbbbb at origin (https://example.org/x.git)",
        "! secret? an AWS key in a.py (line 2)",
        "! changes what CI runs: .github/workflows/x.yml",
        "History is cut here.",
        "Publishes 1 commit:",
        "  bbbbbbbbbbbb 2025-01-31 Ann <ann@x>: Fix it",
        "Changes 3 files: +3 -1 lines",
        "  M a.py (+3 -1)",
        "  A b.bin (binary)",
        "  R o => n (+0 -0)",
    )


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (PushKind.REWRITE, "REWRITES main at origin"),
        (PushKind.DELETION, "DELETES branch main at origin"),
        (PushKind.UNKNOWN, "MAY REWRITE main at origin"),
        (PushKind.NEW_BRANCH, "Creates branch main at origin"),
        (PushKind.UP_TO_DATE, "Nothing to push"),
    ],
)
def test_the_first_line_says_what_kind_of_push_it_is(kind: PushKind, word: str) -> None:
    assert lines(replace(FACTS, kind=kind))[0].startswith(word)


def test_a_moved_tag_is_said_loudly_and_a_new_one_is_not() -> None:
    tag = replace(FACTS, kind=PushKind.TAG, ref="refs/tags/v1")

    assert lines(tag)[0] == "MOVES tag v1 at origin."
    assert lines(replace(tag, old=None))[0] == "Publishes tag v1 at origin."


def test_dropped_commits_stand_before_published_ones_and_what_cannot_be_listed_is_said() -> None:
    rewrite = replace(FACTS, kind=PushKind.REWRITE, dropped=(replace(COMMIT, subject="Theirs"),), dropped_total=7)
    said = lines(rewrite)

    assert said.index("Drops 7 commits:") < said.index("Publishes 1 commit:")
    assert "  and 6 older ones" in said
    assert any("cannot be listed" in line for line in lines(replace(rewrite, dropped=(), dropped_total=None)))


def test_what_is_not_listed_is_counted() -> None:
    files = tuple(FileStat(f"f{number}", "M", 1, 0) for number in range(200))
    said = lines(replace(FACTS, files=files, files_total=1000, commits_total=51))

    assert said[-1] == "  and 960 more"
    assert "  and 50 older ones" in said
