"""What two looks at workers, signal and jobs prove of a restart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from executor.laravel.model import QueueCount, Worker
from executor.laravel.proof import Observation, is_settled, prove, workers_are_gone

NOW = 1_800_000_000.0
OLD = Worker(10, NOW - 5000, ("emails",), "queue:work")
OTHER_OLD = replace(OLD, pid=11)
NEW = Worker(20, NOW + 2, ("emails",), "queue:work")
OTHER_NEW = replace(NEW, pid=21)
BEFORE = Observation(NOW, (OLD, OTHER_OLD), asked=True, signal=100)


def after(*workers: Worker, signal: int | None = 200) -> Observation:
    return Observation(NOW + 5, workers, asked=True, signal=signal)


def jobs(at: float, pending: int | None, oldest: float | None = None) -> Observation:
    return Observation(at, (), counts=(QueueCount("emails", pending=pending, oldest_seconds=oldest),))


def test_as_many_new_workers_as_there_were_prove_a_restart() -> None:
    proof = prove(BEFORE, after(NEW, OTHER_NEW), signals=True)
    assert (proof.verified, proof.missing) == (True, ())
    assert is_settled(BEFORE, after(NEW, OTHER_NEW))


def test_f01_workers_that_are_the_same_as_before_prove_nothing_although_the_signal_is_new() -> None:
    proof = prove(BEFORE, after(OLD, OTHER_OLD), signals=True)
    assert not proof.verified
    assert "2 workers from before still there" in proof.missing[0]
    assert not is_settled(BEFORE, after(OLD, OTHER_OLD))


def test_one_worker_that_is_still_the_old_one_is_named_with_its_age() -> None:
    proof = prove(BEFORE, after(OLD, NEW), signals=True)
    assert not proof.verified
    assert "1 worker from before still there (pid 10, up to 83 min old)" in proof.missing[0]


def test_f03_workers_that_ended_and_were_not_started_again_are_gone() -> None:
    assert workers_are_gone(BEFORE, after())
    assert not prove(BEFORE, after(), signals=True).verified
    assert "nobody started workers again" in prove(BEFORE, after(), signals=True).missing[0]


def test_fewer_workers_than_before_are_a_restart_with_some_missing() -> None:
    proof = prove(BEFORE, after(NEW), signals=True)
    assert proof.verified
    assert "only 1 of 2 came back" in proof.missing[0]
    assert not is_settled(BEFORE, after(NEW))


def test_workers_where_none_were_before_prove_a_restart() -> None:
    assert prove(Observation(NOW, ()), after(NEW), signals=False).verified


def test_a_process_id_that_is_used_again_is_another_worker() -> None:
    again = replace(OLD, started_at=NOW + 1)
    assert prove(replace(BEFORE, workers=(OLD,)), after(again), signals=False).verified


def test_f02_a_listener_hears_of_no_restart_and_that_is_said() -> None:
    listener = replace(OLD, command="queue:listen")
    proof = prove(replace(BEFORE, workers=(listener,)), after(listener), signals=True)
    assert not proof.verified
    assert "queue:listen hears of no restart" in proof.missing[0]


@pytest.mark.parametrize("signal", [None, 100])
def test_a_signal_that_is_not_newer_is_missing(signal: int | None) -> None:
    assert "no new restart signal" in prove(BEFORE, after(OLD, OTHER_OLD, signal=signal), signals=True).missing[-1]


def test_where_no_worker_can_be_seen_a_job_that_was_taken_is_the_proof() -> None:
    assert prove(jobs(NOW, 60), jobs(NOW + 5, 59), signals=False).verified
    unseen = replace(jobs(NOW + 5, 60), workers=None, unseen="no Docker")
    assert not prove(jobs(NOW, 60), unseen, signals=False).verified
    assert "no Docker" in prove(jobs(NOW, 60), unseen, signals=False).missing[0]


def test_an_oldest_job_that_is_a_younger_one_was_taken_however_many_came_in() -> None:
    assert prove(jobs(NOW, 60, 900.0), jobs(NOW + 10, 90, 300.0), signals=False).verified
    assert not prove(jobs(NOW, 60, 900.0), jobs(NOW + 10, 90, 910.0), signals=False).verified


@pytest.mark.parametrize(("old", "new"), [(None, 0), (60, None), (0, 0), (5, 5)])
def test_jobs_that_are_unknown_or_as_many_as_before_prove_nothing(old: int | None, new: int | None) -> None:
    proof = prove(jobs(NOW, old), jobs(NOW + 5, new), signals=False)
    assert not proof.verified
    assert proof.missing == ("no queue worker was seen, before or after",)


def test_a_job_that_was_taken_does_not_outweigh_workers_that_stayed() -> None:
    before = replace(BEFORE, counts=(QueueCount("emails", pending=9),))
    now = replace(after(OLD, OTHER_OLD), counts=(QueueCount("emails", pending=3),))
    assert not prove(before, now, signals=True).verified
