"""The gateway is as well as the work that it completed, and operators as near as the last poll that succeeded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executor.health.gateway import Said, Waiting, judge_approvals, judge_gateway, judge_telegram
from executor.health.report import Finding, Level

NOW = datetime(2025, 11, 30, 17, 40, tzinfo=UTC)


def ago(seconds: float) -> str:
    return (NOW - timedelta(seconds=seconds)).isoformat()


def said(sweep: float = 20, *, late: list[str] | None = None, age: float = 5, **more: Any) -> Said:
    done = {"sweep": ago(sweep), "publish": ago(sweep)}
    return Said({"heartbeat": {"completed": done, "late": late or []}, **more}, age)


def gateway(told: Said) -> list[Finding]:
    return list(judge_gateway(told, NOW))


def chat(polls: str, heard: float | None, problem: str = "") -> Said:
    return said(telegram={"polls": polls, "last_poll_seconds_ago": heard, "problem": problem, "waiting_messages": 0})


@pytest.mark.parametrize(
    ("told", "level", "words"),
    [
        (said(), Level.GOOD, "20 s ago"),
        (said(sweep=400), Level.BAD, "sweep"),
        (said(late=["expire", "publish"]), Level.BAD, "expire, publish"),
        (said(age=600), Level.BAD, "for 10 min"),
        (Said({"heartbeat": {"completed": {}, "late": []}}), Level.GOOD, "just begun"),
        (Said({}), Level.UNKNOWN, "stays"),
        (Said(None), Level.BAD, "no gateway runs"),
    ],
)
def test_a_gateway_is_judged_by_completed_work(told: Said, level: Level, words: str) -> None:
    (finding,) = gateway(told)

    assert finding.level is level
    assert words in finding.what


def test_a_gateway_that_says_it_runs_is_bad_all_the_same_when_nothing_gets_done() -> None:
    (finding,) = gateway(said(sweep=900, pid=4711, watching="inotify"))

    assert finding.level is Level.BAD


def test_each_trouble_of_the_gateway_is_told_and_a_flood_of_them_counted() -> None:
    troubles = {f"job {number}": "it was not completed" for number in range(13)}
    findings = gateway(said(degraded=troubles))
    assert {each.detail for each in findings[1:-1]} == {"it was not completed"}

    assert [each.level for each in findings].count(Level.WARNING) == 11
    assert findings[-1].what == "3 more troubles"


@pytest.mark.parametrize(
    ("told", "level"),
    [
        (chat("ok", 3), Level.GOOD),
        (chat("ok", 3, "message is too long"), Level.WARNING),
        (chat("ok", 900), Level.BAD),
        (chat("degraded", 40), Level.WARNING),
        (chat("degraded", 400), Level.BAD),
        (chat("connecting", None), Level.WARNING),
        (chat("conflict", 3), Level.BAD),
        (chat("unauthorised", 3), Level.BAD),
    ],
)
def test_what_counts_as_hearing_operators_is_the_last_poll_that_succeeded(told: Said, level: Level) -> None:
    (finding,) = judge_telegram(told)

    assert finding.level is level


def test_what_is_written_down_at_the_start_says_nothing_of_the_chat_yet() -> None:
    told = {"polls": "connecting", "last_poll_seconds_ago": None}
    (finding,) = judge_telegram(Said({"heartbeat": {"completed": {}}, "telegram": told}))

    assert finding.level is Level.UNKNOWN


def test_where_there_is_no_chat_nothing_is_said_of_it() -> None:
    assert list(judge_telegram(said())) == []
    assert list(judge_telegram(Said(None))) == []


def test_an_old_word_makes_the_last_poll_older() -> None:
    (finding,) = judge_telegram(Said(chat("ok", 200).health, age=200))

    assert finding.level is Level.BAD


def waiting(*minutes: float, expiry: float = 60) -> tuple[Waiting, ...]:
    begun = [NOW - timedelta(minutes=each) for each in minutes]
    return tuple(Waiting(at, at + timedelta(minutes=expiry)) for at in begun)


@pytest.mark.parametrize(
    ("found", "level", "words"),
    [
        (waiting(), Level.GOOD, "none waits"),
        (waiting(2), Level.GOOD, "1 waits"),
        (waiting(2, expiry=4), Level.GOOD, "1 waits"),
        (waiting(20, 2), Level.WARNING, "2 wait for an operator, the oldest for 20 min; it expires in 40 min"),
        (waiting(50), Level.BAD, "expires in 10 min"),
        (waiting(70), Level.BAD, "expires now"),
    ],
)
def test_an_approval_that_waits_is_measured_by_its_time(found: tuple[Waiting, ...], level: Level, words: str) -> None:
    finding = judge_approvals(found, NOW)

    assert finding.level is level
    assert words in finding.what


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
KEYS = st.sampled_from(["heartbeat", "telegram", "degraded", "completed", "late", "sweep", "polls"])


@settings(suppress_health_check=[HealthCheck.too_slow])  # machines are slow at times
@given(st.dictionaries(KEYS, JSON | st.dictionaries(KEYS, JSON)))
def test_a_file_of_any_form_is_judged_and_never_an_error(health: dict[str, Any]) -> None:
    assert all(isinstance(finding, Finding) for finding in (*gateway(Said(health)), *judge_telegram(Said(health))))
