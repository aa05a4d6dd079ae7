"""Keeps the record bounded. The audit log is never cut: its events are small, and without them nothing is proved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, or_, select, update

from executor.outcome import OPEN_STATES
from executor.record.approvals import ApprovalState
from executor.record.schema import approvals, requests, timestamp
from executor.record.store import Reading, Store


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many requests lost their bulk (output and body), and how many were removed with their approvals."""

    thinned: int
    removed: int


def prune(store: Store, *, bulk_before: datetime, rows_before: datetime) -> Pruned:
    """Drop output and body of requests that ended before `bulk_before`, and those before `rows_before` altogether.

    What has not ended is left. An id whose request was removed can be used anew; its events stay in the audit log.
    Raises Unavailable when the record cannot be written.
    """
    with store.transaction() as tx:
        ended = (requests.c.host == tx.host) & requests.c.state.not_in(sorted(OPEN_STATES))
        old = delete(requests).where(ended, requests.c.finished_at < timestamp(rows_before))
        removed = tx.connection.execute(old).rowcount  # approvals and votes go with them
        bulky = or_(requests.c.output.is_not(None), requests.c.text != "")
        thin = update(requests).where(ended, requests.c.finished_at < timestamp(bulk_before), bulky)
        thinned = tx.connection.execute(thin.values(output=None, text="")).rowcount
        if removed or thinned:
            told = {"thinned": thinned, "removed": removed, "bulk_before": timestamp(bulk_before)}
            tx.append("retention.pruned", data=told | {"rows_before": timestamp(rows_before)})
    if removed or thinned:
        store.compact()
    return Pruned(thinned, removed)


def agreed_since(tx: Reading, since: datetime) -> frozenset[str]:
    """Return the ids of the requests that operators have agreed to after `since`."""
    query = select(approvals.c.request_id).where(
        approvals.c.host == tx.host,
        approvals.c.state == ApprovalState.APPROVED,
        approvals.c.decided_at > timestamp(since),
    )
    return frozenset(tx.connection.scalars(query))
