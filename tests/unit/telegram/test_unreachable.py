"""Which requests end because nobody can be asked, and which go on waiting (A23)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gateway.telegram.unreachable import GRACE, Reach, Waiting, hopeless

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def waiting(*, asked: timedelta = HOUR, left: timedelta = HOUR, shown: bool = True) -> Waiting:
    return Waiting("fix-1", NOW - asked, NOW + left, shown)


def ended(one: Waiting, reach: Reach) -> list[str]:
    return [request_id for request_id, _ in hopeless([one], reach, NOW)]


def test_a23_a_chat_that_stays_closed_ends_what_waits_for_it() -> None:
    assert ended(waiting(), Reach(gone_since=NOW - GRACE)) == ["fix-1"]


def test_a23_there_is_time_to_let_the_bot_in_again() -> None:
    assert ended(waiting(), Reach(gone_since=NOW - GRACE + timedelta(seconds=1))) == []


def test_a23_what_was_asked_a_moment_ago_has_its_own_grace_for_a_decision_on_the_host() -> None:
    assert ended(waiting(asked=timedelta(minutes=1)), Reach(gone_since=NOW - HOUR)) == []


def test_an_outage_of_the_network_ends_nothing_that_was_shown() -> None:
    assert ended(waiting(left=timedelta(seconds=10)), Reach(silent_since=NOW - HOUR)) == []


def test_what_was_never_shown_does_not_expire_as_if_somebody_had_seen_it() -> None:
    reach = Reach(silent_since=NOW - HOUR)
    assert ended(waiting(left=timedelta(minutes=30), shown=False), reach) == []
    assert ended(waiting(left=timedelta(seconds=60), shown=False), reach) == ["fix-1"]


def test_nothing_ends_while_everything_can_be_reached() -> None:
    assert ended(waiting(asked=5 * HOUR, left=timedelta(seconds=1), shown=False), Reach()) == []


def test_the_reason_says_since_when() -> None:
    ((_, why),) = hopeless([waiting()], Reach(gone_since=NOW - HOUR), NOW)
    assert "2026-01-31 11:00 UTC" in why
