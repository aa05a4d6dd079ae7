"""The health check as a whole: every probe there is on this host, run together, told as one report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

from executor.config import ExecutorConfig
from executor.health.container_probes import container_probes
from executor.health.gateway import Said
from executor.health.gateway_probes import gateway_probes, written_down
from executor.health.host_probes import host_probes
from executor.health.remote_probes import RemoteProbes
from executor.health.report import Report, as_data, as_text, for_agent, named, report
from executor.health.run import Probe, ProbeRunner
from executor.host_operations import HostOperation
from executor.outcome import Outcome, State
from executor.policy.model import Request
from executor.record.store import Store
from executor.repositories import Repositories

FILE = "health_check.json"  # in the shared directory: what the agent may know of the last check


class HealthChecks:
    """Made once a process, so that what hangs and what was asked a moment ago is known to the next check."""

    def __init__(self, config: ExecutorConfig, store: Store, repositories: Repositories) -> None:
        self._config = config
        self._store = store
        self._remotes = RemoteProbes(repositories)
        self._runner = ProbeRunner()

    def look(self, said: Said | None = None) -> Report:
        """Look at everything and return the report, after the longest deadline of a probe at the latest.

        `said` is what the serving process says of itself, by default what it last wrote into the state directory.
        """
        found = self._runner.run(list(self._probes(said)))
        return report(self._config.host, datetime.now(UTC), found)

    def operation(self) -> HostOperation:
        """Return how the operation `health_check` is run."""
        return HostOperation(lambda _request_id, request: self._outcome(request))

    def _outcome(self, request: Request) -> Outcome:
        """Check, and tell of it what the agent may know."""
        told = for_agent(self.look())
        return Outcome(
            State.SUCCEEDED,
            argv=(str(request.operation),),
            output=as_text(told),
            verified={"health": told.level, **named(told)},
            files={FILE: json.dumps(as_data(told), indent=2, ensure_ascii=False) + "\n"},
        )

    def _probes(self, said: Said | None) -> Iterator[Probe]:
        tell = (lambda: said) if said is not None else partial(written_down, self._config.state_dir)
        yield from container_probes(self._config.health)
        yield from host_probes(self._config)
        yield from self._remotes.probes()
        yield from gateway_probes(self._store, tell)
