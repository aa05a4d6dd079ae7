"""People who are no operators and try all the same: recorded and reported, at a rate that they cannot raise (A26)."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.telegram.authorise import Stranger

if TYPE_CHECKING:
    from gateway.telegram.desk import Desk

EACH_SECONDS = 600.0  # between two reports of one person
ALL_SECONDS, ALL_MOST = 3600.0, 10  # reports in an hour, of all people together
PEOPLE_MOST = 1_000  # remembered; the longest silent are forgotten first
TRIED_MOST = 200  # characters of what was tried


@dataclass(slots=True)
class _Person:
    reported_at: float | None = None
    unreported: int = 0


class Strangers:
    """Counts tries, and says when they are worth a report. Times are seconds, given by the caller."""

    def __init__(self) -> None:
        self._people: OrderedDict[int | None, _Person] = OrderedDict()
        self._reports: list[float] = []

    def to_be_told(self, user_id: int | None, now: float) -> int:
        """Note a try; return how many tries of this person are to be reported now, 0 for none yet."""
        person = self._people.setdefault(user_id, _Person())
        self._people.move_to_end(user_id)
        if len(self._people) > PEOPLE_MOST:
            self._people.popitem(last=False)
        person.unreported += 1
        self._reports = [at for at in self._reports if now - at < ALL_SECONDS]
        too_soon = person.reported_at is not None and now - person.reported_at < EACH_SECONDS
        if too_soon or len(self._reports) >= ALL_MOST:
            return 0
        self._reports.append(now)
        person.reported_at, tries, person.unreported = now, person.unreported, 0
        return tries


def record(desk: Desk, stranger: Stranger, tried: str, times: int) -> None:
    """Write down who tried what; the chat is told from there."""
    data = {
        "user": stranger.user_id,
        "name": stranger.name[:TRIED_MOST],
        "why": stranger.why,
        "tried": tried[:TRIED_MOST],
        "times": times,
    }
    with desk.store.transaction() as tx:
        tx.append("chat.stranger", data=data)
