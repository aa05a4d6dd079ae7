"""Notices a repository that got stuck, from what an agent's own look at it said, so that operators can help."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from executor.errors import Problem
from executor.git.recovery_model import RecoveryPlan
from executor.git.recovery_steps import planned
from executor.policy.model import Operation
from executor.record import cards, requests
from executor.record.requests import RequestRow

if TYPE_CHECKING:
    from gateway.telegram.desk import Desk

# What git_status and git_check say where something may be to recover: only a reason to look properly.
_HINTS = re.compile(
    r"HEAD (?:is )?detached|Not currently on any branch|You are currently|Upstream: +none|\(gone: |Index lock:"
)
_LOOKS = (Operation.GIT_STATUS, Operation.GIT_CHECK)


def newly_stuck(desk: Desk, looked_at: dict[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the repositories that were not stuck at the last look and are, with what was found in each. Blocks.

    `looked_at` remembers, by repository, the request whose output was judged last; it is kept up to date.
    """
    found = []
    for repo in desk.dispatcher.repositories.names:
        row = _last_look(desk, repo)
        if row is None or looked_at.get(repo) == row.id:
            continue
        looked_at[repo] = row.id
        findings = _findings(desk, repo) if _HINTS.search(row.output or "") else ()
        if _changed(desk, repo, stuck=bool(findings)) and findings:
            found.append((repo, findings))
    return found


def _last_look(desk: Desk, repo: str) -> RequestRow | None:
    with desk.store.reading() as view:
        rows = [requests.latest_by_operation(view, repo, operation) for operation in _LOOKS]
    ended = [row for row in rows if row is not None and row.state.final]
    return max(ended, key=lambda row: row.event_seq, default=None)


def _findings(desk: Desk, repo: str) -> tuple[str, ...]:
    """Return what is wrong where a plan would mend it, else nothing."""
    try:
        diagnosis, decided = planned(desk.dispatcher.repositories.open(repo))
    except Problem:
        return ()  # what cannot be looked at now is looked at after the agent's next look
    return diagnosis.findings if isinstance(decided, RecoveryPlan) else ()


def _changed(desk: Desk, repo: str, *, stuck: bool) -> bool:
    """Note whether a repository is stuck; return whether that is news. It outlives a restart."""
    name, value = f"stuck:{repo}"[:100], "yes" if stuck else ""
    with desk.store.reading() as view:
        if cards.state(view, name) == value:
            return False
    with desk.store.transaction() as tx:
        cards.note(tx, name, value)
    return True
