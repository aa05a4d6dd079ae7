"""Alerts: at once when a trouble begins, once when it is over, and not at every flicker (A35)."""

from __future__ import annotations

from gateway.telegram.alerts import FLOOR_SECONDS, HOLD_SECONDS, Alert, Alerts

DOWN = {"running in shop": "git hangs"}


def test_a_trouble_is_told_at_once_and_once() -> None:
    alerts = Alerts()
    assert alerts.observe(DOWN, 0.0) == [Alert("running in shop", "git hangs", begins=True)]
    assert alerts.observe(DOWN, 15.0) == []


def test_a_trouble_is_over_when_it_stayed_away_for_the_hold_time() -> None:
    alerts = Alerts()
    alerts.observe(DOWN, 0.0)
    assert alerts.observe({}, HOLD_SECONDS - 1) == []
    assert alerts.observe({}, HOLD_SECONDS) == [Alert("running in shop", "git hangs", begins=False)]
    assert alerts.observe({}, 2 * HOLD_SECONDS) == []


def test_a35_what_goes_up_and_down_each_minute_for_two_hours_makes_three_messages_at_most() -> None:
    alerts = Alerts()
    told = [len(alerts.observe(DOWN if minute % 2 == 0 else {}, 60.0 * minute)) for minute in range(120)]
    told += [len(alerts.observe({}, 7200.0 + 60 * minute)) for minute in range(10)]
    assert told[0] == 1
    assert sum(told) <= 3


def test_a35_a_reason_that_changes_makes_no_new_alert() -> None:
    alerts = Alerts()
    told = [alerts.observe({"taking flags": f"error number {n}"}, 15.0 * n) for n in range(100)]
    assert sum(map(len, told)) == 1


def test_a35_a_recovery_does_not_shorten_the_time_between_two_alerts() -> None:
    alerts = Alerts()
    alerts.observe(DOWN, 0.0)
    alerts.observe({}, HOLD_SECONDS)
    assert alerts.observe(DOWN, HOLD_SECONDS + 1) == []
    assert alerts.observe(DOWN, FLOOR_SECONDS) == [Alert("running in shop", "git hangs", begins=True)]


def test_a35_an_alert_that_reached_nobody_is_told_again() -> None:
    alerts = Alerts()
    (alert,) = alerts.observe(DOWN, 0.0)
    alerts.undelivered(alert)
    assert alerts.observe(DOWN, 15.0) == [alert]


def test_a_trouble_that_was_never_told_does_not_end_aloud() -> None:
    alerts = Alerts()
    alerts.observe(DOWN, 0.0)
    alerts.observe({}, HOLD_SECONDS)
    alerts.observe(DOWN, HOLD_SECONDS + 1)
    assert alerts.observe({}, 3 * HOLD_SECONDS) == []
