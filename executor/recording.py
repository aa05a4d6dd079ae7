"""How the run of a request gets into the record: that it began, and how it ended, each with its audit event.

`Recorder` is what both kinds of lanes have in common (`running`, `host_lane`): what comes before what, and that no
difficulty of one request stands in the way of the next.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from executor.answers import Answers
from executor.arrival import restore_arrival
from executor.decided import decision_data, error_data
from executor.errors import Failed, Problem, Refused, TimedOut, Unavailable
from executor.git.reports import fallen
from executor.outcome import Outcome, State
from executor.policy.decide import frozen_refusal
from executor.policy.model import Refuse, Request
from executor.record import controls, requests
from executor.record.forms import Form
from executor.record.requests import RequestRow
from executor.record.store import Store, Transaction
from executor.record.transitions import UNKNOWN, transition

log = logging.getLogger(__name__)


class Recorder:
    """Records and answers for the requests of lanes. What ended but could not be recorded it keeps until it can be.

    All of its methods raise Unavailable when the record cannot be written.
    """

    def __init__(self, store: Store, answers: Answers) -> None:
        self._store = store
        self._answers = answers
        self._unrecorded: dict[str, tuple[Sequence[RequestRow], Outcome]] = {}  # lane -> what ended there, and how

    def catch_up(self, lane: str) -> None:
        """Record what ended in `lane` and could not be recorded then; before anything else runs there."""
        if lane in self._unrecorded:
            rows, outcome = self._unrecorded[lane]
            with self._store.transaction() as tx:
                for row in rows:
                    _end(tx, row.id, outcome)
            for row in rows:
                self._answers.publish(row.id, files=outcome.files)
            del self._unrecorded[lane]

    def begin(self, rows: Sequence[RequestRow]) -> None:
        """Record that requests run which may change something, and answer that they do. They share one run.

        Raises Refused where operators have frozen the gateway, be it after all was decided: what a freeze precedes
        is never begun.
        """
        with self._store.transaction() as tx:
            if (freeze := controls.frozen(tx)) is not None:
                raise frozen_refusal(freeze.reason)
            for row in rows:
                _begin(tx, row)
        for row in rows:
            self._answers.publish(row.id)

    def end(self, rows: Sequence[RequestRow], outcome: Outcome) -> None:
        """Record how what was begun ended, and answer it. All `rows` are of one lane."""
        self._unrecorded[rows[0].repo] = rows, outcome
        self.catch_up(rows[0].repo)

    def reads(self, ended: Sequence[tuple[RequestRow, Outcome]]) -> None:
        """Record all at once the runs of requests that changed nothing, and answer them."""
        with self._store.transaction() as tx:
            recorded = [_whole(tx, row, outcome) for row, outcome in ended]
        files: dict[str, str] = {}
        for _, outcome in ended:
            files |= outcome.files
        for row in recorded:
            self._answers.publish_row(row, files=files if row is recorded[-1] else None)

    @contextmanager
    def before_start(self, row: RequestRow) -> Iterator[None]:
        """End a request that the block refuses or fails to begin. Raises Unavailable as the block does."""
        try:
            yield
        except (Refused, Failed) as problem:
            self.not_begun([row], problem)
        except Problem:
            raise
        except Exception:  # no request may stand in the way of all that come after it
            log.exception("the request %s met a bug before it was begun", row.id)
            self.not_begun([row], _bug("nothing was run"))

    def not_begun(self, rows: Sequence[RequestRow], problem: Problem) -> None:
        """Record and answer why requests are not begun."""
        with self._store.transaction() as tx:
            for row in rows:
                _not_begun(tx, row, problem)
        for row in rows:
            self._answers.publish(row.id)


def tried(row: RequestRow, run: Callable[[], Outcome]) -> Outcome:
    """Return what running a request came to, whatever it raises."""
    try:
        return run()
    except Problem as problem:
        return fallen(problem)
    except Exception:
        log.exception("the request %s met a bug", row.id)
        return Outcome(State.FAILED, error=_bug("what was done is not known"))


def restored(row: RequestRow) -> Request:
    """Return what a recorded request asks for. Raises Refused where that cannot be read any more."""
    operation = None if row.form is Form.TYPED else row.operation
    arrival = restore_arrival(operation, row.repo, row.id, row.text)
    if arrival.request is None:  # an upgrade may read differently what was recorded before
        raise arrival.refusal or Refused("unreadable", "the request cannot be read any more")
    return arrival.request


def _begin(tx: Transaction, row: RequestRow) -> None:
    """Record that a request runs. One that turned out to need nobody's yes is queued first, as every other is."""
    if row.state is State.RECEIVED:
        transition(tx, row.id, State.RECEIVED, State.QUEUED)
    if not transition(tx, row.id, State.QUEUED, State.RUNNING, data={"argv": row.argv, "digest": row.digest}):
        raise Unavailable("changed_meanwhile", f"the request {row.id} changed while it was looked at")


def _end(tx: Transaction, request_id: str, outcome: Outcome) -> None:
    """Record how a running request ended."""
    verified = dict(outcome.verified) or (dict(UNKNOWN) if was_stopped(outcome) else {})
    result: dict[str, object] = {
        "exit_code": outcome.exit_code,
        "truncated": outcome.truncated,
        "verified": verified,
    }
    told: dict[str, object] = {"exit_code": outcome.exit_code, "verified": verified}
    if outcome.error is not None:
        result["error"] = error_data(outcome.error)
        told |= {"code": outcome.error.code, "message": outcome.error.message}
    transition(tx, request_id, State.RUNNING, _end_state(outcome), data=told, result=result, output=outcome.output)


def _whole(tx: Transaction, row: RequestRow, outcome: Outcome) -> RequestRow:
    """Record the run of a request that changed nothing, and return the request as it is then."""
    _begin(tx, row)
    _end(tx, row.id, outcome)
    recorded = requests.get(tx, row.id)
    assert recorded is not None  # it has just been changed
    return recorded


def _not_begun(tx: Transaction, row: RequestRow, problem: Problem) -> None:
    """End a request that cannot be begun: refused, or failed or timed out while it was looked into."""
    if isinstance(problem, TimedOut):  # it was looked into by a program that was ended
        _begin(tx, row)
        _end(tx, row.id, fallen(problem))
        return
    to = State.REFUSED if isinstance(problem, Refused) else State.FAILED
    decision = decision_data(Refuse.of(problem))
    told = {"code": problem.code, "message": problem.message}
    changes = frozenset({State.RECEIVED, State.QUEUED})
    transition(tx, row.id, changes, to, data=told, result={"error": error_data(problem)}, decision=decision)


def _bug(so_far: str) -> Failed:
    """Return what is told of an error of our own; `so_far` says what became of the request."""
    return Failed(
        "internal_error",
        f"the gateway met an error of its own; {so_far}",
        "look at the state (git_status, git_check); an operator finds the error in the gateway's log",
    )


def was_stopped(outcome: Outcome) -> bool:
    """Whether an operation was ended because the gateway stops: what it came to is not known."""
    return outcome.error is not None and outcome.error.stopped


def _end_state(outcome: Outcome) -> State:
    return State.INTERRUPTED if was_stopped(outcome) else outcome.state
