"""Which requests cannot be put to anybody any more, and why. Pure.

A request that waits for operators in a chat that is gone would wait in vain. It ends as `undeliverable`, which tells
the agent that this was no "no" (A23). Whoever sits at the host can decide until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

GRACE = timedelta(minutes=15)  # for somebody to let the bot in again, or to decide on the host
LAST_CALL = timedelta(seconds=90)  # before it would expire: more than the minute between two looks


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that waits: since when, until when, and whether its card is known to stand in the chat."""

    request_id: str
    asked_at: datetime
    expires_at: datetime
    shown: bool


@dataclass(frozen=True, slots=True)
class Reach:
    """Since when the chat is gone (no right to write there, no such bot), and since when nothing reached Telegram.

    None where it is not so.
    """

    gone_since: datetime | None = None
    silent_since: datetime | None = None


def hopeless(waiting: Iterable[Waiting], reach: Reach, now: datetime) -> Iterator[tuple[str, str]]:
    """Yield each request that is to end as undeliverable, with the reason in words.

    While the chat is gone: after the grace, counted from when it was asked and from when the chat was last there.
    While the network is: only what was never shown, directly before it would expire as if somebody had seen it.
    """
    for one in waiting:
        if reach.gone_since is not None and now - max(reach.gone_since, one.asked_at) >= GRACE:
            yield one.request_id, f"the bot has had no way into the operators' chat since {_clock(reach.gone_since)}"
        elif reach.silent_since is not None and not one.shown and one.expires_at - now <= LAST_CALL:
            yield one.request_id, f"Telegram has been out of reach since {_clock(reach.silent_since)}"


def _clock(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC")
