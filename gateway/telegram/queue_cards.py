"""What the chat shows of queues: each congestion as one message that is edited in place, and cries for help (pure).

All is drawn from the audit events of one story and from the restarts in it, so it reads the same whenever it is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from executor.outcome import State
from executor.record.audit import Event
from executor.record.requests import RequestRow
from executor.spans import plural, span
from gateway.schedule.queue_state import Hold, Kind, RestartState
from gateway.telegram import words
from gateway.telegram.card_model import Card, Place, card_of
from gateway.telegram.html import EMPTY, Markup, join, say
from gateway.telegram.text_budget import Block

_UNITS = 300  # of a sentence that quotes foreign text
_SHOWN = 12  # steps of a story in its message: the first, and the latest
_SEEN = 3  # sentences of a proof

_HEADINGS: Mapping[str, tuple[str, str]] = {
    Kind.CONGESTED: ("🚦", "Queue congested"),
    Kind.RESTART: ("🔁", "Restarting workers"),
    Kind.DRAINING: ("📉", "Draining"),
    Kind.RESTART_TROUBLE: ("🆘", "Still congested"),
    Kind.STILL: ("🆘", "Still congested"),
    Kind.CLEAR: ("✅", "All clear"),
}


@dataclass(frozen=True, slots=True)
class QueueStory:
    """The events of one story, oldest first, and the requests for a restart that they name, by id."""

    events: tuple[Event, ...]
    restarts: Mapping[str, RequestRow] = field(default_factory=dict)


def story_card(place: Place, story: QueueStory) -> Card:
    """Return the message of a story as it stands now. Raises ValueError for a story without events: a bug."""
    if not story.events:
        raise ValueError("a story without events")
    first = story.events[0]
    if first.kind == Kind.ABSENT:
        return _absent(place, story.events)
    if first.kind in (Kind.UNKNOWN, Kind.KNOWN):
        return _outage(place, story.events)
    return _congestion(place, story)


def cry(place: Place, event: Event) -> Card:
    """Return the message that calls somebody, for a loud event: it makes a sound, which an edit does not."""
    data = event.data
    second = say("{} · {}", words.where(place, ""), place.pen.text(_came_to_nothing(data)))
    heading = words.heading("🆘", "Still congested", _queue(place, data), second)
    why = (place.pen.prose(str(data["why"]), _UNITS),) if event.kind == Kind.RESTART_TROUBLE and data["why"] else ()
    return card_of(
        [Block((heading,)), Block((*why, *_evidence(place, data))), Block(tuple(_next_steps(place, data)))]
    )


def relief(place: Place, event: Event) -> Card:
    """Return the message that whoever was called need not come any more."""
    second = say("{} · {}", words.where(place, ""), place.pen.text(_how_it_ended(event.data)))
    return card_of([Block((words.heading("✅", "All clear", _queue(place, event.data), second),))])


def _congestion(place: Place, story: QueueStory) -> Card:
    last = story.events[-1]
    mark, word = _heading(story, last)
    counted = next(event for event in reversed(story.events) if "pending" in event.data)
    told = _how_it_ended(last.data) if last.kind == Kind.CLEAR else _load(counted, story.events[0].data)
    second = say("{} · {}", words.where(place, ""), place.pen.text(told))
    heading = words.heading(mark, word, _queue(place, last.data), second)
    steps = [step for event in story.events for step in _steps(place, story, event)]
    if len(steps) > _SHOWN:
        left_out = len(steps) - _SHOWN
        steps = [steps[0], say("… {} more", left_out), *steps[left_out + 1 :]]
    return card_of([Block((heading,)), Block(tuple(steps))])


def _heading(story: QueueStory, last: Event) -> tuple[str, str]:
    if last.kind == Kind.RESTART_TROUBLE and last.data.get("state") == RestartState.DENIED:
        return _HEADINGS[Kind.CONGESTED]
    row = story.restarts.get(str(last.data.get("request", "")))
    if last.kind == Kind.RESTART and row is not None:
        if row.state is State.AWAITING_APPROVAL:
            return "⏳", "Restart workers?"
        if row.state is State.SUCCEEDED:
            return "🔁", "Workers restarted" if _effect(row) else "Restart not verified"
        if row.state.final:
            return _HEADINGS[Kind.CONGESTED]
    return _HEADINGS[last.kind]


def _steps(place: Place, story: QueueStory, event: Event) -> Iterator[Markup]:
    """Yield what an event adds to the story, each a line that begins with its time."""
    pen, data, at = place.pen, event.data, _clock(place, event.at)
    match event.kind:
        case Kind.CONGESTED:
            word = "Congested again" if data.get("again") else "Congested"
            yield say("{} 🚦 {}", pen.text(words.moment(place, event.at)), pen.text(f"{word}: {_load(event, data)}"))
            held = _held(place, data)
            if held != EMPTY:
                yield say("{} ⏸ {}", at, held)
        case Kind.RESTART:
            yield say("{} 🔁 Restart of the workers asked for", at)
            yield from _restart_steps(place, story.restarts.get(str(data.get("request", ""))))
        case Kind.DRAINING:
            yield say("{} 📉 It drains: {}", at, pen.text(f"{data['pending']} pending, {data['before']} before"))
        case Kind.RESTART_TROUBLE if data.get("state") == RestartState.DENIED:
            yield say("{} 🚫 No restart: an operator said no. It is not asked for again until all is clear", at)
        case Kind.RESTART_TROUBLE | Kind.STILL:
            yield say("{} 🆘 {}", at, pen.text(f"{_sentence(_came_to_nothing(data))}: {_now(data)}"))
        case Kind.CLEAR:
            yield say("{} ✅ All clear: {}", at, pen.text(f"{data['pending']} pending"))


def _restart_steps(place: Place, row: RequestRow | None) -> Iterator[Markup]:
    """Yield how far a restart has come, and the proof of it."""
    if row is None:
        return
    pen, result = place.pen, row.result or {}
    at = _clock(place, row.finished_at) if row.finished_at else EMPTY
    name = pen.value(row.id, words.NAME_UNITS)
    if row.state is State.AWAITING_APPROVAL:
        yield say("⏳ It waits for an operator's yes: request {}", name)
    elif row.state is State.SUCCEEDED:
        verified = result.get("verified") or {}
        if _effect(row):
            yield say("{} ✅ Restarted, verified", at)
            yield from _sentences(place, verified.get("seen"))
        else:
            yield say("{} ⚠️ Executed, not verified", at)
            yield from _sentences(place, verified.get("why"))
    elif row.state is State.WITHDRAWN:
        yield say("{} ↩️ The restart was taken back before it began", at)
    elif row.state.final and row.state is not State.DENIED:
        error = result.get("error") or {}
        why = pen.prose(str(error.get("message") or words.STATE_WORD[row.state]), _UNITS)
        yield say("{} ❌ The restart came to nothing: {} (request {})", at, why, name)


def _sentences(place: Place, said: object) -> Iterator[Markup]:
    listed = [said] if isinstance(said, str) else said if isinstance(said, Sequence) else []
    for sentence in listed[:_SEEN]:
        yield say("   · {}", place.pen.prose(str(sentence), _UNITS))


def _held(place: Place, data: Mapping[str, Any]) -> Markup:
    """Return why no restart was asked for when the congestion began; empty where one may be."""
    match data.get("hold"):
        case Hold.OUTSIDE_HOURS if data.get("opens_at"):
            opens = place.pen.text(words.moment(place, str(data["opens_at"])))
            return say("Outside business hours: no restart by itself before {}", opens)
        case Hold.OUTSIDE_HOURS:
            return say("Outside business hours: no restart by itself")
        case Hold.FROZEN:
            return say("Frozen: no restart until /unfreeze")
        case Hold.REFUSED:
            return say("No restart by itself: {}", place.pen.prose(str(data.get("refused", "")), _UNITS))
    return EMPTY


def _outage(place: Place, events: Sequence[Event]) -> Card:
    """Return the message about counts that fail. It is over when each queue that was named is counted again."""
    unknown: dict[str, str] = {}
    named: dict[str, None] = {}
    for event in events:
        queue = str(event.data["queue"])
        named[queue] = None
        unknown.pop(queue, None)
        if event.kind == Kind.UNKNOWN:
            unknown[queue] = str(event.data.get("problem", ""))
    shown = unknown or named
    what = join((place.pen.value(queue, words.NAME_UNITS) for queue in shown), ", ")
    lasted = span(words.seconds_between(events[0].at, events[-1].at))
    if not unknown:
        second = say("{} · {}", words.where(place, ""), place.pen.text(f"nothing was known for {lasted}"))
        return card_of([Block((words.heading("✅", "Counted again", what, second),))])
    second = say("{} · how many jobs wait is not known, which is not zero", words.where(place, ""))
    reasons: dict[str, None] = dict.fromkeys(unknown.values())
    lines = [say("{} {}", _clock(place, events[0].at), place.pen.prose(reason, _UNITS)) for reason in reasons]
    lines.append(say("Meanwhile no workers are restarted by themselves."))
    return card_of([Block((words.heading("❓", "Cannot count", what, second),)), Block(tuple(lines))])


def _absent(place: Place, events: Sequence[Event]) -> Card:
    second = say("{} · nothing of that name is there, which may be right or a wrong setting", words.where(place, ""))
    hint = "No job was put on it so far, or a setting is wrong: GATEWAY_QUEUE_NAMES or GATEWAY_QUEUE_REDIS_PREFIX."
    what = join((_queue(place, event.data) for event in events), ", ")
    heading = words.heading("❓", "Never seen", what, second)
    return card_of([Block((heading,)), Block((place.pen.prose(hint),))])


def _evidence(place: Place, data: Mapping[str, Any]) -> Iterator[Markup]:
    """Yield what was counted, and what it points to."""
    pen = place.pen
    yield say("• Now {}", pen.text(_now(data)))
    if "before" in data:
        yield say("• {} pending when the restart was asked for", int(data["before"]))
    if data.get("reserved") == 0:
        yield say("• No job is being worked on: no worker takes any")
    elif data.get("reserved"):
        yield say("• {} being worked on: workers are there, and slow or stuck", int(data["reserved"]))
    if data.get("failed"):
        yield say("• {} failed so far: jobs that fail again and again hold up the others", int(data["failed"]))


def _next_steps(place: Place, data: Mapping[str, Any]) -> Iterator[Markup]:
    if "next_at" in data:
        then = datetime.fromtimestamp(float(data["next_at"]), place.zone)
        yield say("The next restart by itself comes at {} at the earliest.", place.pen.text(f"{then:%H:%M %Z}"))
    yield say(
        "Look at {}, at the application's log, and at {}.",
        place.pen.text("/queue"),
        place.pen.value("php artisan queue:failed"),
    )


def _came_to_nothing(data: Mapping[str, Any]) -> str:
    match data.get("state"):
        case RestartState.UNVERIFIED:
            return "the restart was not seen to take effect"
        case RestartState.FAILED:
            return "the restart came to nothing"
    if data.get("why") == "limit":
        return f"{plural(int(data.get('made', 0)), 'restart')} within the hour did not end it"
    return "the restart did not help"


def _how_it_ended(data: Mapping[str, Any]) -> str:
    restarts = int(data.get("restarts", 0))
    by = f"after {plural(restarts, 'restart')}" if restarts else "by itself"
    return f"{by}, within {span(float(data['seconds']))}; at worst {data['worst']} pending"


def _load(event: Event, limits: Mapping[str, Any]) -> str:
    """Return the counts of an event beside their limits."""
    told = f"{event.data['pending']} pending (limit {limits['max_pending']})"
    oldest = event.data.get("oldest_seconds")
    if oldest is None:
        return told
    return f"{told}, oldest {span(oldest)} (limit {span(float(limits['max_age_seconds']))})"


def _now(data: Mapping[str, Any]) -> str:
    oldest = data.get("oldest_seconds")
    if "pending" not in data:
        return "the count is not known"
    return f"{data['pending']} pending" + (f", the oldest for {span(oldest)}" if oldest is not None else "")


def _effect(row: RequestRow) -> bool:
    return ((row.result or {}).get("verified") or {}).get("effect") is True


def _queue(place: Place, data: Mapping[str, Any]) -> Markup:
    return place.pen.value(str(data["queue"]), words.NAME_UNITS)


def _clock(place: Place, at: str) -> Markup:
    return place.pen.text(f"{datetime.fromisoformat(at).astimezone(place.zone):%H:%M}")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
