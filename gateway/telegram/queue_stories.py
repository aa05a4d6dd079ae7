"""What the chat tells of queues, read from the record. Everything here blocks.

A story is all events of one congestion (or of one time in which counts failed): they carry its name in place of a
request's id, and its message in the chat is kept under that name like a request's card.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from executor.record import audit, queue_samples, requests
from executor.record.audit import Event
from executor.record.requests import RequestRow
from executor.record.store import Reading
from gateway.schedule.queue_state import Kind
from gateway.telegram import queue_cards
from gateway.telegram.card_model import Card, Place
from gateway.telegram.queue_cards import QueueStory
from gateway.telegram.stories import is_told_in_a_story

_PREFIX = "queue."  # of the kinds of events
_CRIES = frozenset({Kind.STILL, Kind.RESTART_TROUBLE})


def is_story(subject: str) -> bool:
    """Return whether a subject of the chat is a story about queues; a request's id never begins with `_`."""
    return subject.startswith("_")


def card_of_story(view: Reading, place: Place, subject: str) -> Card | None:
    """Return the message of a story as it should stand in the chat, or None where nothing is known of it."""
    events = _events(view, subject)
    if not events:
        return None
    rows = {name: row for name in sorted(_named(events)) if (row := requests.get(view, name)) is not None}
    return queue_cards.story_card(place, QueueStory(tuple(events), rows))


def stories_in(view: Reading, events: Iterable[Event], rows: Iterable[RequestRow]) -> tuple[str, ...]:
    """Return the stories whose messages must follow a stretch of the audit log with these requests in it."""
    found = [event.request_id for event in events if event.kind.startswith(_PREFIX)]
    raised = {row.id for row in rows if is_told_in_a_story(row)}
    if raised:
        queues = queue_samples.remembered(view).get("state", {}).get("queues", {}).values()
        # only what names this very restart: an old story, whose message is forgotten, would be sent anew
        latest = {str(queue["story"]) for queue in queues if queue.get("restarts")}
        found += [story for story in sorted(latest) if _named(_events(view, story)) & raised]
    return tuple(dict.fromkeys(found))


def notice_of(view: Reading, place: Place, event: Event) -> Card | None:
    """Return the message of its own that an event is worth: a cry for help, and that it is over."""
    if event.kind in _CRIES and event.data.get("loud"):
        return queue_cards.cry(place, event)
    if event.kind == Kind.CLEAR and _was_cried(_events(view, event.request_id), event):
        return queue_cards.relief(place, event)
    return None


def _was_cried(events: Sequence[Event], clear: Event) -> bool:
    """Whether somebody was called since all was clear the last time."""
    before = [event for event in events if event.seq < clear.seq]
    cleared = max((event.seq for event in before if event.kind == Kind.CLEAR), default=0)
    return any(event.kind in _CRIES and event.data.get("loud") for event in before if event.seq > cleared)


def _named(events: Iterable[Event]) -> set[str]:
    """Return the requests for a restart that are named in a story."""
    return {str(event.data["request"]) for event in events if event.data.get("request")}


def _events(view: Reading, subject: str) -> list[Event]:
    return [event for event in audit.events_of(view, subject) if event.kind.startswith(_PREFIX)]
