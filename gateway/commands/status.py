"""`ops-gateway status`: how the gateway is, on one screen."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from executor.outcome import State
from executor.record import controls, requests
from executor.record.store import Store
from executor.sandbox.confinement import Confinement
from gateway import settings as configuration
from gateway import tick, wiring
from gateway.commands.terminal import age, heading, paragraph
from gateway.schedule.heartbeat import PERIODS, STALE_PERIODS, read_health
from gateway.settings_model import Settings
from gateway.single import holder


def arguments(_verb: str, parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("--json", action="store_true", help="for programs")


def run(options: argparse.Namespace) -> int:
    """Show it. Return 1 when nothing serves flags (no process, no recent tick), or it does not get on."""
    settings = configuration.load()
    found = look(settings)
    print(json.dumps(found) if options.json else "\n".join(as_text(found)))
    return int(bool(found["troubles"]))


def look(settings: Settings) -> dict[str, Any]:
    """Given the settings, return how things are, as JSON can hold it."""
    served_by = holder(settings.state_dir)
    health = read_health(settings.state_dir) if served_by else {}
    ticked = tick.last_tick(settings.state_dir)
    confinement = Confinement(unsafe=settings.unsafe_run_without_confinement).report().summary
    with wiring.record(settings) as store:
        return gather(settings, store, served_by=served_by, health=health, confinement=confinement, last_tick=ticked)


def gather(
    settings: Settings,
    store: Store,
    *,
    served_by: str,
    health: Mapping[str, Any],
    confinement: str,
    last_tick: datetime | None = None,
) -> dict[str, Any]:
    """The same with the record open: `served_by` holds the state directory, `health` is what it says of itself.

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
        yield from _tick_troubles(_moment(found["last_tick"]), now, going=bool(found["served_by"]))
    elif (sweep := _last_sweep(found)) is None or (now - sweep).total_seconds() > STALE_PERIODS * PERIODS["sweep"]:
        yield f"the last sweep was {age(sweep, now)}: see the gateway's log"
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


def _last_sweep(found: Mapping[str, Any]) -> datetime | None:
    """Return when flags were last looked for; what is planned next would say nothing (B14)."""
    return _moment(found["health"].get("heartbeat", {}).get("completed", {}).get("sweep"))


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def as_text(found: Mapping[str, Any]) -> Iterator[str]:
    """Given how things are, yield the lines for a person."""
    mood = "bad" if found["troubles"] else "good"
    yield heading(f"{found['host']}: {'see below' if found['troubles'] else 'all is well'}", mood)
    yield paragraph("serves", "\n".join(f"{name}  {path}" for name, path in found["repositories"].items()))
    yield paragraph("flags in", found["shared_dir"])
    served_by = found["served_by"]
    if found["last_tick"] and (not served_by or served_by.startswith("tick")):
        yield paragraph("process", f"none stays; `ops-gateway tick` last ended {age(_moment(found['last_tick']))}")
    elif served_by:
        yield paragraph("process", f"{served_by}, last sweep {age(_last_sweep(found))}")
        yield paragraph("notices", found["health"].get("watching", "by sweep"))
    if chat := found["health"].get("telegram"):
        yield paragraph("telegram", str(chat.get("state", "")))
    yield paragraph("git", found["confinement"])
    counts = found["requests"]
    yield paragraph(
        "requests",
        f"{counts['running']} running, {counts['queued']} queued, {counts['awaiting_approval']} awaiting approval",
    )
    if found["frozen"]:
        yield paragraph(
            "FROZEN", f"by {found['frozen']['by']} at {found['frozen']['at']}: {found['frozen']['reason']}"
        )
    for choice in found["unsafe"]:
        yield paragraph("UNSAFE", choice)
    for trouble in found["troubles"]:
        yield paragraph("trouble", trouble)
