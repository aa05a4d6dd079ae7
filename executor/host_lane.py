"""Runs what is queued for the host itself, one request after the other. See `host_operations` for what that is.

The order of things is that of `running`: what changes something is recorded as running before it begins, what only
reads is recorded once, at its end. There is no git here, and so nothing to preserve and no work tree to hang in.

A restart may take minutes. So what only reads goes first, and requests that ask the same share one run: it begins
after all of them had come, so it answers each, and a thousand flags are one restart. After it the agent gets no other
one for a while; what operators or the monitor ask for, and what an operator said yes to, is not held to that.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from math import ceil

from executor.answers import Answers
from executor.asking import Asking
from executor.config import ExecutorConfig
from executor.errors import Failed, Problem, Refused
from executor.facts import FactFinder
from executor.git.reports import fallen
from executor.host_operations import HOST_LANE, HostOperations, only_reads
from executor.outcome import Outcome, State
from executor.policy.decide import decide
from executor.policy.model import Ask, Operation, Refuse, Request
from executor.record import queue_samples, requests
from executor.record.requests import RequestRow
from executor.record.store import Store
from executor.recording import begin, bug, end, not_begun, restored, whole
from executor.spans import span

log = logging.getLogger(__name__)

_AT_ONCE = 1000  # requests that are looked at for equal ones


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
        self._unrecorded: tuple[list[RequestRow], Outcome] | None = None  # the requests that ended, and how

    def run_next(self) -> bool:
        """Run the request that comes next, or put it to operators; return False when there is none.

        Raises Unavailable when the record cannot be written; what had ended by then is recorded by a later call.
        """
        if self._unrecorded is not None:
            self._end(*self._unrecorded)
        with self._store.reading() as view:
            rows = requests.next_due(view, HOST_LANE, _AT_ONCE)
        if not rows:
            return False
        row = next((each for each in rows if _seems_to_read(each)), rows[0])
        try:
            self._work_on(row, rows)
        except (Refused, Failed) as problem:
            self._stop_before_start(row, problem)
        except Problem:
            raise
        except Exception:  # no request may stand in the way of all that come after it
            log.exception("the request %s met a bug before it was begun", row.id)
            self._stop_before_start(row, bug("nothing was run"))
        return True

    def _work_on(self, row: RequestRow, rows: list[RequestRow]) -> None:
        request = restored(row)
        decision = decide(request, self._config.policy, self._facts.for_batch().facts(request))
        if isinstance(decision, Refuse):
            raise Refused(decision.code, decision.reason, decision.hint)
        if isinstance(decision, Ask):
            binding = self._operations.binding(request, decision.argv)
            if not self._asking.approved_for_host(row, request, decision, binding):
                return  # operators have been asked, or asked again
            self._run(row, request, [row])
            return
        self._require_rest(row, request)
        alike = [row, *(each for each in rows if each is not row and _asks_for(each, request))]
        if only_reads(request.operation):
            self._read(row, request, alike)
        else:
            self._run(row, request, alike)

    def _require_rest(self, row: RequestRow, request: Request) -> None:
        """Refuse the agent a restart of workers that were restarted a moment ago."""
        laravel = self._config.laravel
        if laravel is None or request.operation is not Operation.RESTART_QUEUE or not row.form.of_the_agent:
            return
        pause = timedelta(seconds=laravel.agent_pause_seconds)
        with self._store.reading() as view:
            now = datetime.fromisoformat(view.at)
            lately = queue_samples.restarts_since(view, now - pause)
        if lately:
            ago, left = now - lately[-1], lately[-1] + pause - now
            raise Refused(
                "restarted_lately",
                f"the workers were restarted {span(ago.total_seconds())} ago, by whomever it was asked",
                f"see by health_check whether workers run; if it is still needed, ask again in {_seconds(left)}",
            )

    def _read(self, row: RequestRow, request: Request, alike: list[RequestRow]) -> None:
        outcome = self._outcome(row, request)
        with self._store.transaction() as tx:
            recorded = [whole(tx, each, outcome) for each in alike]
        for each in recorded:
            self._answers.publish_row(each, files=outcome.files if each is recorded[-1] else None)

    def _run(self, row: RequestRow, request: Request, alike: list[RequestRow]) -> None:
        with self._store.transaction() as tx:
            for each in alike:
                begin(tx, each)
        for each in alike:
            self._answers.publish(each.id)
        outcome = self._outcome(row, request)
        self._unrecorded = (alike, outcome)
        self._end(alike, outcome)

    def _outcome(self, row: RequestRow, request: Request) -> Outcome:
        try:
            return self._operations.run(row.id, request)
        except Problem as problem:
            return fallen(row.argv, problem)
        except Exception:
            log.exception("the request %s met a bug", row.id)
            return Outcome(State.FAILED, argv=row.argv, error=bug("what was done is not known"))

    def _end(self, rows: list[RequestRow], outcome: Outcome) -> None:
        with self._store.transaction() as tx:
            for row in rows:
                end(tx, row.id, outcome)
        self._unrecorded = None
        for row in rows:
            self._answers.publish(row.id, files=outcome.files)

    def _stop_before_start(self, row: RequestRow, problem: Problem) -> None:
        with self._store.transaction() as tx:
            not_begun(tx, row, problem)
        self._answers.publish(row.id)


def _seconds(left: timedelta) -> str:
    return f"{max(1, ceil(left.total_seconds()))} s"


def _seems_to_read(row: RequestRow) -> bool:
    return row.operation is not None and only_reads(row.operation)


def _asks_for(row: RequestRow, request: Request) -> bool:
    """Whether a request that waits to be run asks for the same as `request`."""
    if row.state is not State.QUEUED or row.operation is not request.operation:
        return False
    try:
        return restored(row).params == request.params
    except Refused:
        return False  # it is met again, and answered, when its turn comes
