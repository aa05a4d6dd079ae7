"""`ops-gateway queue` as a person reads it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from executor.laravel.model import QueueCount, QueueSample
from gateway.charts.series import chart
from gateway.charts.terminal import LEGEND, WIDTH
from gateway.commands.queue import as_text
from gateway.schedule.queue_report import QueueReport

NOW = datetime(2026, 3, 2, 17, 35, tzinfo=UTC)
COUNTS = (
    QueueCount("emails", 84, 3, 2, 12, 730.0),
    QueueCount("pdf", problem="Redis at 127.0.0.1:6379 cannot be reached"),
    QueueCount("reports", 0, 0, 0, existed=False),
)
REPORT = QueueReport(
    sample=QueueSample(NOW, COUNTS),
    max_pending=50,
    max_age_seconds=600.0,
    hours="Mon-Fri 09:00-18:00",
    zone="America/Sao_Paulo",
    open_now=True,
    opens_at=NOW,
    restarts=(NOW - timedelta(hours=5), NOW - timedelta(minutes=25)),
    congested_since={"emails": NOW - timedelta(minutes=25)},
    never_seen=frozenset({"reports"}),
    looked_at=NOW - timedelta(seconds=40),
)


def text(report: QueueReport, *samples: QueueSample) -> list[str]:
    day = chart(list(samples), NOW - timedelta(days=1), NOW, steps=WIDTH, limit=50)
    return list(as_text("web-1", report, day))


def test_the_numbers_stand_beside_their_limits_and_what_is_not_known_is_no_number() -> None:
    assert text(REPORT) == [
        "Queues of web-1, 02 Mar 14:35 -03",
        "QUEUE     PENDING    OLDEST   DELAYED  RESERVED    FAILED",
        "emails         84    12 min         3         2        12",
        "  congested since 02 Mar 14:10",
        "pdf             ?         ?         ?         ?         ?",
        "  Redis at 127.0.0.1:6379 cannot be reached",
        "reports         0         -         0         0         ?",
        "  nothing of that name is there: never used, or the name or prefix is wrong",
        "limit          50    10 min",
        "",
        "It is business time (Mon-Fri 09:00-18:00, America/Sao_Paulo).",
        "Restarts of the workers within 24 h: 2, the last 25 min ago.",
        "The queue monitor last looked 40 s ago.",
        "There is no history yet: the gateway keeps a sample of each look while it runs.",
    ]


def test_an_age_that_is_not_told_is_not_shown_as_that_of_no_job() -> None:
    line = text(replace(REPORT, sample=QueueSample(NOW, (QueueCount("emails", 60, 0, 0),))))[2]
    assert line.split() == ["emails", "60", "?", "0", "0", "?"]


def test_outside_business_hours_it_says_when_they_begin() -> None:
    closed = replace(REPORT, open_now=False, opens_at=NOW + timedelta(hours=20))

    assert "It is not business time (Mon-Fri 09:00-18:00, America/Sao_Paulo); next 03 Mar 10:35." in text(closed)


@pytest.mark.parametrize("queues", [1, 9])
def test_the_busiest_queues_are_drawn_and_no_more_than_a_screen_of_them(queues: int) -> None:
    counts = tuple(QueueCount(f"queue-{number}", number) for number in range(queues))
    lines = text(REPORT, QueueSample(NOW - timedelta(hours=1), counts))

    drawn = [line for line in lines if line.endswith("pending jobs, last 24 h")]
    assert len(drawn) == min(queues, 4)
    assert f"queue-{queues - 1}: pending jobs, last 24 h" in drawn
    assert lines[-1] == LEGEND


def test_hidden_characters_in_what_an_application_says_are_made_visible() -> None:
    hidden = replace(REPORT, sample=QueueSample(NOW, (QueueCount("emails", problem="no\u202eanswer"),)))

    assert any("no⟨U+202E⟩answer" in line for line in text(hidden))
