"""Runs probes side by side, each until its own deadline. One that hangs is told of and holds up nothing else.

A thread cannot be ended from outside, so a probe that hangs keeps its thread until what it hangs on lets go. It is
not started again meanwhile: there are never more stuck threads than there are probes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from executor.errors import Problem
from executor.health.report import Finding, Level
from executor.spans import span

log = logging.getLogger(__name__)

USUAL_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Probe:
    """A look at one subject. `look` blocks, from a thread of its own; what it raises becomes a finding."""

    name: str
    subject: str
    look: Callable[[], Finding | tuple[Finding, ...]]
    deadline: float = USUAL_SECONDS


@dataclass(slots=True)
class _Begun:
    """A probe that runs: since when (monotonic), and what it found once it is done."""

    at: float
    done: threading.Event = field(default_factory=threading.Event)
    found: tuple[Finding, ...] = ()


class ProbeRunner:
    """Made once a process. Used from several threads: who asks while a probe runs waits for that same run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[tuple[str, str], _Begun] = {}

    def run(self, probes: Sequence[Probe]) -> list[Finding]:
        """Return what the probes find, in their order, after at most the longest of their deadlines."""
        asked = time.monotonic()
        begun = [self._begin(probe) for probe in probes]
        findings: list[Finding] = []
        for probe, run in zip(probes, begun, strict=True):
            left = asked + probe.deadline - time.monotonic()
            in_time = run.done.wait(max(left, 0.0))
            findings += run.found if in_time else (_hangs(probe, time.monotonic() - run.at),)
        return findings

    def _begin(self, probe: Probe) -> _Begun:
        key = (probe.name, probe.subject)
        with self._lock:
            run = self._running.get(key)
            if run is None:
                run = self._running[key] = _Begun(time.monotonic())
                # daemon: a probe that hangs must not keep the process from ending
                name = f"probe {probe.name} {probe.subject}"
                threading.Thread(target=self._look, args=(key, probe, run), name=name, daemon=True).start()
        return run

    def _look(self, key: tuple[str, str], probe: Probe, run: _Begun) -> None:
        try:
            found = probe.look()
            run.found = found if isinstance(found, tuple) else (found,)
        except Problem as problem:
            run.found = (_unknown(probe, f"not known ({problem.code})", problem.hint, problem.message),)
        except OSError as error:
            run.found = (_unknown(probe, f"not known: {error.strerror or type(error).__name__}", detail=str(error)),)
        except Exception:
            log.exception("the probe %s %s met a bug", probe.name, probe.subject)
            run.found = (_unknown(probe, "not known: the probe itself failed", "the gateway's log says how"),)
        finally:
            with self._lock:
                del self._running[key]
            run.done.set()


def _unknown(probe: Probe, what: str, mend: str = "", detail: str = "") -> Finding:
    return Finding(probe.name, probe.subject, Level.UNKNOWN, what, mend, detail)


def _hangs(probe: Probe, seconds: float) -> Finding:
    what = f"not known: it could not be looked at within {probe.deadline:.0f} s"
    detail = f"the look at it has hung for {span(seconds)}" if seconds > 2 * probe.deadline else ""
    return _unknown(probe, what, "what it lies on hangs: its storage, or what it talks to", detail)
