"""What to do after a call failed: again, in which form and when, or never. Pure; the only place that decides it.

Repeating is safe where the call surely had no effect (NotDone, Flood), and where doing it twice comes to the same
(edits, deletions). A new message after an uncertain end is not: there is no key that would let Telegram recognise
it, and so operators saw one alert nine times (A10).
"""

from __future__ import annotations

import html as markup
import re
from dataclasses import dataclass, replace
from enum import Enum

from executor.record.display import utf16_length
from gateway.telegram import failures
from gateway.telegram.failures import CallFailed, Fault, Lost
from gateway.telegram.outgoing import (
    CAPTION_ROOM,
    TEXT_ROOM,
    Declined,
    Delivered,
    Kind,
    Outcome,
    Outgoing,
    Uncertain,
    Vanished,
)

REPEATS_MAX = 8  # of something uncertain that may be repeated: with the back-off below about 3 minutes
_BACKOFF_MAX = 60.0  # s
_UNAUTHORISED_WAIT = 60.0  # s
_MARK = "may be a repeat: Telegram did not confirm the first one"
_HERE = "its topic is gone, so it is shown here"
_CUT = "cut here: the whole text is in the file below"
_TAG = re.compile(r"<[^<>]*>")


class Scope(Enum):
    """What has to wait."""

    ITEM = "this one"
    CHAT = "its chat"
    ALL = "everything"


@dataclass(frozen=True)
class Form:
    """How an item goes out this time."""

    marked: bool = False  # as perhaps a repeat
    resent: bool = False  # after an uncertain end
    plain: bool = False  # without markup
    cut: bool = False  # its beginning only; the whole text follows as a file
    general: bool = False  # into the main chat instead of its topic
    tries: int = 0


@dataclass(frozen=True)
class Again:
    """Make it again in this form, after `seconds`, during which all of `scope` waits."""

    form: Form
    scope: Scope
    seconds: float
    reason: str
    moved_to: int | None = None  # the new id of the chat


@dataclass(frozen=True)
class Over:
    """Nothing more to be done."""

    outcome: Outcome


def backoff(failures_so_far: int) -> float:
    """Return how many seconds to wait after that many failures in a row: 1, 2, 4 and so on to a minute."""
    return float(min(_BACKOFF_MAX, 2.0 ** min(failures_so_far, 10)))


def next_step(item: Outgoing, form: Form, failure: CallFailed) -> Again | Over:
    """Given an item, the form in which it was tried, and what became of that, return what to do."""
    tried = replace(form, tries=form.tries + 1)
    reason = failure.message
    match failure:
        case failures.Unmodified():
            return Over(Delivered(item.chat, item.message_id or 0, item.topic))
        case failures.Flood():
            return Again(form, Scope.CHAT, failure.retry_after, reason)
        case failures.NotDone():
            return Again(form, Scope.ALL, 0.0, reason)
        case failures.Unauthorised():
            return Again(form, Scope.ALL, _UNAUTHORISED_WAIT, reason)
        case failures.Migrated():
            return Again(tried, Scope.ITEM, 0.0, reason, failure.new_chat_id)
        case failures.Ambiguous():
            return _after_uncertain_end(item, tried, reason)
        case failures.Gone():
            return _after_loss(item, tried, failure)
        case failures.Rejected():
            return _after_rejection(item, tried, failure)
        case _:
            return Over(Declined(reason))


def _after_uncertain_end(item: Outgoing, tried: Form, reason: str) -> Again | Over:
    wait = backoff(tried.tries)
    if item.kind in (Kind.EDIT, Kind.DELETE):
        # not for ever: one that Telegram fails on each time would never end
        return Again(tried, Scope.ITEM, wait, reason) if tried.tries < REPEATS_MAX else Over(Uncertain(reason))
    if item.important and not tried.resent:
        return Again(replace(tried, resent=True, marked=True), Scope.ITEM, wait, reason)
    return Over(Uncertain(reason))


def _after_loss(item: Outgoing, tried: Form, failure: failures.Gone) -> Again | Over:
    if failure.what is Lost.TOPIC and not tried.general:
        return Again(replace(tried, general=True), Scope.ITEM, 0.0, failure.message)
    if failure.what is Lost.MESSAGE and item.kind is Kind.DELETE:
        return Over(Delivered(item.chat, item.message_id or 0))
    return Over(Vanished(failure.what, failure.message))


def _after_rejection(item: Outgoing, tried: Form, failure: failures.Rejected) -> Again | Over:
    if failure.fault is Fault.PARSE and not tried.plain:
        return Again(replace(tried, plain=True), Scope.ITEM, 0.0, failure.message)
    # what somebody decides on by a button is shown in full or not at all (A31)
    if failure.fault is Fault.TOO_LONG and not tried.cut and not item.buttons:
        return Again(replace(tried, cut=True), Scope.ITEM, 0.0, failure.message)
    return Over(Declined(failure.message))


def text_of(item: Outgoing, form: Form) -> tuple[str, bool]:
    """Return what to show for `item` in this form, and whether it is HTML."""
    is_file = item.kind.is_file
    wanted = ((form.marked, _MARK), (form.general, _HERE), (form.cut and not is_file, _CUT))
    notes = [note for is_wanted, note in wanted if is_wanted]
    if form.plain or form.cut:
        room = CAPTION_ROOM if is_file else TEXT_ROOM
        whole = plain_of(item)
        return "\n\n".join(
            [_beginning(whole, room) if form.cut else whole, *(f"({note})" for note in notes)]
        ).strip(), False
    return "\n\n".join([item.html, *(f"<i>({note})</i>" for note in notes)]).strip(), True


def plain_of(item: Outgoing) -> str:
    """Return the text of an item without markup."""
    return item.plain or markup.unescape(_TAG.sub("", item.html))


def _beginning(text: str, room: int) -> str:
    """Return as much of the beginning of `text` as fits into `room` UTF-16 units (A18)."""
    text = text[:room]
    while utf16_length(text) > room:
        text = text[: -max(1, (utf16_length(text) - room) // 2)]
    return text
