"""How queues stood: samples for a week of history, and what the monitor remembers. None of it decides anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import delete, insert, select, update

from executor.host_operations import HOST_LANE
from executor.laravel.model import QueueCount, QueueSample
from executor.policy.model import Operation
from executor.record.columns import storable
from executor.record.schema import canonical_json, queue_samples, queue_watch, requests, timestamp
from executor.record.store import Reading, Transaction

_COUNT = ("queue", "pending", "delayed", "reserved", "failed", "oldest_seconds", "problem", "existed")


def keep(tx: Transaction, sample: QueueSample) -> None:
    """Add a sample. One of the same moment is replaced."""
    at = timestamp(sample.at)
    tx.connection.execute(delete(queue_samples).where(queue_samples.c.host == tx.host, queue_samples.c.at == at))
    rows = [{name: getattr(count, name) for name in _COUNT} for count in sample.counts]
    for row in rows:
        row |= {"host": tx.host, "at": at, "problem": storable(tx.redactor(row["problem"]))}
    if rows:
        tx.connection.execute(insert(queue_samples), rows)


def since(tx: Reading, moment: datetime) -> list[QueueSample]:
    """Return the samples since `moment`, oldest first."""
    columns = [queue_samples.c.at, *(queue_samples.c[name] for name in _COUNT)]
    query = select(*columns).where(queue_samples.c.host == tx.host, queue_samples.c.at >= timestamp(moment))
    rows = tx.connection.execute(query.order_by(queue_samples.c.at, queue_samples.c.queue)).all()
    return [
        QueueSample(datetime.fromisoformat(at), tuple(QueueCount(*row[1:]) for row in together))
        for at, together in groupby(rows, key=lambda row: str(row[0]))
    ]


def prune(tx: Transaction, before: datetime) -> int:
    """Remove the samples from before a moment; return how many rows went."""
    old = delete(queue_samples).where(queue_samples.c.host == tx.host, queue_samples.c.at < timestamp(before))
    return tx.connection.execute(old).rowcount


def restarts_since(tx: Reading, moment: datetime) -> list[datetime]:
    """Return when restarts of the workers began since `moment`, whoever asked for them, oldest first."""
    of_kind = (requests.c.repo == HOST_LANE) & (requests.c.operation == Operation.RESTART_QUEUE)
    begun = (requests.c.started_at >= timestamp(moment)) & requests.c.dry_run.is_(False)
    query = select(requests.c.started_at).where(requests.c.host == tx.host, of_kind, begun)
    return sorted(datetime.fromisoformat(at) for at in tx.connection.scalars(query))


def remembered(tx: Reading) -> dict[str, Any]:
    """Return what the monitor last noted, {} when it never did or that cannot be read."""
    text = tx.connection.scalar(select(queue_watch.c.state).where(queue_watch.c.host == tx.host))
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def remember(tx: Transaction, state: Mapping[str, object]) -> None:
    """Note what the monitor is to remember, in place of what was noted before."""
    this, values = queue_watch.c.host == tx.host, {"state": canonical_json(state)}
    if tx.connection.execute(update(queue_watch).where(this).values(values)).rowcount == 0:
        tx.connection.execute(insert(queue_watch).values(host=tx.host, **values))
