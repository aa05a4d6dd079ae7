"""Runs what is queued for the host itself, one request after the other. See `host_operations` for what that is.

The order of things is that of `running`: what changes something is recorded as running before it begins, what only
reads is recorded once, at its end. There is no git here, and so nothing to preserve and no work tree to hang in.

A restart may take minutes. So what only reads goes first, but past what waits longest only once: checks may come
without end. Requests that ask the same share one run: it begins after all of them had come, so it answers each, and a
thousand flags are one restart. After it the agent gets no other one for a while; what operators or the monitor ask
for, and what an operator said yes to, is not held to that.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil

from executor.answers import Answers
from executor.asking import Asking
from executor.config import ExecutorConfig
from executor.errors import Refused
from executor.facts import FactFinder
from executor.host_operations import HOST_LANE, HostOperations, only_reads
from executor.outcome import Outcome, State
from executor.policy.decide import decide
from executor.policy.model import Ask, Operation, Refuse, Request
from executor.record import queue_samples, requests
from executor.record.requests import RequestRow
from executor.record.store import Store
from executor.recording import Recorder, restored, tried
from executor.spans import span

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
        self._recorder = Recorder(store, answers)
        self._passed = ""  # the request that waits longest, if what only reads has gone past it

    def run_next(self) -> bool:
        """Run the request that comes next, or put it to operators; return False when there is none.

        Raises Unavailable when the record cannot be written; what had ended by then is recorded by a later call.
        """
        self._recorder.catch_up(HOST_LANE)
        with self._store.reading() as view:
            rows = requests.next_due(view, HOST_LANE, _AT_ONCE)
        if not rows:
            return False
        row = self._first(rows)
        with self._recorder.before_start(row):
            self._work_on(row, rows)
        return True

    def _first(self, rows: list[RequestRow]) -> RequestRow:
        """Return the one that goes first: what only reads, unless it did so before and another has waited since."""
        longest = rows[0]
        reads = next((each for each in rows if _seems_to_read(each)), longest)
        row = longest if self._passed == longest.id else reads
        self._passed = longest.id if row is not longest else ""
        return row

    def _work_on(self, row: RequestRow, rows: list[RequestRow]) -> None:
        request = restored(row)
        decision = decide(request, self._config.policy, self._facts.for_batch().facts(request))
        if isinstance(decision, Refuse):
            raise decision.problem()
        if isinstance(decision, Ask):
            binding = self._operations.binding(request, decision.argv)
            if not self._asking.approved_for_host(row, request, decision, binding):
                return  # operators have been asked, or asked again
            self._run(row, request, [row])
            return
        alike = [row, *(each for each in rows if each is not row and _asks_for(each, request))]
        if (lately := self._restarted_lately(row, request)) is not None:
            self._recorder.not_begun([each for each in alike if each.form.of_the_agent], lately)
            return
        if only_reads(request.operation):
            outcome = self._outcome(row, request)
            self._recorder.reads([(each, outcome) for each in alike])
        else:
            self._run(row, request, alike)

    def _restarted_lately(self, row: RequestRow, request: Request) -> Refused | None:
        """Return why the agent gets no restart, where the workers were restarted a moment ago; else None."""
        laravel = self._config.laravel
        if laravel is None or request.operation is not Operation.RESTART_QUEUE or not row.form.of_the_agent:
            return None
        pause = timedelta(seconds=laravel.agent_pause_seconds)
        with self._store.reading() as view:
            now = datetime.fromisoformat(view.at)
            lately = queue_samples.restarts_since(view, now - pause)
        if not lately:
            return None
        ago, left = now - lately[-1], lately[-1] + pause - now
        return Refused(
            "restarted_lately",
            f"the workers were restarted {span(ago.total_seconds())} ago, by whomever it was asked",
            f"see by health_check whether workers run; if it is still needed, ask again in {_seconds(left)}",
        )

    def _run(self, row: RequestRow, request: Request, alike: list[RequestRow]) -> None:
        self._recorder.begin(alike)
        self._recorder.end(alike, self._outcome(row, request))

    def _outcome(self, row: RequestRow, request: Request) -> Outcome:
        return tried(row, lambda: self._operations.run(row.id, request))


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
