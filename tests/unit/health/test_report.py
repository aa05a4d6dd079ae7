"""A report tells the worst first, tells once what is so of several, and tells the agent less than operators."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from executor.health.report import Finding, Level, Report, as_data, as_text, for_agent, named, report

AT = datetime(2025, 11, 30, 17, 40, tzinfo=UTC)
GOOD = Finding("disk", "shared directory", Level.GOOD, "50 GB of 100 GB free")
BAD = Finding("container", "web", Level.BAD, "ended 5 min ago with exit code 1", "docker logs web", "unix:///x.sock")
UNKNOWN = Finding("remote", "shop", Level.UNKNOWN, "not known (disk_low)")
WARNING = Finding("clock", "", Level.WARNING, "nothing on this host keeps it right")


def made(*findings: Finding) -> Report:
    return report("web-1", AT, findings)


def test_the_worst_comes_first_and_names_the_whole() -> None:
    told = made(GOOD, UNKNOWN, WARNING, BAD)

    assert [each.level for each in told.findings] == [Level.BAD, Level.WARNING, Level.UNKNOWN, Level.GOOD]
    assert told.level is Level.BAD
    assert named(told) == {"bad": ["container web"], "warning": ["clock"], "unknown": ["remote shop"]}


def test_what_is_not_known_is_never_good() -> None:
    assert made(GOOD, UNKNOWN).level is Level.UNKNOWN
    assert made().level is Level.UNKNOWN


def test_what_is_so_of_several_subjects_is_told_once() -> None:
    state = Finding("disk", "state directory", Level.GOOD, GOOD.what)

    (told,) = made(GOOD, state).findings
    assert told.subject == "shared directory, state directory"


def test_the_agent_reads_how_things_are_and_neither_mends_nor_details() -> None:
    told = for_agent(made(BAD, GOOD))

    assert "exit code 1" in as_text(told)
    for hidden in (BAD.mend, BAD.detail):
        assert hidden in as_text(made(BAD))
        assert hidden not in as_text(told) + json.dumps(as_data(told))


def test_data_is_what_json_can_hold_and_says_all_of_it() -> None:
    data = json.loads(json.dumps(as_data(made(BAD, GOOD))))

    assert (data["host"], data["level"], data["counts"]["bad"]) == ("web-1", "bad", 1)
    assert data["at"] == "2025-11-30T17:40:00+00:00"
    assert data["findings"][0]["mend"] == BAD.mend
    assert "mend" not in data["findings"][1]


def test_text_shows_what_hides() -> None:
    assert "⟨U+202E⟩" in as_text(made(Finding("gateway", "x\u202ey", Level.WARNING, "z")))
