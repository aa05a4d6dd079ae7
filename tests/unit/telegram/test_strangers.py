"""Strangers are reported, at a rate that they cannot raise (A26)."""

from __future__ import annotations

from gateway.telegram.strangers import ALL_MOST, ALL_SECONDS, EACH_SECONDS, PEOPLE_MOST, Strangers


def test_a26_the_first_try_is_reported_at_once_and_the_rest_are_counted() -> None:
    strangers = Strangers()
    assert strangers.to_be_told(66, 0.0) == 1
    assert [strangers.to_be_told(66, float(second)) for second in range(1, 100)] == [0] * 99
    assert strangers.to_be_told(66, EACH_SECONDS) == 100


def test_a26_many_people_together_make_no_more_than_the_reports_of_an_hour() -> None:
    strangers = Strangers()
    told = [strangers.to_be_told(person, float(person)) for person in range(100)]
    assert sum(told) == ALL_MOST
    assert strangers.to_be_told(1_000, ALL_SECONDS + 100) == 1


def test_no_crowd_fills_the_memory() -> None:
    strangers = Strangers()
    for person in range(3 * PEOPLE_MOST):
        strangers.to_be_told(person, 0.0)
    assert len(strangers._people) == PEOPLE_MOST
