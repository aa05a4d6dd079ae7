"""A queue is well when a worker's command line names it; who names none may work on the default one."""

from __future__ import annotations

import pytest

from executor.health.report import Level
from executor.health.workers import judge
from executor.laravel.model import Worker

NOW = 1_764_524_400.0


def worker(*queues: str, age: float = 600) -> Worker:
    return Worker(pid=7, started_at=NOW - age, queues=queues, command="queue:work")


@pytest.mark.parametrize(
    ("found", "level", "words"),
    [
        ([worker("emails")], Level.GOOD, "1 worker, the oldest for 10 min"),
        (
            [worker("emails", "default"), worker("emails", age=86_400 * 3)],
            Level.GOOD,
            "2 workers, the oldest for 3 days",
        ),
        ([worker("reports")], Level.BAD, "nobody works on this queue"),
        ([], Level.BAD, "nobody works on this queue"),
        ([worker(), worker("reports")], Level.UNKNOWN, "1 worker without --queue may work on it"),
    ],
)
def test_a_queue_is_as_well_as_it_is_worked_on(found: list[Worker], level: Level, words: str) -> None:
    (finding,) = judge(["emails"], found, NOW)

    assert (finding.subject, finding.level) == ("emails", level)
    assert words in finding.what


def test_a_worker_that_names_no_queue_works_on_the_default_one() -> None:
    default, emails = judge(["default", "emails"], [worker()], NOW)

    assert (default.level, emails.level) == (Level.GOOD, Level.UNKNOWN)


def test_f05_horizon_itself_is_no_worker_and_its_workers_are() -> None:
    master = Worker(pid=8, started_at=NOW, queues=(), command="horizon")
    own = Worker(pid=9, started_at=NOW, queues=("emails",), command="horizon:work")

    (alone,) = judge(["emails"], [master], NOW)
    (staffed,) = judge(["emails"], [master, own], NOW)
    assert (alone.level, staffed.level) == (Level.BAD, Level.GOOD)


def test_every_expected_queue_is_told_of() -> None:
    assert [each.subject for each in judge(["a", "b"], [worker("b")], NOW)] == ["a", "b"]
