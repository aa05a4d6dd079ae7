"""What the agent reads: results, the plain status files, and the published log. All of it can be made again."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from executor.errors import Problem, Refused, Unavailable
from executor.host_operations import HOST_LANE
from executor.protocol.publication import PublishedLog
from executor.protocol.results import ApprovalView, DecisionView, build_result
from executor.protocol.shared_dir import SharedDir
from executor.record import approvals, requests
from executor.record.approvals import Approval
from executor.record.audit import events_since, head
from executor.record.exports import lines_since
from executor.record.requests import RequestRow
from executor.record.store import Store

_OWED_LIMIT = 10_000  # results remembered as unwritten; beyond it the next start publishes them
_CONFLICTS_KEPT = 1_000  # ids remembered that came again with other content
_SAID_KEPT = 20_000  # results remembered as written; far more than are written at the same time
_EVENTS = 1_000  # events read at once
_LOG_LINES = 5_000  # newest lines that a log made anew begins with


class Answers:
    """Given the shared directory and the record, publish what the record says. Used from several threads.

    A result that cannot be written (disk full, directory gone) is owed, and written as soon as that works again.
    """

    def __init__(self, shared: SharedDir, store: Store, default_repo: str) -> None:
        self._shared = shared
        self._store = store
        self._default_repo = default_repo
        self._log = PublishedLog(shared.root)
        self._logged = 0  # number of the last event in commands.log
        self._latest: dict[str, str] = {}  # operation -> when the request in results/OP.json was received
        self._owed: dict[str, None] = {}
        self._owed_files: dict[str, str] = {}  # name -> content
        self._conflicts: dict[str, Problem] = {}  # request id -> what its result says of a second request
        self._said: dict[str, int] = {}  # request id -> number of the event that its written result tells of
        self._caught_up = 0  # number of the last event of which every result tells
        self._publishing = threading.Lock()
        self._lock = threading.Lock()
        self._logging = threading.Lock()  # one of its own: no result waits for the log
        self.problem: str | None = None  # why something is owed, for status

    def publish(
        self, request_id: str, *, files: Mapping[str, str] | None = None, conflict: Problem | None = None
    ) -> None:
        """Write the result of a request as the record has it now, and `files` under their fixed names."""
        with self._store.reading() as view:
            row = requests.get(view, request_id)
            approval = approvals.latest_of(view, request_id) if row is not None and _was_asked(row) else None
        if row is not None:
            self.publish_row(row, approval, files=files, conflict=conflict)

    def publish_row(
        self,
        row: RequestRow,
        approval: Approval | None = None,
        *,
        files: Mapping[str, str] | None = None,
        conflict: Problem | None = None,
    ) -> None:
        """The same for a row that is at hand, unless a later one was written meanwhile by another thread."""
        with self._publishing:
            if row.event_seq >= self._said.get(row.id, 0):
                self._remember_as_said(row)
                self._write(row, approval, files, conflict)

    def _write(
        self, row: RequestRow, approval: Approval | None, files: Mapping[str, str] | None, conflict: Problem | None
    ) -> None:
        redact = self._store.redactor
        if row.repo in (self._default_repo, HOST_LANE):
            self._owed_files |= {name: redact(content) for name, content in (files or {}).items()}
        try:
            text = _result_text(row, approval, self._remembered(row.id, conflict), redact)
            also = f"results/{row.operation or 'unknown'}.json" if self._is_latest(row) else None
            self._shared.publish(f"results/{row.id}.json", text, also=also)
            self._publish_files()
        except Unavailable as problem:
            self.problem = problem.message
            if len(self._owed) < _OWED_LIMIT:
                self._owed[row.id] = None
        else:
            self._owed.pop(row.id, None)

    def pay(self) -> None:
        """Write what is owed, as far as that is possible now."""
        for request_id in list(self._owed):
            self.publish(request_id)
            if request_id in self._owed:
                return  # still not possible
        self.problem = None

    def _publish_files(self) -> None:
        for name, content in list(self._owed_files.items()):
            self._shared.publish(name, content)
            self._owed_files.pop(name, None)

    def _remembered(self, request_id: str, conflict: Problem | None) -> Problem | None:
        """Return the conflict that a result tells of, now and whenever it is written again by this process."""
        if conflict is not None and len(self._conflicts) < _CONFLICTS_KEPT:
            self._conflicts[request_id] = conflict
        return conflict or self._conflicts.get(request_id)

    def _remember_as_said(self, row: RequestRow) -> None:
        self._said.pop(row.id, None)
        self._said[row.id] = row.event_seq
        if len(self._said) > _SAID_KEPT:
            del self._said[next(iter(self._said))]

    def catch_up(self) -> None:
        """Find what other processes recorded, should word of it have got lost: write its results, and tell of it."""
        told: dict[str, int] = {}
        known = max(self._caught_up, self._store.added)
        with self._store.reading() as view:
            while events := events_since(view, self._caught_up, _EVENTS):
                told |= {event.request_id: event.seq for event in events if event.kind.startswith("request.")}
                self._caught_up = events[-1].seq
        if self._caught_up > known:
            self._store.told()
        for request_id, seq in told.items():
            if self._said.get(request_id, 0) < seq:
                self.publish(request_id)

    def publish_again(self, limit: int) -> None:
        """At start: write the newest results anew, for the last process may have ended before it wrote them."""
        with self._store.reading() as view:
            self._caught_up = head(view).seq
            rows = requests.recent(view, limit)
        for row in reversed(rows):
            self.publish(row.id)

    def close(self) -> None:
        """Let go of commands.log; what is still published makes it anew."""
        with self._logging:
            self._log.close()
            self._logged = 0

    def log(self) -> None:
        """Bring commands.log up to the present end of the audit log."""
        with self._logging:
            try:
                if not self._logged:
                    self._log.append((), self._history)
                while lines := lines_since(self._store, self._logged):
                    if not self._log.append((text for _, text in lines), self._history):
                        self._logged = lines[-1][0]
            except Unavailable as problem:
                self.problem = problem.message
                self._log.close()  # the next call makes it anew
                self._logged = 0

    def _history(self) -> Iterable[str]:
        """Yield the newest lines, and remember how far they went."""
        with self._store.reading() as view:
            end = head(view).seq
        self._logged = max(0, end - _LOG_LINES)
        while batch := lines_since(self._store, self._logged):
            yield from (text for _, text in batch)
            self._logged = batch[-1][0]

    def _is_latest(self, row: RequestRow) -> bool:
        """Whether no later request of the same operation has been answered, so that results/OP.json is this one's.

        One that was answered in what is the future now, the clock having been set back since, is not a later one.
        """
        operation = str(row.operation or "unknown")
        with self._lock:
            if row.received_at < self._latest.get(operation, "") <= self._store.now():
                return False
            self._latest[operation] = row.received_at
            return True


def _was_asked(row: RequestRow) -> bool:
    return row.decision.get("answer") == "ask" or row.digest is not None


def _result_text(row: RequestRow, approval: Approval | None, conflict: Problem | None, redact: Any) -> str:
    result = row.result or {}
    decision = None
    if row.dry_run and row.decision.get("answer"):
        decision = DecisionView(answer=row.decision["answer"], reasons=tuple(row.decision.get("reasons", ())))
    return build_result(
        redact,
        id=row.id,
        operation=row.operation,
        repo=row.repo,
        state=row.state,
        received_at=_moment(row.received_at),
        started_at=_moment(row.started_at) if row.started_at else None,
        finished_at=_moment(row.finished_at) if row.finished_at else None,
        risk=row.risk,
        argv=row.argv,
        exit_code=result.get("exit_code"),
        output=row.output or "",
        truncated=bool(result.get("truncated")),
        error=_problem(result.get("error")),
        approval=_approval_view(approval),
        verified=result.get("verified"),
        decision=decision,
        conflict=conflict,
    ).to_json()


def _approval_view(approval: Approval | None) -> ApprovalView | None:
    """What the agent may know of an approval; of who decided only through which door, not which person."""
    if approval is None:
        return None
    doors = sorted({who.partition(":")[0] for who in approval.decided_by})
    return ApprovalView(
        reasons=approval.reasons,
        quorum=approval.quorum,
        votes=len(approval.decided_by),
        expires_at=_moment(approval.expires_at),
        decided_by=", ".join(doors) or None,
        decided_at=_moment(approval.decided_at) if approval.decided_at else None,
        reason=approval.decision_reason or None,
    )


def _problem(data: Mapping[str, str] | None) -> Problem | None:
    return Refused(data["code"], data["message"], data.get("hint", "")) if data else None


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
