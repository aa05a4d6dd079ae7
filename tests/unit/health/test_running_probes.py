"""Probes run side by side, and one that hangs or fails is told of and stands in nobody's way."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from executor.errors import Unavailable
from executor.health.report import Finding, Level
from executor.health.run import Probe, ProbeRunner

GIVE_UP = 60.0


def good(name: str = "a") -> Finding:
    return Finding("test", name, Level.GOOD, "fine")


def probes_alive(subject: str) -> int:
    return sum(thread.name == f"probe test {subject}" for thread in threading.enumerate())


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """What hanging probes wait for."""
    event = threading.Event()
    yield event
    event.set()


def hanging(release: threading.Event, deadline: float = 0.05, subject: str = "stuck") -> Probe:
    def look() -> Finding:
        release.wait(GIVE_UP)
        return good(subject)

    return Probe("test", subject, look, deadline)


def test_e09_a_probe_that_hangs_is_unknown_and_the_others_are_told(release: threading.Event) -> None:
    found = ProbeRunner().run([hanging(release), Probe("test", "a", good, GIVE_UP)])

    assert [each.level for each in found] == [Level.UNKNOWN, Level.GOOD]
    assert "could not be looked at" in found[0].what


def test_a_probe_that_hangs_is_not_started_again(release: threading.Event) -> None:
    runner = ProbeRunner()
    for _ in range(5):
        (found,) = runner.run([hanging(release, subject="stuck five times")])
        assert found.level is Level.UNKNOWN

    assert probes_alive("stuck five times") == 1


def test_a_probe_that_hung_is_well_again_when_what_it_hung_on_lets_go(release: threading.Event) -> None:
    runner = ProbeRunner()
    runner.run([hanging(release)])
    release.set()

    (found,) = runner.run([hanging(release, GIVE_UP)])
    assert found.level is Level.GOOD


def test_probes_run_side_by_side() -> None:
    together = threading.Barrier(8)

    def look() -> Finding:
        together.wait(GIVE_UP)
        return good()

    found = ProbeRunner().run([Probe("test", str(number), look, GIVE_UP) for number in range(8)])
    assert {each.level for each in found} == {Level.GOOD}


def test_who_asks_while_a_probe_runs_waits_for_the_same_run(release: threading.Event) -> None:
    runner = ProbeRunner()
    looks: list[int] = []
    looking = threading.Event()

    def look() -> Finding:
        looks.append(1)
        looking.set()
        release.wait(GIVE_UP)
        return good()

    results: list[Finding] = []
    first = threading.Thread(target=lambda: results.extend(runner.run([Probe("test", "a", look, GIVE_UP)])))
    first.start()
    assert looking.wait(GIVE_UP)
    (impatient,) = runner.run([Probe("test", "a", look, 0.01)])
    release.set()
    first.join(GIVE_UP)

    assert (impatient.level, results[0].level, looks) == (Level.UNKNOWN, Level.GOOD, [1])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Unavailable("busy", "somebody is at work in /srv", "wait"), "not known (busy)"),
        (PermissionError(13, "Permission denied", "/x"), "Permission denied"),
        (RuntimeError("a bug with /path"), "the probe itself failed"),
    ],
)
def test_f04_a_probe_that_fails_is_not_known_and_nothing_is_guessed(error: Exception, words: str) -> None:
    def look() -> Finding:
        raise error

    (found,) = ProbeRunner().run([Probe("test", "a", look, GIVE_UP)])
    assert found.level is Level.UNKNOWN
    assert words in found.what
    assert "/" not in found.what
