"""How a request ended, in paragraphs for its card: what was read back, what went wrong, what it said (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from executor.record.audit import Event
from executor.record.requests import RequestRow
from gateway.telegram.card_model import Place
from gateway.telegram.html import EMPTY, Markup, Pen, join, say
from gateway.telegram.text_budget import Block, ends_of
from gateway.telegram.words import ID_SHORT, person

OUTPUT_LINES = 12  # of what a command said: the first and the last
LINE_UNITS = 160
MESSAGE_UNITS = 400  # of an error; the whole of it is in the result
VALUE_UNITS = 80
_PLAN_STEP = re.compile(r"(\d+)\. (.*)", re.S)
_STEP_MARK = {"started": "▶️", "done": "✅", "failed": "❌"}
_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_TOLD_ELSEWHERE = frozenset({"effect", "why", "rescue", "changed", "parents", "in_progress", "conflicted", "old"})


def verification(pen: Pen, result: Mapping[str, Any]) -> Block:
    """Return what was read back after it ran; no paragraph where there was nothing to read back."""
    verified = result.get("verified") or {}
    if isinstance(verified.get("found"), list):  # of an interrupted request; the first is told as what went wrong
        return Block(tuple(say("• {}", pen.prose(str(line), MESSAGE_UNITS)) for line in verified["found"][1:]))
    read = _read_back(pen, verified)
    if verified.get("effect") is False:
        why = pen.prose(str(verified.get("why", "it was not found afterwards")), MESSAGE_UNITS)
        said = say("⚠️ <b>Its effect was not seen:</b> {}", why)
        return Block((join((said, say("Now: {}", read) if read != EMPTY else EMPTY)),))
    if verified.get("effect") is True:
        return Block((say("Read back: {}", read) if read != EMPTY else say("Read back, and as it should be."),))
    return Block((say("Now: {}", read),) if read != EMPTY else ())


def _read_back(pen: Pen, verified: Mapping[str, Any]) -> Markup:
    if {"remote", "ref", "new"} <= verified.keys():
        return say("{} has {} at {}", *(_value(pen, verified[name]) for name in ("remote", "ref", "new")))
    if isinstance(verified.get("refs"), Mapping) and verified["refs"]:
        refs = [
            say("{} at {}", _value(pen, ref), _value(pen, new)) for ref, new in list(verified["refs"].items())[:3]
        ]
        return say("{} has {}", _value(pen, verified.get("remote", "it")), join(refs, ", "))
    told = [
        say("{} {}", pen.text(name.replace("_", " "), VALUE_UNITS), _value(pen, value))
        for name, value in sorted(verified.items())
        if name not in _TOLD_ELSEWHERE and isinstance(value, str | int) and not isinstance(value, bool)
    ]
    return join(told[:4], ", ")


def _value(pen: Pen, value: object) -> Markup:
    shown = str(value) if value is not None else "nothing"
    return pen.value(shown[:ID_SHORT] if _OBJECT_ID.fullmatch(shown) else shown, VALUE_UNITS)


def problem(pen: Pen, result: Mapping[str, Any]) -> Block:
    """Return what went wrong and what to do, as the agent reads it too."""
    error = result.get("error") or {}
    if not error.get("message"):
        return Block(())
    lines = [say("{} ({})", pen.prose(str(error["message"]), MESSAGE_UNITS), pen.value(error.get("code", ""), 60))]
    if error.get("hint"):
        lines.append(say("The agent is told: {}", pen.prose(str(error["hint"]), MESSAGE_UNITS)))
    return Block(tuple(lines))


def output(pen: Pen, request: RequestRow) -> Block:
    """Return the beginning and the end of what it said."""
    text = (request.output or "").strip("\n")
    lines = pen.lines(text, LINE_UNITS) if text.strip() else ()
    error = (request.result or {}).get("error") or {}
    if not lines or text.strip() == str(error.get("message", "")).strip():
        return Block(())
    return Block(ends_of(lines, OUTPUT_LINES), title=say("<b>It said</b>"), least=0, frame="pre", rank=1)


def steps(place: Place, plan: list[str], events: tuple[Event, ...]) -> Block:
    """Return the steps of a recovery, those of the plan that were not begun too, each with what came of it."""
    pen = place.pen
    latest: dict[str, tuple[str, str]] = {}
    for event in events:
        area, _, state = event.kind.partition(".")
        if area == "recovery" and state in _STEP_MARK:
            latest[str(event.data.get("step", ""))] = (state, str(event.data.get("detail", "")))
    lines = []
    for name, (state, detail) in latest.items():
        told = say(": {}", pen.prose(detail, VALUE_UNITS * 2)) if detail and state != "started" else EMPTY
        lines.append(say(f"{_STEP_MARK[state]} {{}}{{}}", pen.prose(name, VALUE_UNITS), told))
    planned = [match[2] for line in plan if (match := _PLAN_STEP.fullmatch(line))]
    lines += [
        say("▫️ {}", pen.prose(step.partition(": ")[0], VALUE_UNITS)) for step in planned[len(latest) :] if latest
    ]
    return Block(tuple(lines), title=say("<b>Steps</b>"), least=0) if lines else Block(())


def undone(place: Place, events: tuple[Event, ...]) -> Block:
    """Return what came of taking it back, if somebody tried."""
    last = next((event for event in reversed(events) if event.kind.startswith("operator.undo")), None)
    if last is None:
        return Block(())
    who = person(place, str(last.data.get("by", "somebody")))
    if last.kind == "operator.undo.done":
        told = [say("• {}", place.pen.prose(str(line), VALUE_UNITS)) for line in last.data.get("told", ())]
        return Block(tuple(told), title=say("↩️ <b>Taken back</b> by {}", who), least=0)
    if last.kind == "operator.undo.failed":
        error = place.pen.prose(str(last.data.get("error", "")), MESSAGE_UNITS)
        return Block((say("↩️ {} tried to take it back: {}", who, error),))
    return Block((say("↩️ {} is taking it back.", who),))


def is_undone(events: tuple[Event, ...]) -> bool:
    """Return whether it was taken back, or is being taken back now."""
    kinds = [event.kind for event in events if event.kind.startswith("operator.undo")]
    return bool(kinds) and kinds[-1] != "operator.undo.failed"


def seal(pen: Pen, events: tuple[Event, ...]) -> Iterator[Markup]:
    """Yield the place of the decision in the audit log: posted here it cannot be changed there without showing."""
    for event in reversed(events):
        if event.kind in ("approval.approved", "approval.denied"):
            yield say("audit {}", pen.value(f"{event.seq}:{event.hash}"))
            return
