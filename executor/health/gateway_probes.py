"""The probes of the gateway's own work: its schedule, its chat, and the approvals that wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial

from executor.health import gateway
from executor.health.gateway import Said, Waiting
from executor.health.report import Finding
from executor.health.run import Probe
from executor.record import approvals
from executor.record.store import Store

Teller = Callable[[], Said]


def gateway_probes(store: Store, tell: Teller) -> Iterator[Probe]:
    """Yield the probes, given the record and what returns how the serving process says it is."""
    yield Probe(gateway.GATEWAY, "", lambda: tuple(gateway.judge_gateway(tell(), datetime.now(UTC))))
    yield Probe(gateway.TELEGRAM, "", lambda: tuple(gateway.judge_telegram(tell())))
    yield Probe(gateway.APPROVALS, "", partial(_waiting, store))


def _waiting(store: Store) -> Finding:
    with store.reading() as view:
        pending = approvals.pending(view)
    found = tuple(
        Waiting(datetime.fromisoformat(each.created_at), datetime.fromisoformat(each.expires_at)) for each in pending
    )
    return gateway.judge_approvals(found, datetime.now(UTC))
