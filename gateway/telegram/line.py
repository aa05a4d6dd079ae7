"""The line in front of Telegram: what waits, who is next, and until when. No input or output, and no clock."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field, replace

from gateway.telegram.attempts import Form
from gateway.telegram.outgoing import Kind, Outcome, Outgoing, Priority, Superseded
from gateway.telegram.pace import Pace

IN_FLIGHT_MAX = 3  # calls at once, so that one that hangs does not hold up the others


@dataclass(eq=False)
class Entry:
    """Something that waits, with what holds its outcome."""

    item: Outgoing
    priority: Priority
    number: int  # its place in line
    result: asyncio.Future[Outcome]
    form: Form = field(default_factory=Form)
    not_before: float = 0.0

    def finish(self, outcome: Outcome) -> None:
        """Say how it ended, unless nobody waits for that any more."""
        if not self.result.done():
            self.result.set_result(outcome)


class Line:
    """What waits and what is under way; all times are monotonic seconds, given by the caller.

    Of one card only one thing is under way, and the rest follows in the order in which it came.
    """

    def __init__(self) -> None:
        self._waiting: list[Entry] = []
        self._busy: dict[str, Entry] = {}  # by key
        self._paces: dict[int, Pace] = {}
        self._new_ids: dict[int, int] = {}
        self._all_until = 0.0
        self._numbers = itertools.count()

    def __len__(self) -> int:
        """How much is not done yet."""
        return len(self._waiting) + len(self._busy)

    @property
    def waiting(self) -> int:
        """How much has not begun."""
        return len(self._waiting)

    def chat_of(self, item: Outgoing) -> int:
        """Return where the chat that `item` is meant for is now (A20)."""
        return self._new_ids.get(item.chat, item.chat)

    def moved(self, old: int, new: int) -> None:
        """Note that a chat has a new id."""
        for before, after in self._new_ids.items():
            if after == old:
                self._new_ids[before] = new
        self._new_ids[old] = new

    def add(self, item: Outgoing, priority: Priority, result: asyncio.Future[Outcome]) -> None:
        """Let `item` wait behind what is there of its card."""
        self._waiting.append(Entry(item, priority, next(self._numbers), result, Form(marked=item.repeat)))

    def supersede(self, item: Outgoing, priority: Priority, result: asyncio.Future[Outcome]) -> bool:
        """Put `item` into the place of an older state of the same message that has not begun, if there is one."""
        last = next((entry for entry in reversed(self._waiting) if entry.item.key == item.key), None)
        if last is None or not _is_newer_state(item, last.item):
            return False
        last.finish(Superseded())
        last.item, last.result, last.priority = item, result, min(priority, last.priority)
        last.form = Form(marked=last.form.marked or item.repeat, resent=last.form.resent)
        return True

    def take(self, now: float) -> tuple[Entry | None, float | None]:
        """Return what is to go now, being under way from then on.

        If nothing is, return how many seconds until something may; None if only news can change that.
        """
        if len(self._busy) >= IN_FLIGHT_MAX:
            return None, None
        soonest: float | None = None
        for priority, entry in self._heads():
            ready = max(entry.not_before, self._all_until, self._pace(entry).ready_at(priority))
            if ready <= now:
                self._waiting.remove(entry)
                self._busy[entry.item.key] = entry
                self._pace(entry).took(now)
                return entry, None
            soonest = ready if soonest is None else min(soonest, ready)
        return None, None if soonest is None else soonest - now

    def put_back(self, entry: Entry, not_before: float) -> None:
        """Let what was under way wait again in its old place, or give way to a newer state of the same message."""
        self.done(entry)
        entry.not_before = not_before
        of_its_card = (waiting for waiting in self._waiting if waiting.item.key == entry.item.key)
        newer = min(of_its_card, key=lambda waiting: waiting.number, default=None)
        if newer is not None and _is_newer_state(newer.item, entry.item):
            newer.form = replace(newer.form, marked=newer.form.marked or entry.form.marked, resent=entry.form.resent)
            newer.not_before = not_before
            entry.finish(Superseded())
        else:
            self._waiting.append(entry)

    def shown(self, entry: Entry, message_id: int) -> None:
        """Note that the message of this card is there: a newer state of it that waits to be sent is an edit now."""
        for waiting in self._newer_than(entry):
            waiting.item = replace(waiting.item, kind=Kind.EDIT, message_id=message_id)

    def unsure(self, entry: Entry) -> None:
        """Note that the message of this card may be there: a newer state of it is perhaps a repeat."""
        for waiting in self._newer_than(entry):
            waiting.form = replace(waiting.form, marked=True)

    def _newer_than(self, entry: Entry) -> list[Entry]:
        is_send = entry.item.kind is Kind.SEND
        return [w for w in self._waiting if is_send and (w.item.key, w.item.kind) == (entry.item.key, Kind.SEND)]

    def done(self, entry: Entry) -> None:
        """Note that it is not under way any more."""
        self._busy.pop(entry.item.key, None)

    def hold_all(self, until: float) -> None:
        """Let nothing go until then."""
        self._all_until = max(self._all_until, until)

    def hold_chat(self, entry: Entry, now: float, seconds: float) -> None:
        """Let nothing go into the chat of `entry` for so long."""
        self._pace(entry).hold(now, seconds)

    def abandon(self) -> None:
        """Cancel what waits; it has had no effect."""
        for entry in self._waiting:
            entry.result.cancel()
        self._waiting.clear()

    def _heads(self) -> list[tuple[Priority, Entry]]:
        """Return the first of each card that is not busy, as urgent as anything behind it, most urgent first."""
        heads: dict[str, tuple[Priority, Entry]] = {}
        for entry in sorted(self._waiting, key=lambda entry: entry.number):
            if entry.item.key not in self._busy:
                priority, head = heads.get(entry.item.key, (entry.priority, entry))
                heads[entry.item.key] = (min(priority, entry.priority), head)
        return sorted(heads.values(), key=lambda head: (head[0], head[1].number))

    def _pace(self, entry: Entry) -> Pace:
        chat = self.chat_of(entry.item)
        return self._paces.setdefault(chat, Pace(chat))


def _is_newer_state(new: Outgoing, old: Outgoing) -> bool:
    """Say whether `new` shows the same message as `old`: the one of its card, or one that is edited."""
    return new.kind is old.kind and new.kind in (Kind.SEND, Kind.EDIT) and new.message_id == old.message_id
