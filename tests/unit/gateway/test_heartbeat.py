"""Signs of life: the age of what was done, by a clock that nobody sets."""

from __future__ import annotations

from pathlib import Path

from waiting import Clock

from gateway.schedule.heartbeat import STALE_PERIODS, Heartbeat, read_health, write_health


def test_b14_a_job_is_late_by_the_age_of_its_last_run_whatever_is_planned() -> None:
    clock = Clock()
    heartbeat = Heartbeat({"sweep": 60.0}, clock)
    heartbeat.completed("sweep")
    clock.seconds += STALE_PERIODS * 60.0
    assert heartbeat.late() == []
    clock.seconds += 1
    assert heartbeat.late() == ["sweep"]
    heartbeat.completed("sweep")
    assert heartbeat.late() == []


def test_a_job_that_never_ran_is_late_after_the_same_time() -> None:
    clock = Clock()
    heartbeat = Heartbeat({"sweep": 60.0}, clock)
    clock.seconds += STALE_PERIODS * 60.0 + 1
    assert heartbeat.late() == ["sweep"]


def test_what_was_written_down_is_read_back_and_nothing_is_nothing(tmp_path: Path) -> None:
    assert read_health(tmp_path) == {}
    write_health(tmp_path, {"pid": 7})
    assert read_health(tmp_path) == {"pid": 7}
    assert [path.name for path in tmp_path.iterdir()] == ["health.json"]
    (tmp_path / "health.json").write_text("[")
    assert read_health(tmp_path) == {}
