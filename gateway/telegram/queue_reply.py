"""The answer to /queue: the numbers now in words, and the last day as a picture where it can be drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from executor.errors import Problem
from executor.laravel.model import QueueCount
from executor.spans import span
from gateway.charts.drawing import png
from gateway.schedule.queue_count import counter
from gateway.schedule.queue_report import QueueReport, last_day, report
from gateway.telegram import words
from gateway.telegram.card_model import Card, Picture, Place, card_of
from gateway.telegram.desk import Desk
from gateway.telegram.html import EMPTY, Markup, join, say
from gateway.telegram.text_budget import Block

_UNITS = 300
_LISTED = 30


def answer(desk: Desk) -> Card:
    """Count, and return the answer with its picture. Raises Problem where no queues are watched. Blocks."""
    now = datetime.now(UTC)
    sample = counter(desk.settings, desk.dispatcher.runner)(now)
    with desk.store.reading() as view:
        found, day = report(desk.settings, view, sample), last_day(desk.settings, view, now)
    try:
        picture = png(day, desk.dispatcher.runner, desk.settings.state_dir)
    except Problem as problem:
        return numbers(desk.place, found, f"No picture: {problem.message}. {problem.hint}".rstrip())
    return replace(numbers(desk.place, found), picture=Picture("queues.png", picture))


def numbers(place: Place, found: QueueReport, note: str = "") -> Card:
    """Return the numbers of a report; `note` is said below them."""
    pen, at = place.pen, words.moment(place, found.sample.at.isoformat())
    mark, word = _heading(found)
    second = say("{} · counted now, {}", words.where(place, ""), pen.text(at))
    lines = tuple(line for count in found.sample.counts[:_LISTED] for line in _lines(place, found, count))
    return card_of(
        [
            Block((words.heading(mark, word, EMPTY, second),)),
            Block(lines, least=_LISTED),
            Block(tuple(_around(place, found))),
            Block((pen.prose(note, _UNITS),) if note else ()),
        ]
    )


def _heading(found: QueueReport) -> tuple[str, str]:
    if found.congested_since:
        return "🚦", "Congested"
    return ("✅", "Queues") if found.known else ("❓", "Not all is known")


def _lines(place: Place, found: QueueReport, count: QueueCount) -> Iterator[Markup]:
    """Yield one queue: what waits, and what is with it."""
    pen, name = place.pen, place.pen.value(count.queue, words.NAME_UNITS)
    if not count.known:
        yield say("❓ {}: not known, {}", name, pen.prose(count.problem or "for a reason that is not known", _UNITS))
        return
    since = found.congested_since.get(count.queue)
    oldest = f", the oldest for {span(count.oldest_seconds)}" if count.oldest_seconds is not None else ""
    yield say(f"{'🚦' if since else '•'} {{}}: {{}}", name, pen.text(f"{count.pending} pending{oldest}"))
    parts = ((count.delayed, "delayed"), (count.reserved, "being worked on"), (count.failed, "failed"))
    more = ", ".join(f"{number} {word}" for number, word in parts if number is not None)
    yield say("   {}", pen.text(more)) if more else EMPTY
    if since is not None:
        yield say("   congested since {}", pen.text(words.moment(place, since.isoformat())))
    if count.problem:
        yield say("   {}", pen.prose(count.problem, _UNITS))
    elif count.queue in found.never_seen:
        yield say("   nothing of that name is there: never used, or the name or prefix is wrong")


def _around(place: Place, found: QueueReport) -> Iterator[Markup]:
    pen = place.pen
    age = span(found.max_age_seconds)
    yield say("Limits: {}", pen.text(f"{found.max_pending} pending, {age} old"))
    if found.open_now:
        yield say("Business hours now")
    else:
        opens = f", next {words.moment(place, found.opens_at.isoformat())}" if found.opens_at is not None else ""
        yield say("Outside business hours{}", pen.text(opens))
    last = (
        say(", the last {}", pen.text(words.moment(place, found.restarts[-1].isoformat())))
        if found.restarts
        else EMPTY
    )
    yield join((say("Restarts within 24 h: {}", len(found.restarts)), last), "")
