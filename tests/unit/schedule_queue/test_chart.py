"""The last day as a chart: what is in it, and how it looks on a terminal."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from executor.laravel.model import QueueCount, QueueSample
from gateway.charts.series import Chart, chart
from gateway.charts.terminal import LABEL, WIDTH, text_chart

BEGIN = datetime(2026, 3, 2, tzinfo=UTC)
END = BEGIN + timedelta(days=1)


def sample(hours: float, **pending: int | None) -> QueueSample:
    counts = tuple(QueueCount(name, value) for name, value in pending.items())
    return QueueSample(BEGIN + timedelta(hours=hours), counts)


def of(*samples: QueueSample, steps: int = 24, limit: int = 50, **more: object) -> Chart:
    return chart(list(samples), BEGIN, END, steps=steps, limit=limit, **more)  # type: ignore[arg-type]


def test_each_step_shows_the_most_that_waited_in_it() -> None:
    found = of(sample(1.1, emails=3), sample(1.5, emails=90), sample(1.9, emails=7), sample(2.5, emails=1))

    assert found.lines["emails"][1:3] == (90, 1)


def test_what_was_not_known_is_a_gap_and_never_zero() -> None:
    found = of(sample(1.5, emails=None), sample(2.5, emails=0))

    assert found.lines["emails"][1:4] == (None, 0, None)


def test_a_step_that_was_counted_once_is_known() -> None:
    assert of(sample(1.2, emails=None), sample(1.5, emails=4)).lines["emails"][1] == 4


def test_samples_and_restarts_outside_of_the_day_are_left_out() -> None:
    found = of(
        sample(-1, emails=9), sample(25, emails=9), restarts=[BEGIN - timedelta(1), BEGIN + timedelta(hours=3)]
    )

    assert set(found.lines["emails"]) == {None}
    assert found.restarts == ((BEGIN + timedelta(hours=3)).timestamp(),)


def test_a_chart_survives_the_way_to_the_program_that_draws_it() -> None:
    found = of(sample(1, emails=3, pdf=None), restarts=[BEGIN], opened=[(BEGIN, END)], zone="America/Sao_Paulo")

    assert Chart.from_data(json.loads(json.dumps(found.as_data()))) == found


def test_a_congestion_its_limit_a_restart_and_business_hours_are_seen_on_a_terminal() -> None:
    hours = [(BEGIN + timedelta(hours=9), BEGIN + timedelta(hours=18))]
    samples = [sample(hour + 0.5, emails=100 if 10 <= hour < 14 else 10) for hour in range(20)]
    found = of(*samples, restarts=[BEGIN + timedelta(hours=13)], opened=hours)

    assert text_chart(found, "emails") == [
        "   100           ████",
        "                 ████",
        "    50 ┄┄┄┄┄┄┄┄┄┄████┄┄┄┄┄┄",
        "                 ████",
        "                 ████",
        "     0 ▅▅▅▅▅▅▅▅▅▅████▅▅▅▅▅▅····",
        "                ░░░░▲░░░░",
        "       00:00   08:00   16:00",
    ]


@given(
    st.lists(st.tuples(st.floats(0, 24), st.none() | st.integers(0, 10**9)), max_size=60),
    st.integers(0, 10**6),
)
def test_any_day_fits_on_a_terminal_of_80_columns(counted: list[tuple[float, int | None]], limit: int) -> None:
    samples = [sample(0, emails=0), *(sample(at, emails=value) for at, value in counted)]
    lines = text_chart(of(*samples, steps=WIDTH, limit=limit), "emails")

    assert LABEL + WIDTH <= 80
    assert all(len(line) <= 80 for line in lines)
    assert len(lines) == 8


def test_a_number_too_long_for_its_place_is_told_in_millions_and_pushes_no_row_aside() -> None:
    lines = text_chart(of(sample(1.5, emails=12_345_678), limit=999_999), "emails")

    assert lines[0][:LABEL] == "   12M "
    assert "999999 " in {line[:LABEL] for line in lines}
    assert {line[LABEL + 1] for line in lines[:6]} == {"█"}


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_one_waiting_job_is_seen_whatever_stands_beside_it(most: int, limit: int) -> None:
    found = of(sample(1.5, emails=1), sample(2.5, emails=most), limit=limit)

    assert text_chart(found, "emails")[5][LABEL + 1] in "▁▂▃▄▅▆▇█"
