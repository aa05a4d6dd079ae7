"""The health check as a whole: every probe there is on this host, run together, told as one report."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

from executor.config import ExecutorConfig
from executor.health.container_probes import container_probes
from executor.health.gateway import GATEWAY, Said
from executor.health.gateway_probes import gateway_probes
from executor.health.health_file import written_down
from executor.health.host_probes import host_probes
from executor.health.remote_probes import RemoteProbes
from executor.health.report import Level, Report, as_data, as_text, for_agent, named, report, title
from executor.health.run import Probe, ProbeRunner
from executor.health.worker_probes import worker_probes
from executor.host_operations import HostOperation
from executor.outcome import Outcome, State
from executor.record.store import Store
from executor.repositories import Repositories
from executor.sandbox.process import ProcessRunner

AGAIN_SECONDS = 15.0
KEPT_SECONDS = 10.0  # an agent that asks again so soon is told the same: a check may take as long where things hang
FILE = "health_check.json"  # in the shared directory: what the agent may know of the last check


class HealthChecks:
    """Made once a process, so that what hangs and what was asked a moment ago is known to the next check."""

    def __init__(
        self, config: ExecutorConfig, store: Store, repositories: Repositories, programs: ProcessRunner
    ) -> None:
        self._config = config
        self._store = store
        self._remotes = RemoteProbes(repositories)
        self._programs = programs
        self._runner = ProbeRunner()
        self._troubles: dict[str, str] = {}
        self._last: tuple[float, Report | None] = (0.0, None)  # when (monotonic), what the agent was told

    def look(self, said: Said | None = None) -> Report:
        """Look at everything and return the report, after the longest deadline of a probe at the latest.

        `said` is what the serving process says of itself, by default what it last wrote into the state directory.
        """
        found = self._runner.run([*self._own_probes(), *self._remotes.probes(), *self._gateway_probes(said)])
        told = {title(each) for each in found if each.probe != GATEWAY}
        # what `watch` found bad is among the gateway's troubles, and need not be told twice
        found = [each for each in found if each.probe != GATEWAY or each.subject not in told]
        return report(self._config.host, datetime.now(UTC), found)

    def watch(self, stopping: threading.Event) -> None:
        """Look at the host's own things, and remember what is bad for `troubles`. No remote is asked.

        What was well at the last watch is looked at again after some seconds: between the end of a worker and the
        start of its successor, or while a container is made anew, nothing is wrong. Ends early when `stopping` is
        set.
        """
        bad = self._bad()
        if not bad.keys() <= self._troubles.keys():
            if stopping.wait(AGAIN_SECONDS):
                return
            again = self._bad()
            bad = {name: what for name, what in again.items() if name in bad}
        self._troubles = bad

    def _bad(self) -> dict[str, str]:
        found = self._runner.run(list(self._own_probes()))
        return {title(each): each.what for each in found if each.level is Level.BAD}

    def troubles(self) -> dict[str, str]:
        """Return what the last `watch` found bad, in words."""
        return dict(self._troubles)

    def operation(self) -> HostOperation:
        """Return how the operation `health_check` is run."""
        return HostOperation(lambda _request_id, _request: self._outcome())

    def _outcome(self) -> Outcome:
        """Check, and tell of it what the agent may know. A flood of requests is one check in some seconds."""
        at, told = self._last
        if told is None or time.monotonic() - at > KEPT_SECONDS:
            told = for_agent(self.look())
            self._last = time.monotonic(), told
        return Outcome(
            State.SUCCEEDED,
            output=as_text(told),
            verified={"health": told.level, **named(told)},
            files={FILE: json.dumps(as_data(told), indent=2, ensure_ascii=False) + "\n"},
        )

    def _own_probes(self) -> Iterator[Probe]:
        yield from container_probes(self._config.health)
        yield from worker_probes(self._config.laravel, self._programs)
        yield from host_probes(self._config)

    def _gateway_probes(self, said: Said | None) -> Iterator[Probe]:
        tell = (lambda: said) if said is not None else partial(written_down, self._config.state_dir)
        return gateway_probes(self._store, tell)
