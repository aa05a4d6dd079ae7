"""How the gateway is, found for whoever asks: `ops-gateway status`, and /status in the chat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from executor.outcome import State
from executor.record import controls, requests
from executor.record.store import Store
from executor.spans import age
from gateway import settings as configuration
from gateway import tick
from gateway.settings_model import Settings


def gather(
    settings: Settings,
    store: Store,
    *,
    served_by: str,
    health: Mapping[str, Any],
    confinement: str,
    last_tick: datetime | None = None,
) -> dict[str, Any]:
    """Return it as JSON can hold it: `served_by` holds the state directory, `health` is what that says of itself.

    `last_tick` is when cron's `ops-gateway tick` last ended, on a host where nothing stays resident.
    """
    with store.reading() as reading:
        states = Counter(request.state for request in requests.open_requests(reading))
        freeze = controls.frozen(reading)
    found: dict[str, Any] = {
        "host": settings.host_name,
        "served_by": served_by,
        "last_tick": last_tick.isoformat(timespec="seconds") if last_tick else None,
        "repositories": {each.name: str(each.path) for each in settings.served},
        "shared_dir": str(settings.shared_dir),
        "confinement": confinement,
        "unsafe": configuration.unsafe_choices(settings),
        "frozen": {"reason": freeze.reason, "by": freeze.by, "at": freeze.at} if freeze else None,
        "requests": {state.value: states[state] for state in (State.AWAITING_APPROVAL, State.QUEUED, State.RUNNING)},
        "health": health,
    }
    found["troubles"] = list(_troubles(found, store.anchor_problem, datetime.now(UTC)))
    return found


def _troubles(found: Mapping[str, Any], anchor: str | None, now: datetime) -> Iterator[str]:
    if not found["served_by"] or found["served_by"].startswith("tick"):
        yield from _tick_troubles(ticked_at(found), now, going=bool(found["served_by"]))
    elif not tick.is_fresh(swept_at(found), now):
        yield f"the last sweep was {age(swept_at(found), now)}: see the gateway's log"
    if anchor:
        yield f"audit log: {anchor} (ops-gateway audit verify)"
    for what, why in found["health"].get("degraded", {}).items():
        yield f"{what}: {why}"


def _tick_troubles(last: datetime | None, now: datetime, *, going: bool) -> Iterator[str]:
    """Where no process stays, cron's last tick is the sign of life, as the last sweep is elsewhere."""
    if going or tick.is_fresh(last, now):
        return
    yield "no gateway runs: flags wait (ops-gateway run)"
    if last is not None:
        yield f"the last tick ended {age(last, now)}: if cron is to do it, see its mail"


def swept_at(found: Mapping[str, Any]) -> datetime | None:
    """Return when flags were last looked for; what is planned next would say nothing (B14)."""
    return _moment(found["health"].get("heartbeat", {}).get("completed", {}).get("sweep"))


def ticked_at(found: Mapping[str, Any]) -> datetime | None:
    """Return when cron's `ops-gateway tick` last ended."""
    return _moment(found["last_tick"])


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
