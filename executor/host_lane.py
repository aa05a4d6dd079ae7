"""Runs what is queued for the host itself, one request after the other. See `host_operations` for what that is.

The order of things is that of `running`: what changes something is recorded as running before it begins, what only
reads is recorded once, at its end. There is no git here, and so nothing to preserve and no work tree to hang in.
"""

from __future__ import annotations

import logging

from executor.answers import Answers
from executor.asking import Asking
from executor.config import ExecutorConfig
from executor.errors import Failed, Problem, Refused
from executor.facts import FactFinder
from executor.git.reports import fallen
from executor.host_operations import HOST_LANE, HostOperations, only_reads
from executor.outcome import Outcome, State
from executor.policy.decide import decide
from executor.policy.model import Ask, Refuse, Request
from executor.record import requests
from executor.record.requests import RequestRow
from executor.record.store import Store
from executor.recording import begin, bug, end, not_begun, restored, whole

log = logging.getLogger(__name__)


class HostLane:
    """Works off the queue of the host's own operations; one thread."""

    def __init__(
        self,
        config: ExecutorConfig,
        store: Store,
        facts: FactFinder,
        asking: Asking,
        operations: HostOperations,
        answers: Answers,
    ) -> None:
        self._config = config
        self._store = store
        self._facts = facts
        self._asking = asking
        self._operations = operations
        self._answers = answers
        self._unrecorded: tuple[str, Outcome] | None = None  # the request that ended, and how

    def run_next(self) -> bool:
        """Run the request that comes next, or put it to operators; return False when there is none.

        Raises Unavailable when the record cannot be written; what had ended by then is recorded by a later call.
        """
        if self._unrecorded is not None:
            self._end(*self._unrecorded)
        with self._store.reading() as view:
            rows = requests.next_due(view, HOST_LANE)
        if not rows:
            return False
        row = rows[0]
        try:
            self._work_on(row)
        except (Refused, Failed) as problem:
            self._stop_before_start(row, problem)
        except Problem:
            raise
        except Exception:  # no request may stand in the way of all that come after it
            log.exception("the request %s met a bug before it was begun", row.id)
            self._stop_before_start(row, bug("nothing was run"))
        return True

    def _work_on(self, row: RequestRow) -> None:
        request = restored(row)
        decision = decide(request, self._config.policy, self._facts.for_batch().facts(request))
        if isinstance(decision, Refuse):
            raise Refused(decision.code, decision.reason, decision.hint)
        if isinstance(decision, Ask):
            binding = self._operations.binding(request, decision.argv)
            if not self._asking.approved_for_host(row, request, decision, binding):
                return  # operators have been asked, or asked again
        elif only_reads(request.operation):
            outcome = self._outcome(row, request)
            with self._store.transaction() as tx:
                recorded = whole(tx, row, outcome)
            self._answers.publish_row(recorded, files=outcome.files)
            return
        with self._store.transaction() as tx:
            begin(tx, row)
        self._answers.publish(row.id)
        outcome = self._outcome(row, request)
        self._unrecorded = (row.id, outcome)
        self._end(row.id, outcome)

    def _outcome(self, row: RequestRow, request: Request) -> Outcome:
        try:
            return self._operations.run(row.id, request)
        except Problem as problem:
            return fallen(row.argv, problem)
        except Exception:
            log.exception("the request %s met a bug", row.id)
            return Outcome(State.FAILED, argv=row.argv, error=bug("what was done is not known"))

    def _end(self, request_id: str, outcome: Outcome) -> None:
        with self._store.transaction() as tx:
            end(tx, request_id, outcome)
        self._unrecorded = None
        self._answers.publish(request_id, files=outcome.files)

    def _stop_before_start(self, row: RequestRow, problem: Problem) -> None:
        with self._store.transaction() as tx:
            not_begun(tx, row, problem)
        self._answers.publish(row.id)
