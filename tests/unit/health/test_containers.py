"""What an engine says of a container is judged as a person would who expects it to run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from executor.health.containers import Container, judge, missing
from executor.health.report import Level

NOW = datetime(2025, 11, 30, 17, 40, tzinfo=UTC)


def container(status: str = "running", *, up: float = 7200, **more: object) -> Container:
    ended = NOW - timedelta(minutes=5)
    return Container(status=status, started_at=NOW - timedelta(seconds=up), finished_at=ended, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "level", "said"),
    [
        (container(), Level.GOOD, "runs for 2 h"),
        (container(health="healthy"), Level.GOOD, "healthy"),
        (container(health="none"), Level.GOOD, "runs for 2 h"),
        (container(health="starting", up=3), Level.WARNING, "not passed yet"),
        (container(health="unhealthy"), Level.BAD, "health check fails"),
        (container(restarts=4, up=20), Level.WARNING, "after it was restarted 4 times"),
        (container(restarts=1, up=20), Level.WARNING, "restarted once"),
        (container(restarts=4), Level.GOOD, "runs for 2 h"),
        (container(oom_killed=True), Level.WARNING, "lack of memory"),
        (container("restarting", restarts=7, exit_code=3), Level.BAD, "again and again (7 times)"),
        (container("exited", exit_code=1), Level.BAD, "ended 5 min ago with exit code 1"),
        (container("exited"), Level.BAD, "exit code 0"),
        (container("exited", exit_code=137, oom_killed=True), Level.BAD, "a kill for lack of memory"),
        (container("dead", exit_code=2), Level.BAD, "ended"),
        (container("paused"), Level.BAD, "is paused"),
        (container("created"), Level.BAD, "is created"),
    ],
)
def test_a_container_is_as_good_as_it_runs(found: Container, level: Level, said: str) -> None:
    finding = judge("web", found, NOW)

    assert (finding.level, finding.subject) == (level, "web")
    assert said in finding.what


def test_whatever_is_not_good_says_what_to_do() -> None:
    findings = [judge("web", container(status), NOW) for status in ("exited", "paused", "restarting", "dead")]

    assert all("web" in finding.mend for finding in [*findings, missing("web")])


def test_a_container_that_was_never_started_has_no_time_of_its_end() -> None:
    assert judge("web", Container("created"), NOW).what == "is created"
    assert judge("web", Container("dead", exit_code=9), NOW).what == "ended with exit code 9"
