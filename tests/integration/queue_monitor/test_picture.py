"""The picture of the last day: drawn by a program of its own, which is there or is not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from executor.errors import Failed, Refused
from executor.laravel.model import QueueCount, QueueSample
from executor.sandbox.confinement import Confinement
from executor.sandbox.process import ProcessRunner
from gateway.charts import drawing
from gateway.charts.drawing import png
from gateway.charts.series import Chart, chart

END = datetime(2026, 3, 3, tzinfo=UTC)
BEGIN = END - timedelta(days=1)
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def runner() -> Iterator[ProcessRunner]:
    made = ProcessRunner(Confinement())
    yield made
    made.confinement.close()


@pytest.fixture
def day() -> Chart:
    samples = [
        QueueSample(BEGIN + timedelta(minutes=minute), (QueueCount("emails", minute % 90), QueueCount("pdf", None)))
        for minute in range(0, 1440, 5)
    ]
    noon = BEGIN + timedelta(hours=12)
    hours = [(BEGIN + timedelta(hours=9), BEGIN + timedelta(hours=18))]
    return chart(samples, BEGIN, END, steps=200, limit=50, restarts=[noon], opened=hours, zone="America/Sao_Paulo")


def test_a_day_becomes_a_picture_that_a_phone_shows_well(runner: ProcessRunner, day: Chart, tmp_path: Path) -> None:
    picture = png(day, runner, tmp_path)

    assert picture.startswith(PNG)
    assert (int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])) == (990, 495)
    assert len(picture) < 1_000_000


def test_a_day_without_samples_is_a_picture_too(runner: ProcessRunner, tmp_path: Path) -> None:
    empty = chart([], BEGIN, END, steps=100, limit=50)

    assert png(empty, runner, tmp_path).startswith(PNG)


def test_what_draws_is_never_loaded_into_the_gateway(runner: ProcessRunner, day: Chart, tmp_path: Path) -> None:
    png(day, runner, tmp_path)

    assert "matplotlib" not in sys.modules


def test_without_the_extra_it_says_how_to_get_the_picture(
    runner: ProcessRunner, day: Chart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "can_draw", lambda: False)

    with pytest.raises(Refused, match="matplotlib") as refused:
        png(day, runner, tmp_path)
    assert "ops-gateway[charts]" in refused.value.hint


def test_a_chart_that_cannot_be_drawn_says_why(runner: ProcessRunner, day: Chart, tmp_path: Path) -> None:
    broken = Chart(**{**{name: getattr(day, name) for name in day.__slots__}, "zone": "Mars/Olympus"})

    with pytest.raises(Failed, match=r"could not be drawn: .*Mars/Olympus"):
        png(broken, runner, tmp_path)
