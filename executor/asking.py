"""Puts a request to operators, and holds their yes to exactly what they were shown.

What the decision depends on is resolved to object ids (the binding) and shown in full. Directly before the request
runs it is resolved again: if anything moved, operators are asked again with what moved, and nothing runs (drift).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from executor.answers import Answers
from executor.config import ExecutorConfig
from executor.decided import decision_data
from executor.errors import Refused, Unavailable
from executor.git.binding import Binding, bind, drift
from executor.git.preview import preview
from executor.git.repository import Git
from executor.outcome import State
from executor.policy.model import Ask, Request
from executor.record import approvals, requests
from executor.record.approvals import Approval, ApprovalState
from executor.record.display import fits_in_full
from executor.record.requests import RequestRow
from executor.record.schema import timestamp
from executor.record.store import Store, Transaction
from executor.record.transitions import transition

# UTF-16 units of one card's argv or reason: Telegram shows 4096 in one message, and the rest of the card needs room.
SHOWN_LIMIT = 2_500
_OPEN = frozenset({State.RECEIVED, State.QUEUED})


class Asking:
    """Given the record, ask operators and look up what they said."""

    def __init__(self, config: ExecutorConfig, store: Store, answers: Answers) -> None:
        self._config = config
        self._store = store
        self._answers = answers
        # whether where operators look there is room for all that they would be asked to agree to
        self.fits: Callable[[RequestRow, Approval], bool] = lambda _row, _approval: True

    def approved(self, git: Git, row: RequestRow, request: Request, decision: Ask) -> Mapping[str, str] | None:
        """Return the object ids that operators agreed to, or None when they were (now or again) asked.

        Raises Refused where what is asked cannot be shown in full or is not possible.
        """
        now = bind(git, request, decision)
        moved = self._unsettled(row, now)
        if moved is None:
            return now.ids
        self._ask(row, request, decision, now, moved, preview(git, request, decision, now))
        return None

    def approved_for_host(self, row: RequestRow, request: Request, decision: Ask, binding: Binding) -> bool:
        """Whether operators agreed to an operation of the host that depends on `binding`; if not they were asked."""
        moved = self._unsettled(row, binding)
        if moved is not None:
            self._ask(row, request, decision, binding, moved, {})
        return moved is None

    def _unsettled(self, row: RequestRow, now: Binding) -> tuple[str, ...] | None:
        """Return None where what depends on `now` was agreed to; else what moved since it was, if it ever was."""
        with self._store.reading() as view:
            last = approvals.latest_of(view, row.id)
        if last is None or last.state is not ApprovalState.APPROVED or row.binding is None:
            return ()
        return drift(Binding.from_data(row.binding), now) if last.digest != now.digest else None

    def _ask(
        self,
        row: RequestRow,
        request: Request,
        decision: Ask,
        binding: Binding,
        moved: tuple[str, ...],
        seen: Mapping[str, object],
    ) -> None:
        _require_showable(row, decision)
        shown: Mapping[str, object] = {
            "repo": row.repo,
            "operation": str(request.operation),
            "argv": list(decision.argv),
            "agent_says": request.reason,
            "depends_on": list(binding.lines()),
            "moved": list(moved),
            **seen,
        }
        with self._store.transaction() as tx:
            expires_at = timestamp(datetime.fromisoformat(tx.at) + timedelta(seconds=decision.expiry_seconds))
            asked = transition(
                tx,
                row.id,
                _OPEN,
                State.AWAITING_APPROVAL,
                data={"moved": moved},
                risk=decision.risk,
                argv=decision.argv,
                decision=decision_data(decision),
                binding=binding.to_data(),
                digest=binding.digest,
                expires_at=expires_at,
            )
            if not asked:
                raise Unavailable("changed_meanwhile", f"the request {row.id} changed while it was looked at")
            approval = approvals.create(
                tx,
                row.id,
                digest=binding.digest,
                risk=decision.risk,
                reasons=decision.reasons,
                quorum=decision.quorum,
                shown={name: self._store.redactor.redact_data(value) for name, value in shown.items()},
                expires_at=expires_at,
            )
            self._require_room(tx, approval)
        self._answers.publish(row.id)

    def _require_room(self, tx: Transaction, approval: Approval) -> None:
        """Refuse, and so take back all of `tx`, what does not fit where operators would be shown it (A31)."""
        row = requests.get(tx, approval.request_id)
        if row is not None and not self.fits(row, approval):
            raise Refused(
                "too_long_to_review",
                "what would change is too much to be shown to an operator in full",
                "ask for less at a time: fewer commits, fewer paths, a shorter command or reason",
            )


def _require_showable(row: RequestRow, decision: Ask) -> None:
    """Refuse what an operator could only be shown a part of (A31)."""
    if not fits_in_full(" ".join(decision.argv), SHOWN_LIMIT):
        raise Refused(
            "too_long_to_review",
            "the command is too long to be shown to an operator in full",
            "split it into several requests; a long commit message can be shortened",
        )
    if not fits_in_full(row.reason, SHOWN_LIMIT):
        raise Refused("too_long_to_review", "the reason is too long to be shown in full", "say it shorter")
