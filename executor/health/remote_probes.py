"""The probes of git remotes: whether each repository's can be reached, with the access that a push would have."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial

from executor.errors import Problem, Refused
from executor.git.questions import remotes
from executor.git.repository import Deadlines
from executor.git.transfer import ls_remote
from executor.health.report import Finding, Level
from executor.health.run import Probe
from executor.repositories import Repositories
from executor.spans import span

PROBE = "remote"
DEADLINE_SECONDS = 10.0  # for git; the probe as a whole gets a little longer
KEPT_SECONDS = 300.0  # an answer is not asked for again so soon: checks must not hammer somebody's server
KEPT_BAD_SECONDS = 60.0
_FIRST = "origin"


class RemoteProbes:
    """Made once a process: it remembers what the remotes said a few minutes ago."""

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, Finding]] = {}  # repository -> when (monotonic), what

    def probes(self) -> Iterator[Probe]:
        """Yield a probe for each repository."""
        for name in self._repositories.names:
            yield Probe(PROBE, name, partial(self._look, name), DEADLINE_SECONDS + 5.0)

    def _look(self, name: str) -> Finding:
        with self._lock:
            at, found = self._known.get(name, (0.0, None))
        if found is not None:
            age = time.monotonic() - at
            if age < (KEPT_SECONDS if found.level is Level.GOOD else KEPT_BAD_SECONDS):
                return found
        found = self._ask(name)
        with self._lock:
            self._known[name] = (time.monotonic(), found)
        return found

    def _ask(self, name: str) -> Finding:
        try:
            git = self._repositories.open(name)
            git.deadlines = Deadlines(DEADLINE_SECONDS, DEADLINE_SECONDS)
            known = sorted(remotes(git))
            if not known:
                return Finding(PROBE, name, Level.UNKNOWN, "the repository has no remote")
            remote = _FIRST if _FIRST in known else known[0]
            begun = time.monotonic()
            ls_remote(git, remote, ("HEAD",))
        except Problem as problem:
            return _told(name, problem)
        took = time.monotonic() - begun
        what = f"{remote} answers" + (f", after {span(took)}" if took >= 2 else "")
        return Finding(PROBE, name, Level.GOOD, what, facts={"remote": remote, "seconds": round(took, 3)})


def _told(name: str, problem: Problem) -> Finding:
    """Return what a problem says of a remote; its words may name paths and addresses, which are for operators."""
    level, what = Level.BAD, "cannot be reached"
    if problem.stopped:
        level, what = Level.UNKNOWN, "not known"
    elif isinstance(problem, Refused):
        what = "the repository cannot be served"
    return Finding(PROBE, name, level, f"{what} ({problem.code})", problem.hint, problem.message)
