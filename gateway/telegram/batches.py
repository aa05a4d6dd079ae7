"""What a stretch of the audit log means for the chat: which cards must follow it, and what is said once.

The log is the outbox: what is said stands in it before anybody is told, so nothing has to be remembered elsewhere,
and after an outage many events come to few messages by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from executor.outcome import State
from executor.record import audit, cards, requests
from executor.record.audit import Event
from executor.record.controls import Freeze
from executor.record.requests import RequestRow
from executor.record.schema import timestamp
from executor.record.store import Reading
from gateway import settings as configuration
from gateway.telegram import digests, notices, queue_stories
from gateway.telegram.card_model import Card
from gateway.telegram.stories import has_card, is_told_in_a_story, waiting

if TYPE_CHECKING:
    from gateway.telegram.desk import Desk

STRETCH = 500  # events looked at together: bounds memory, and how long an edit waits behind a flood
AFTER_OUTAGE = 4_000  # the same for what is told as one digest
AWAY_SECONDS = 600.0  # events that waited longer are told as a digest
ENDED_AT_ONCE = 5  # requests nobody has seen yet that get a card each when they end; more are told in one message
# In a crowd of cards that nobody was asked about no more of them are begun: whoever raises flags that are refused, or
# fail, must not push the card that matters out of sight.
CROWD, CROWD_WINDOW = 10, timedelta(minutes=10)

_FINAL = frozenset(f"request.{state}" for state in State if state.final)


@dataclass(frozen=True, slots=True)
class Notice:
    """A message that is sent once and never edited. `important` ones are repeated, marked, if they may be lost.

    `repeat` says that one like it may be there already.
    """

    key: str
    card: Card
    important: bool = True
    silent: bool = False
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """The events up to number `upto`: the requests whose cards must follow, what is said once.

    `routine` says that nothing in it is in a hurry, `alarms` that it has an alarm that makes a sound, `flood` that it
    tells quietly of what would make a sound at other times.
    """

    upto: int
    subjects: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    routine: bool = True
    alarms: bool = False
    flood: bool = False


def next_batch(desk: Desk, after: int, *, waited: bool = False, alarmed: bool = False) -> Batch | None:
    """Return the next stretch of the log after event `after`, or None when there is nothing new. Blocks.

    `waited` says that it was left lying for a while, so that there may be much; `alarmed` that operators heard of
    suspicious flags a moment ago, and need not hear it again so soon.
    """
    with desk.store.reading() as view:
        events = audit.events_since(view, after, AFTER_OUTAGE if waited else STRETCH)
        if not events:
            return None
        away = _seconds(events[0].at, view.at)
        if away > AWAY_SECONDS and len(events) == STRETCH:
            events += audit.events_since(view, events[-1].seq, AFTER_OUTAGE - STRETCH)
        rows = list(_rows(view, events))
        begun = set(cards.cards_of(view, [row.id for row in rows]))  # also what is just being sent for the first time
        since = timestamp(datetime.fromisoformat(view.at) - CROWD_WINDOW)
        crowded = cards.unasked_since(view, since) >= CROWD
        found = _sorted_out(events, rows, begun, crowded=crowded)
        once = list(_said_once(desk, view, events))
        told = [*once, *_in_few_words(desk, events[-1].seq, found, rows, away, alarmed=alarmed, crowded=crowded)]
        stories = queue_stories.stories_in(view, events, rows)
    subjects = (*(row.id for row in found.cards), *stories)
    routine = not subjects and all(notice.silent for notice in told)
    alarms = bool(found.suspicious) and not alarmed
    flood = (bool(found.suspicious) and alarmed) or (bool(found.together) and crowded)
    return Batch(events[-1].seq, subjects, tuple(told), routine, alarms, flood)


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Requests by how they are told: each in a card, together as suspicious, together in few words."""

    cards: Sequence[RequestRow]
    suspicious: Sequence[RequestRow]
    together: Sequence[RequestRow]


def _rows(view: Reading, events: Sequence[Event]) -> Iterator[RequestRow]:
    """Yield the requests that events are about, without their bulk."""
    for request_id in dict.fromkeys(event.request_id for event in events if event.request_id):
        row = requests.get(view, request_id)
        if row is not None:
            yield replace(row, output=None, text="")


def _sorted_out(events: Sequence[Event], rows: Sequence[RequestRow], begun: set[str], *, crowded: bool) -> _Sorted:
    """Sort requests; what ended is told where its last event stands, so that it is told once."""
    ended_here = {event.request_id for event in events if event.kind in _FINAL}
    carded = [row for row in rows if has_card(row)]
    unseen = [row for row in carded if row.state.final and row.id not in begun]
    suspicious = [row for row in unseen if row.state is State.REFUSED and _is_suspicious(row)]
    unseen = [row for row in unseen if row not in suspicious]
    too_many = unseen if crowded or len(unseen) > ENDED_AT_ONCE else []
    routine = [row for row in rows if not has_card(row) and row.state.final and not is_told_in_a_story(row)]
    apart = {row.id for row in (*suspicious, *too_many)}
    return _Sorted(
        [row for row in carded if row.id not in apart],
        [row for row in suspicious if row.id in ended_here],
        [row for row in (*too_many, *routine) if row.id in ended_here],
    )


def _is_suspicious(row: RequestRow) -> bool:
    error = (row.result or {}).get("error") or {}
    return notices.is_tampering(str(error.get("code", "")))


def _in_few_words(
    desk: Desk,
    seq: int,
    found: _Sorted,
    rows: Sequence[RequestRow],
    away: float,
    *,
    alarmed: bool,
    crowded: bool,
) -> Iterator[Notice]:
    if found.suspicious:
        yield Notice(f"_suspicious:{seq}", notices.tampering(desk.place, found.suspicious), silent=alarmed)
    if away > AWAY_SECONDS and any(row.state.final for row in rows):
        yield Notice(f"_digest:{seq}", digests.while_away(desk.place, away, rows))
        return
    quiet = desk.settings.telegram_quiet
    told = [row for row in found.together if not (quiet and row.state is State.SUCCEEDED)]
    if told:
        well = all(row.state is State.SUCCEEDED for row in told)
        yield Notice(f"_routine:{seq}", digests.routine(desk.place, told), silent=well or crowded)


def _said_once(desk: Desk, view: Reading, events: Sequence[Event]) -> Iterator[Notice]:
    """Yield what events that concern no request are worth; of several starts the last."""
    last_start = max((event.seq for event in events if event.kind == "gateway.started"), default=0)
    for event in events:
        card = _notice(desk, view, event, last_start)
        if card is not None:
            yield Notice(f"_event:{event.seq}", card)


def _notice(desk: Desk, view: Reading, event: Event, last_start: int) -> Card | None:
    place, data = desk.place, event.data
    match event.kind:
        case "control.frozen":
            return notices.frozen(place, Freeze(str(data["reason"]), str(data["by"]), event.at))
        case "control.unfrozen":
            return notices.unfrozen(place, str(data["by"]))
        case "gateway.started" if event.seq == last_start:
            unsafe = configuration.unsafe_choices(desk.settings)
            return notices.started(place, data, unsafe=unsafe, waiting=len(waiting(view)))
        case "chat.stranger":
            return notices.stranger(place, str(data["name"]), data["user"], str(data["tried"]), int(data["times"]))
    return queue_stories.notice_of(view, place, event)


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
