"""`ops-gateway pending` and `why`: what waits, and what happened."""

from __future__ import annotations

import argparse
import dataclasses
import json

from executor.errors import Refused
from executor.record import approvals, audit, requests
from executor.record.display import visible
from executor.record.exports import text_line
from executor.record.store import Store
from gateway import settings as configuration
from gateway import wiring
from gateway.commands.card import as_words, card, reason_of, title
from gateway.commands.terminal import exactly, heading, paragraph


def arguments(verb: str, parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    if verb == "why":
        parser.add_argument("id", help="the request")
    else:
        parser.add_argument("id", nargs="?", default="", help="only this request")
        parser.add_argument("--exact", action="store_true", help="mask nothing in the command and the agent's words")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(options: argparse.Namespace) -> int:
    """Show it. Return 1 when the request is not known."""
    settings = configuration.load()
    with wiring.record(settings) as store:
        if options.verb == "why":
            return _why(store, options)
        return _pending(store, options)


def _pending(store: Store, options: argparse.Namespace) -> int:
    with store.reading() as reading:
        waiting = [each for each in approvals.pending(reading) if options.id in ("", each.request_id, each.id)]
        found = [(each, requests.get(reading, each.request_id)) for each in waiting]
    clean = str if options.exact else store.redactor
    if options.json:
        data = [_as_data(store, approval, request) for approval, request in found if request]
        print(json.dumps(data if options.exact else store.redactor.redact_data(data)))
    elif not found:
        where = f" under that name; see: ops-gateway why {visible(options.id)}" if options.id else "."
        print(f"Nothing awaits a decision{where}")
    else:
        cards = (card(store.host, request, approval, clean=clean) for approval, request in found if request)
        print("\n\n".join(cards))
    return 0


def _as_data(store: Store, approval: approvals.Approval, request: requests.RequestRow) -> dict[str, object]:
    return {
        "host": store.host,
        "operation": request.operation,
        "repo": request.repo,
        "reason": request.reason,
        "argv": request.argv,
        "approval": dataclasses.asdict(approval),
    }


def _why(store: Store, options: argparse.Namespace) -> int:
    with store.reading() as reading:
        request = requests.get(reading, options.id)
        approval = approvals.latest_of(reading, options.id)
        events = audit.events_of(reading, options.id)
    if request is None and not events:
        raise Refused("unknown_request", "there is no such request", "its id is in results/ID.json and in the log")
    if options.json:
        data = {
            "request": dataclasses.asdict(request) if request else None,
            "approval": dataclasses.asdict(approval) if approval else None,
            "events": [dataclasses.asdict(event) for event in events],
        }
        print(json.dumps(store.redactor.redact_data(data)))
        return 0
    if request is not None:
        print(_story(store, request, approval))
    for event in events:
        print(text_line(event))
    return 0


def _story(store: Store, request: requests.RequestRow, approval: approvals.Approval | None) -> str:
    clean = store.redactor
    lines = [heading(f"{title(request)}: {request.state.replace('_', ' ')}")]
    if request.argv:
        lines.append(exactly("command", [clean(word) for word in request.argv]))
    if request.reason:
        lines.append(reason_of(request, clean))
    if request.risk is not None:
        lines.append(paragraph("class", request.risk))
    if approval is not None:
        by = f" by {', '.join(approval.decided_by)}" if approval.decided_by else ""
        why = f": {clean(approval.decision_reason)}" if approval.decision_reason else ""
        lines.append(paragraph("asked", f"{approval.state}{by}{why}"))
    for name in ("received_at", "started_at", "finished_at", "expires_at"):
        if (moment := getattr(request, name)) is not None:
            lines.append(paragraph(name.removesuffix("_at"), moment))
    for name in ("error", "verified"):
        if told := (request.result or {}).get(name):
            lines.append(paragraph(name, as_words(told)))
    if request.output:
        lines.append(paragraph("output", request.output.rstrip()))
    return "\n".join([*lines, ""])
