"""Answers to the commands of the chat (pure). What a command does is decided elsewhere; here is what is said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from executor.errors import Problem
from executor.record.audit import Event
from executor.record.exports import text_line
from executor.spans import plural, span
from gateway.telegram import words
from gateway.telegram.approval_card import Asked
from gateway.telegram.card_model import Attachment, Card, Place, card_of
from gateway.telegram.cards import Story, request_card
from gateway.telegram.digests import show_buttons
from gateway.telegram.endings import OUTPUT_LINES
from gateway.telegram.html import EMPTY, Markup, join, say
from gateway.telegram.text_budget import Block

_LINE_UNITS = 300
_USER_NAME = re.compile(r"@[A-Za-z0-9_]{4,32}")
_LISTED = 10  # waiting requests in one message; the rest are counted

# As they stand in Telegram's menu (setMyCommands: 1-256 characters) and in /help.
COMMANDS: tuple[tuple[str, str], ...] = (
    ("status", "how the gateway is"),
    ("pending", "what waits for operators"),
    ("approve", "ID [DIGEST]: say yes to what its card shows now"),
    ("deny", "ID REASON: say no; the reason reaches the agent"),
    ("why", "ID: the whole story of one request"),
    ("recover", "[REPOSITORY]: plan the way out of a broken state"),
    ("queue", "how the queues are, with the last 24 h as a picture"),
    ("health", "how containers and workers are"),
    ("freeze", "REASON: nothing but reading until unfrozen"),
    ("unfreeze", "let work go on"),
    ("help", "this"),
)


def help_text(place: Place) -> Card:
    """Return what the commands are, and how deciding works."""
    lines = tuple(say("{} {}", place.pen.text(f"/{name}"), place.pen.text(what)) for name, what in COMMANDS)
    how = say("Approve and Deny are under each card. What you approve is exactly what is shown, or nothing runs.")
    marks = say("🟢 changes nothing 🟡 can be undone 🟠 publishes or can lose work 🔴 can overwrite what others have")
    return card_of(
        [Block((say("<b>ops-gateway</b> {}", words.where(place, "")),)), Block(lines), Block((how, marks))]
    )


def status(place: Place, found: Mapping[str, Any]) -> Card:
    """Return how the gateway is. `found` is as `ops-gateway status --json` prints it."""
    pen = place.pen
    troubles, unsafe = list(found.get("troubles", ())), list(found.get("unsafe", ()))
    counts = found.get("requests", {})
    waiting = counts.get("awaiting_approval", 0)
    freeze = found.get("frozen")
    mark = "🧊" if freeze else "⚠️" if troubles or unsafe else "✅"
    word = "Frozen" if freeze else "See below" if troubles else "All is well"
    doing = f"{counts.get('running', 0)} running, {counts.get('queued', 0)} queued, {waiting} waiting for operators"
    blocks = [
        Block((words.heading(mark, word, EMPTY, say("{} · {}", words.where(place, ""), pen.text(doing))),)),
        Block(tuple(say("⚠️ {}", pen.prose(str(each), _LINE_UNITS)) for each in troubles), least=5),
        Block(tuple(say("⚠️ Unsafe by choice: {}", pen.prose(str(each), _LINE_UNITS)) for each in unsafe), least=4),
    ]
    if freeze:
        who = words.person(place, str(freeze.get("by", "")))
        blocks.append(Block((say("Frozen by {}: {}", who, pen.prose(str(freeze.get("reason", "")), _LINE_UNITS)),)))
    repositories = [pen.value(str(name), words.NAME_UNITS) for name in found.get("repositories", {})]
    blocks.append(Block(tuple(repositories), title=say("Serves"), least=2, rank=1))
    blocks.append(Block((pen.prose(str(found.get("confinement", "")), _LINE_UNITS),)))
    return card_of(blocks)


def pending(place: Place, waiting: Sequence[Asked], now: datetime) -> Card:
    """Return what waits for operators, most urgent first, with buttons that show the cards."""
    if not waiting:
        return card_of([Block((say("✅ Nothing waits for operators {}.", words.where(place, "")),))])
    urgent = sorted(waiting, key=lambda asked: asked.approval.expires_at)
    number = place.pen.text(plural(len(urgent), "request"))
    first = say("⏳ <b>{}</b> for operators {}", number, words.where(place, ""))
    lines = [_waiting_line(place, asked, now) for asked in urgent[:_LISTED]]
    if len(urgent) > _LISTED:
        lines.append(say("… and {} more", len(urgent) - _LISTED))
    buttons = show_buttons([asked.request.id for asked in urgent])
    return card_of([Block((first,)), Block(tuple(lines))], buttons)


def _waiting_line(place: Place, asked: Asked, now: datetime) -> Markup:
    left = (datetime.fromisoformat(asked.approval.expires_at) - now).total_seconds()
    mark = words.RISK_MARK[asked.approval.risk]
    title = words.title(place, asked.request, asked.argv)
    time_left = place.pen.text(f"{span(left)} left" if left > 0 else "expires now")
    votes = say(" · {} of {} said yes", len(asked.approvers), asked.approval.quorum) if asked.approvers else EMPTY
    name = place.pen.value(asked.request.id, words.NAME_UNITS)
    return join((say(f"{mark} {{}} · {{}} · {{}}", title, name, time_left), votes), "")


def why(place: Place, story: Story, events: Sequence[Event]) -> Card:
    """Return the story of one request: its card without buttons, and as files every event and a long output (A18)."""
    card = request_card(place, story)
    files = []
    if events:
        text = "".join(f"{text_line(event)}\n" for event in events)
        files.append(Attachment(f"{story.request.id}.log", place.pen.document(text)))
    output = story.request.output or ""
    if output.count("\n") > OUTPUT_LINES:
        files.append(Attachment(f"{story.request.id}.output.txt", place.pen.document(output)))
    return Card(card.html, card.plain, (), tuple(files))


def not_configured(place: Place, command: str, how: str) -> Card:
    """Return the answer to a command that this host has no set-up for; `how` says what would give it one."""
    what = place.pen.value(f"/{command}", words.NAME_UNITS)
    said = say("{} is not set up {}. {}", what, words.where(place, ""), place.pen.prose(how, _LINE_UNITS))
    return card_of([Block((said,))])


def usage(place: Place, command: str) -> Card:
    """Return how a command is written."""
    what = dict(COMMANDS).get(command)
    if what is None:
        said = say(
            "There is no {}. See {}", place.pen.value(f"/{command}", words.NAME_UNITS), place.pen.text("/help")
        )
    else:
        said = say("{} {}", place.pen.text(f"/{command}"), place.pen.text(what))
    return card_of([Block((said,))])


def unknown_request(place: Place, name: str) -> Card:
    """Return the answer where no request of that name is known."""
    shown = place.pen.value(name, words.NAME_UNITS)
    return card_of(
        [Block((say("There is no request {} {}. /pending shows what waits.", shown, words.where(place, "")),))]
    )


def too_old(place: Place, command: str, age_seconds: float) -> Card:
    """Return the answer to a command that was sent long ago and arrives only now (A29)."""
    what, age = place.pen.value(f"/{command}", words.NAME_UNITS), place.pen.text(span(age_seconds))
    said = say("{} was sent {} ago, too old to be done now {}. Send it again.", what, age, words.where(place, ""))
    return card_of([Block((said,))])


def went_wrong(place: Place, problem: Problem) -> Card:
    """Return why a command could not be done."""
    return card_of([Block((*_problem(place, problem),))])


def done(place: Place, what: str) -> Card:
    """Return what a command came to, in one sentence that may quote foreign text."""
    return card_of([Block((say("{} · {}", place.pen.prose(what, _LINE_UNITS), words.where(place, "")),))])


def ask_for_reason(place: Place, asked: Asked, name: str) -> Card:
    """Return the question to which the operator of that name, as Telegram has it, replies with the reason of a no."""
    title = words.title(place, asked.request, asked.argv)
    # a mention, which only a user name is, opens the reply on that operator's phone
    who = place.pen.text(name) if _USER_NAME.fullmatch(name) else place.pen.value(name, words.NAME_UNITS)
    said = say("{}: reply to this message with the reason; it reaches the agent. Until then nothing is decided.", who)
    first = say("🚫 <b>Deny</b> {} · {}", title, words.where(place, asked.request.repo))
    return replace(card_of([Block((first, said))]), reply_hint="Why not? The agent reads it")


def _problem(place: Place, problem: Problem) -> Iterator[Markup]:
    pen = place.pen
    yield say(
        "❌ {} ({}) · {}",
        pen.prose(problem.message, _LINE_UNITS),
        pen.value(problem.code, 60),
        words.where(place, ""),
    )
    if problem.hint:
        yield pen.prose(problem.hint, _LINE_UNITS)
