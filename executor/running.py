"""Runs what is queued in one repository, one request after the other, and records how each ended.

The order of things is the promise: recorded as running (audited) before anything changes, preserved before it could
be lost, recorded as ended before it is answered. What only reads is recorded once, at its end: after a crash it is
still queued and simply runs again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import takewhile

from executor.answers import Answers
from executor.asking import Asking
from executor.config import ExecutorConfig
from executor.disk_space import require_record_space, require_space
from executor.errors import Failed
from executor.facts import FactFinder
from executor.git.maintenance import remove_abandoned
from executor.git.repository import Git
from executor.operations import Operations
from executor.outcome import Outcome, State
from executor.policy.decide import decide
from executor.policy.model import Ask, Decision, Operation, Params, Refuse, Request, RiskClass, Run
from executor.record import requests
from executor.record.requests import RequestRow
from executor.record.store import Store
from executor.recording import Recorder, restored, tried, was_stopped
from executor.repositories import Repositories
from executor.stuck_trees import StuckTrees, is_concerned

# Requests that only read are recorded together, which saves each of them a flush to the disk.
_READS_AT_ONCE = 50
_READS_SECONDS = 0.05  # so long may the first of them wait for the others


class Running:
    """Works off the queue of each repository; one thread a repository."""

    def __init__(
        self,
        config: ExecutorConfig,
        store: Store,
        repositories: Repositories,
        facts: FactFinder,
        asking: Asking,
        operations: Operations,
        answers: Answers,
    ) -> None:
        self._config = config
        self._store = store
        self._repositories = repositories
        self._facts = facts
        self._asking = asking
        self._operations = operations
        self._recorder = Recorder(store, answers)
        self._stuck = StuckTrees()

    def run_next(self, repo: str) -> bool:
        """Run the request of `repo` that comes next, or put it to operators; return False when there is none.

        Raises Unavailable when the record cannot be written, or hardly any more; nothing is begun then, and what had
        ended by then is recorded by a later call, before anything else runs.
        """
        self._recorder.catch_up(repo)
        with self._store.reading() as view:
            rows = requests.next_due(view, repo, _READS_AT_ONCE)
        if not rows:
            return False
        require_record_space(self._config.state_dir)
        with self._recorder.before_start(rows[0]), self._repositories.held(repo) as git:
            if not self._read(git, list(takewhile(_seems_to_read, rows))):
                self._work_on(git, rows[0])
        return True

    def _read(self, git: Git, rows: list[RequestRow]) -> bool:
        """Run requests that only read as long as there is time, and record them; return False if the first does more.

        Those that ask the same share one run: it begins after all of them had come, so it answers each.

        Raises Refused or Failed where the first cannot be begun; what comes later is left for its own turn.
        """
        ended: list[tuple[RequestRow, Outcome]] = []
        answered: dict[tuple[Operation, Params], Outcome] = {}
        finder = self._facts.for_batch()
        give_up = time.monotonic() + _READS_SECONDS
        for row in rows:
            try:
                request, decision = self._decided(git, row, finder)
            except Exception:
                if not ended:
                    raise
                break  # it is met again, and answered, when this request is the first
            if not isinstance(decision, Run) or decision.risk is not RiskClass.READ:
                break
            asked = (request.operation, request.params)
            outcome = answered.get(asked) or self._outcome(git, row, request, decision, {})
            answered[asked] = outcome
            ended.append((row, outcome))
            if time.monotonic() > give_up or was_stopped(outcome):
                break
        if ended:
            self._recorder.reads(ended)
        return bool(ended)

    def _work_on(self, git: Git, row: RequestRow) -> None:
        """Do what follows from deciding. Raises Refused or Failed where that cannot be begun."""
        request, decision = self._decided(git, row, self._facts.for_batch())
        bound: Mapping[str, str] = {}
        if isinstance(decision, Ask) and not self._operations.nothing_to_do(git, request):
            approved = self._asking.approved(git, row, request, decision)
            if approved is None:
                return  # operators have been asked, or asked again
            bound = approved
        self._recorder.begin([row])
        self._recorder.end([row], self._outcome(git, row, request, decision, bound))

    def _decided(self, git: Git, row: RequestRow, finder: FactFinder) -> tuple[Request, Decision]:
        """Decide again, for policy and facts may have changed. Raises Refused or Failed."""
        request = restored(row)
        secret = self._operations.outgoing_secret(git, request)
        decision = decide(request, self._config.policy, finder.facts(request, secret))
        if isinstance(decision, Refuse):
            raise decision.problem()
        if decision.risk is not RiskClass.READ:
            require_space(self._config.state_dir)
        if is_concerned(request, decision):
            self._stuck.check(row.repo, git.paths.work_tree)
        return request, decision

    def _outcome(
        self, git: Git, row: RequestRow, request: Request, decision: Decision, bound: Mapping[str, str]
    ) -> Outcome:
        outcome = tried(row, lambda: self._operations.run(git, row.id, request, decision, bound))
        if isinstance(outcome.error, Failed):  # a git that was ended leaves what it was writing, by the gigabyte
            remove_abandoned(git.paths, time.time(), older_than=0.0)
        if is_concerned(request, decision):
            self._stuck.note(row.repo, git.paths.work_tree, outcome)
        return outcome


def _seems_to_read(row: RequestRow) -> bool:
    """Whether a request was found to change nothing when it came; that is decided again before it runs."""
    return row.state is State.QUEUED and row.risk is RiskClass.READ
