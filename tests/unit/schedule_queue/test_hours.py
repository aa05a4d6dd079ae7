"""Business hours as a clock on the wall shows them, through changes of the clocks too."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.schedule.hours import Hours, Window, next_opening, parse_hours, spans, within

SAO_PAULO, BERLIN, NEW_YORK = ZoneInfo("America/Sao_Paulo"), ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
OFFICE = parse_hours("Mon-Fri 09:00-18:00")
ZONES = ["America/Sao_Paulo", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"]


def local(zone: ZoneInfo, *parts: int, fold: int = 0) -> datetime:
    return datetime(*parts, tzinfo=zone, fold=fold).astimezone(UTC)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(("hour", "minute", "inside"), [(8, 59, False), (9, 0, True), (17, 59, True), (18, 0, False)])
@pytest.mark.parametrize("day", range(7))
def test_b07_a_week_of_office_hours_is_monday_to_friday(day: int, hour: int, minute: int, inside: bool) -> None:
    moment = local(SAO_PAULO, 2026, 3, 2 + day, hour, minute)  # 2 March 2026 is a Monday

    assert within(OFFICE, SAO_PAULO, moment) is (inside and day < 5)


def test_b09_hours_are_those_of_the_named_zone_and_not_of_the_host() -> None:
    london = ZoneInfo("Europe/London")

    assert within(OFFICE, london, datetime(2026, 7, 1, 8, 0, tzinfo=UTC))  # 09:00 in summer
    assert not within(OFFICE, london, datetime(2026, 7, 1, 17, 30, tzinfo=UTC))


@pytest.mark.parametrize(
    ("zone", "day"), [(BERLIN, (2026, 3, 29)), (BERLIN, (2026, 10, 25)), (NEW_YORK, (2026, 11, 1))]
)
def test_b08_office_hours_stay_local_on_the_days_when_the_clocks_change(
    zone: ZoneInfo, day: tuple[int, int, int]
) -> None:
    hours = parse_hours("Mon-Sun 09:00-18:00")

    opened = spans(hours, zone, local(zone, *day), local(zone, *day) + timedelta(hours=25))

    assert opened == ((local(zone, *day, 9), local(zone, *day, 18)),)


def test_b08_an_hour_that_comes_twice_counts_twice() -> None:
    hours = parse_hours("Mon-Sun 02:15-02:45")
    first, second = local(BERLIN, 2026, 10, 25, 2, 30), local(BERLIN, 2026, 10, 25, 2, 30, fold=1)

    assert within(hours, BERLIN, first)
    assert within(hours, BERLIN, second)
    assert second - first == timedelta(hours=1)
    assert len(spans(hours, BERLIN, first - timedelta(hours=2), second + timedelta(hours=2))) == 2


def test_b08_a_window_that_begins_in_an_hour_that_is_skipped_begins_after_it() -> None:
    hours = parse_hours("Mon-Sun 02:30-04:00")
    midnight = local(BERLIN, 2026, 3, 29)

    assert spans(hours, BERLIN, midnight, midnight + timedelta(hours=12)) == (
        (local(BERLIN, 2026, 3, 29, 3), local(BERLIN, 2026, 3, 29, 4)),
    )


def test_several_windows_a_day_and_lists_of_days_are_read() -> None:
    hours = parse_hours("Mon, Wed-Fri 9:00-12:00, 13:00-18:00; Sat 10:00-12:00")
    week = frozenset({0, 2, 3, 4})

    assert hours.windows == (
        Window(week, 540, 720),
        Window(week, 780, 1080),
        Window(frozenset({5}), 600, 720),
    )


def test_a_window_over_midnight_belongs_to_the_day_on_which_it_begins() -> None:
    hours = parse_hours("Fri 22:00-02:00")

    assert within(hours, SAO_PAULO, local(SAO_PAULO, 2026, 3, 7, 1, 59))  # the Saturday
    assert not within(hours, SAO_PAULO, local(SAO_PAULO, 2026, 3, 6, 1, 0))


def test_on_a_holiday_no_window_begins() -> None:
    hours = parse_hours("Mon-Sun 09:00-18:00, 22:00-02:00", [date(2026, 12, 25)])

    assert not within(hours, SAO_PAULO, local(SAO_PAULO, 2026, 12, 25, 12))
    assert not within(hours, SAO_PAULO, local(SAO_PAULO, 2026, 12, 26, 1))
    assert within(hours, SAO_PAULO, local(SAO_PAULO, 2026, 12, 25, 1))  # begun on the day before
    assert within(hours, SAO_PAULO, local(SAO_PAULO, 2026, 12, 26, 9))


def test_the_next_opening_is_now_while_it_is_open_then_the_next_day_that_has_hours_and_never_where_none_has() -> None:
    monday, friday = local(SAO_PAULO, 2026, 3, 9, 9), local(SAO_PAULO, 2026, 3, 6, 18)

    assert next_opening(OFFICE, SAO_PAULO, monday) == monday
    assert next_opening(OFFICE, SAO_PAULO, friday) == monday
    assert next_opening(parse_hours("never"), SAO_PAULO, monday) is None


def test_always_and_never_are_words_for_it() -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)

    assert within(parse_hours("always"), BERLIN, now)
    assert spans(parse_hours("always"), BERLIN, now, now + timedelta(days=3)) == ((now, now + timedelta(days=3)),)
    assert not within(parse_hours("never"), BERLIN, now)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "names no times"),
        ("Mon-Fri", "names no times"),
        ("09:00-18:00", "on which days"),
        ("Mon-Fry 09:00-18:00", "'Fry' is no day of the week"),
        ("Mon-Fri 09:00", "write it like 09:00-18:00"),
        ("Mon-Fri 09:00-25:00", "00:00 to 24:00"),
        ("Mon-Fri 09:70-18:00", "00:00 to 24:00"),
        ("Mon-Fri 09:00-09:00", "the whole day is 00:00-24:00"),
        ("1-5 09:00-18:00", "on which days"),
        ("Mon-Fri 9am-6pm", "write it like"),
        ("* * * * *", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_explained_with_an_example(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        parse_hours(text)


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        within(OFFICE, BERLIN, datetime(2026, 3, 2, 12))


@given(st.text(max_size=60))
def test_any_text_is_read_or_explained(text: str) -> None:
    try:
        hours = parse_hours(text)
    except ValueError as error:
        assert str(error)
    else:
        assert all(0 <= window.begin < 1440 and window.begin < window.end <= 2880 for window in hours.windows)


_WINDOWS = st.builds(
    lambda days, begin, length: Window(days, begin, begin + length),
    st.frozensets(st.integers(0, 6), min_size=1),
    st.integers(0, 1439),
    st.integers(1, 1440),
)
_HOURS = st.builds(
    Hours,
    st.lists(_WINDOWS, max_size=4).map(tuple),
    st.frozensets(st.dates(date(2026, 3, 1), date(2026, 11, 30)), max_size=3),
)
_MOMENTS = st.integers(0, 400 * 24 * 60).map(
    lambda minutes: datetime(2026, 1, 1, tzinfo=UTC) + minutes * timedelta(minutes=1)
)


@given(_HOURS, st.sampled_from(ZONES), _MOMENTS, st.lists(st.integers(0, 3 * 1440), min_size=1, max_size=30))
def test_a_moment_is_within_hours_just_where_a_span_covers_it(
    hours: Hours, zone_name: str, begin: datetime, minutes: list[int]
) -> None:
    zone = ZoneInfo(zone_name)
    end = begin + timedelta(days=3, minutes=1)
    opened = spans(hours, zone, begin, end)

    for minute in minutes:
        moment = begin + timedelta(minutes=minute)
        assert within(hours, zone, moment) is any(opens <= moment < closes for opens, closes in opened)


@given(_HOURS, st.sampled_from(ZONES), _MOMENTS, st.integers(0, 10 * 1440))
def test_spans_are_in_order_apart_and_inside_what_was_asked_for(
    hours: Hours, zone_name: str, begin: datetime, minutes: int
) -> None:
    end = begin + timedelta(minutes=minutes)
    opened = spans(hours, ZoneInfo(zone_name), begin, end)
    moments = [moment for span in opened for moment in span]

    assert moments == sorted(set(moments))
    assert all(begin <= moment <= end for moment in moments)


@pytest.mark.parametrize(
    ("zone", "change"),
    [
        (BERLIN, datetime(2026, 3, 29, 1, tzinfo=UTC)),
        (BERLIN, datetime(2026, 10, 25, 1, tzinfo=UTC)),
        (ZoneInfo("Australia/Lord_Howe"), datetime(2026, 4, 4, 15, tzinfo=UTC)),
    ],
)
def test_b08_spans_and_hours_agree_in_every_minute_around_a_change(zone: ZoneInfo, change: datetime) -> None:
    hours = parse_hours("Mon-Sun 00:30-01:40, 01:50-02:20, 02:40-03:10, 23:30-00:10")
    begin, end = change - timedelta(hours=4), change + timedelta(hours=4)
    opened = spans(hours, zone, begin, end)

    for minute in range(480):
        moment = begin + timedelta(minutes=minute)
        assert within(hours, zone, moment) is any(opens <= moment < closes for opens, closes in opened)
