"""`ops-gateway status`: how the gateway is, on one screen."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from executor.sandbox.confinement import Confinement
from executor.spans import age
from gateway import settings as configuration
from gateway import tick, wiring
from gateway.commands.terminal import heading, paragraph
from gateway.condition import gather, swept_at, ticked_at
from gateway.schedule.heartbeat import read_health
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


def as_text(found: Mapping[str, Any]) -> Iterator[str]:
    """Given how things are, yield the lines for a person."""
    mood, now = "bad" if found["troubles"] else "good", datetime.now(UTC)
    yield heading(f"{found['host']}: {'see below' if found['troubles'] else 'all is well'}", mood)
    yield paragraph("serves", "\n".join(f"{name}  {path}" for name, path in found["repositories"].items()))
    yield paragraph("flags in", found["shared_dir"])
    served_by = found["served_by"]
    if found["last_tick"] and (not served_by or served_by.startswith("tick")):
        yield paragraph("process", f"none stays; `ops-gateway tick` last ended {age(ticked_at(found), now)}")
    elif served_by:
        yield paragraph("process", f"{served_by}, last sweep {age(swept_at(found), now)}")
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
