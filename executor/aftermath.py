"""After a start: looks what became of each git request that was interrupted, and tells it in its result.

That a request was interrupted is recorded at once; what is found of it a moment later, by its repository's own
worker and before anything else runs there, for what runs next would blur the traces. The start waits for neither.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from executor.answers import Answers
from executor.config import ExecutorConfig
from executor.errors import Problem, Unavailable
from executor.git.drift import Binding
from executor.git.traces import Traces, look_for_traces
from executor.outcome import State
from executor.policy.model import RiskClass
from executor.record import requests
from executor.record.requests import RequestRow
from executor.record.store import Store
from executor.record.transitions import UNKNOWN, found_afterwards
from executor.recording import restored
from executor.repositories import Repositories

log = logging.getLogger(__name__)

_HINTS: Mapping[bool | None, str] = {
    True: "do not ask for it again; git_status and git_check show the rest",
    False: "look with git_status, then ask for it again under a new id",
    None: "look at the state (git_status, git_check) before trying again",
}


class Aftermath:
    """Given the record, knows which interrupted requests are still to be looked into. One thread a repository."""

    def __init__(self, config: ExecutorConfig, store: Store, repositories: Repositories, answers: Answers) -> None:
        self._kept = timedelta(days=config.limits.rescue_days)
        self._store = store
        self._repositories = repositories
        self._answers = answers
        self._waiting: dict[str, list[RequestRow]] = {}  # repository -> what is to be looked into there

    def gather(self, interrupted: Iterable[RequestRow]) -> None:
        """At start: publish those that were just `interrupted`, and remember all that nobody has looked into yet."""
        for row in interrupted:
            self._answers.publish(row.id)
        with self._store.reading() as view:
            for row in requests.in_state(view, State.INTERRUPTED):
                if row.repo in self._repositories.names and _is_unknown(row):
                    self._waiting.setdefault(row.repo, []).append(row)

    def waiting(self) -> list[str]:
        """Return the repositories in which something is to be looked into."""
        return list(self._waiting)

    def look(self, repo: str) -> None:
        """Look into what is to be looked into in `repo`, record and publish it.

        Raises Unavailable where that is not possible now (somebody is at work there, the record cannot be written).
        """
        for row in list(self._waiting.get(repo, ())):
            traces = self._traces(row)
            if traces is None:
                return  # the gateway stops; the next start looks
            with self._store.transaction() as tx:
                found_afterwards(tx, row.id, _result(row, traces))
            self._answers.publish(row.id)
            self._waiting[repo].remove(row)
        self._waiting.pop(repo, None)

    def _traces(self, row: RequestRow) -> Traces | None:
        """Return what is found, None when the gateway stops meanwhile. A look that fails is a finding, too."""
        if self._is_forgotten(row):
            return Traces(None, ("it is too long ago to tell what it left",))
        try:
            bound = Binding.from_data(row.binding).ids if row.binding is not None else {}
            with self._repositories.held(row.repo) as git:
                return look_for_traces(git, row.id, restored(row), row.argv, bound)
        except Unavailable:
            raise
        except Problem as problem:
            said = " ".join(problem.message.split())
            return None if problem.stopped else Traces(None, (f"it could not be looked into: {said}",))
        except Exception:  # whatever it is, it must not stand in the way of the requests that wait
            log.exception("what the interrupted request %s left could not be looked into", row.id)
            return Traces(None, ("it could not be looked into: the gateway met an error of its own",))

    def _is_forgotten(self, row: RequestRow) -> bool:
        """Whether what was kept for it may have been let go of by now."""
        begun = datetime.fromisoformat(row.started_at or row.received_at)
        return datetime.fromisoformat(self._store.now()) - begun > self._kept


def _is_unknown(row: RequestRow) -> bool:
    """Whether it may have changed something, and nobody has looked yet; earlier versions left no such mark."""
    verified = (row.result or {}).get("verified") or {}
    return row.risk is not RiskClass.READ and verified == UNKNOWN


def _result(row: RequestRow, traces: Traces) -> dict[str, object]:
    """Return the result of an interrupted request, with what was found."""
    known = row.result or {}
    error = known.get("error") or {"code": str(State.INTERRUPTED), "message": "The gateway stopped while it ran."}
    answer = traces.found[0]
    message = f"{error['message']} Found afterwards: {answer}."
    verified: dict[str, object] = {"effect": traces.effect, "found": list(traces.found)}
    if traces.effect is False:
        verified["why"] = answer
    return {**known, "error": {**error, "message": message, "hint": _HINTS[traces.effect]}, "verified": verified}
