"""Routine events in few words: one line each, many of them in one message (pure).

What went wrong is named, what went well is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from executor.outcome import State
from executor.record.requests import RequestRow
from executor.spans import plural, span
from gateway.telegram import words
from gateway.telegram.card_model import Action, Button, Card, Keyboard, Place, card_of
from gateway.telegram.html import EMPTY, Markup, cut, join, say
from gateway.telegram.text_budget import Block

_NAMED = 8  # requests that are named in one message; the rest are counted
_BUTTONS = 6
_LABEL = 24  # UTF-16 units of an id on a button
_GOOD = frozenset({State.SUCCEEDED, State.RECEIVED, State.QUEUED, State.RUNNING})
_COUNTED: tuple[tuple[str, frozenset[State]], ...] = (
    ("waits for you", frozenset({State.AWAITING_APPROVAL})),
    ("failed", frozenset({State.FAILED, State.TIMED_OUT, State.INTERRUPTED})),
    ("refused", frozenset({State.REFUSED})),
    ("denied", frozenset({State.DENIED})),
    ("expired", frozenset({State.EXPIRED, State.UNDELIVERABLE})),
    ("taken back", frozenset({State.WITHDRAWN})),
    ("done", frozenset({State.SUCCEEDED})),
    ("under way", frozenset({State.RECEIVED, State.QUEUED, State.RUNNING})),
)


def line(place: Place, request: RequestRow) -> Markup:
    """Return one request as a line: "✅ git_status · shop"."""
    error = (request.result or {}).get("error") or {}
    why = place.pen.prose(str(error["message"]), 160) if error.get("message") else EMPTY
    dry = place.pen.text("dry run") if request.dry_run else EMPTY
    repo = place.pen.value(request.repo, words.NAME_UNITS)
    told = join((words.title(place, request), dry, repo, why), " · ")
    return say(f"{words.STATE_MARK[request.state]} {{}}", told)


def routine(place: Place, requests: Sequence[RequestRow]) -> Card:
    """Return requests that needed nobody as one message: one as a line; of many what went wrong, and counts."""
    host = place.pen.value(place.host, words.NAME_UNITS)
    if len(requests) == 1:
        return card_of([Block((join((line(place, requests[0]), host), " · "),))])
    bad = [request for request in requests if request.state not in _GOOD]
    good = [request for request in requests if request.state in _GOOD]
    lines = _named(place, bad)
    if good:
        lines.append(say("✅ {}: {}", place.pen.text(plural(len(good), "routine request")), _kinds(place, good)))
    first, *rest = lines
    return card_of([Block((join((first, host), " · "), *rest))])


def while_away(place: Place, away_seconds: float, requests: Sequence[RequestRow], total: int | None = None) -> Card:
    """Return what happened in `away_seconds` that nobody could be told of: counts, then what needs somebody.

    `requests` are those to be told, oldest first; `total` where there were more than are given. Cards of what still
    waits follow by themselves; the buttons show them at the end of the chat.
    """
    number = max(total or 0, len(requests))
    away = place.pen.text(span(away_seconds))
    counts = place.pen.text(", ".join(_counts(requests)) or "nothing happened")
    first = say("📶 <b>Catching up</b> with the last {}: {}", away, place.pen.text(plural(number, "request")))
    second = say("{} · {}", words.where(place, ""), counts)
    unwell = [request for request in requests if request.state not in _GOOD]
    unwell.sort(key=lambda request: request.state is not State.AWAITING_APPROVAL)
    blocks = [Block((join((first, second)),)), Block(tuple(_named(place, unwell)))]
    waiting = [request.id for request in unwell if request.state is State.AWAITING_APPROVAL]
    return card_of(blocks, show_buttons(waiting))


def _counts(requests: Iterable[RequestRow]) -> list[str]:
    states = Counter(request.state for request in requests)
    found = ((sum(states[state] for state in group), word) for word, group in _COUNTED)
    return [f"{number} {_plural(word, number)}" for number, word in found if number]


def _plural(word: str, number: int) -> str:
    return "wait for you" if word == "waits for you" and number > 1 else word


def _named(place: Place, requests: Sequence[RequestRow]) -> list[Markup]:
    lines = [line(place, request) for request in requests[:_NAMED]]
    if len(requests) > _NAMED:
        lines.append(say("… and {} more that did not go well", len(requests) - _NAMED))
    return lines


def _kinds(place: Place, requests: Sequence[RequestRow]) -> Markup:
    kinds = Counter(str(request.operation or "unreadable") for request in requests).most_common()
    repos = sorted({request.repo for request in requests})
    told = join((say("{} {}", number, place.pen.value(kind)) for kind, number in kinds), ", ")
    shown = join((place.pen.value(repo, words.NAME_UNITS) for repo in repos[:3]), ", ")
    more = say(" and {} more repositories", len(repos) - 3) if len(repos) > 3 else EMPTY
    return join((told, join((shown, more), "")), " · ")


def show_buttons(request_ids: Sequence[str]) -> Keyboard:
    """Return buttons that show the cards of requests again, one a row."""
    return tuple((Button(f"Show {cut(name, _LABEL)}", Action.SHOW, name),) for name in request_ids[:_BUTTONS])
