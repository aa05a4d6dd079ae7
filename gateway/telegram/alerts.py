"""When a trouble is worth a message: once when it begins, once when it is over, and not again at every flicker (A35).

Given what is wrong at each moment, say what is to be told. Pure but for what it remembers; the clock is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

HOLD_SECONDS = 300.0  # a trouble is over when it stayed away for so long
FLOOR_SECONDS = 3600.0  # between two messages that the same trouble has begun, whatever happened in between


@dataclass(frozen=True, slots=True)
class Alert:
    """One message: what it is about, in which words, and whether it begins or is over."""

    key: str
    words: str
    begins: bool


@dataclass(slots=True)
class _Trouble:
    words: str
    last_seen: float
    told: bool = False  # that it has begun


class Alerts:
    """Remembers which troubles there are. The key of a trouble is what it is told by, never its changing words."""

    def __init__(self, *, hold: float = HOLD_SECONDS, floor: float = FLOOR_SECONDS) -> None:
        self._hold, self._floor = hold, floor  # seconds
        self._troubles: dict[str, _Trouble] = {}
        self._told_at: dict[str, float] = {}

    def observe(self, troubles: Mapping[str, str], now: float) -> list[Alert]:
        """Given what is wrong now (in words, by key) and the moment in seconds, return what is to be told."""
        for key, words in troubles.items():
            seen = self._troubles.setdefault(key, _Trouble(words, now))
            seen.words, seen.last_seen = words, now
        return [*self._begun(now), *self._over(now)]

    def undelivered(self, alert: Alert) -> None:
        """Say that an alert reached nobody: that it has begun is told again at the next look."""
        if alert.begins:
            self._told_at.pop(alert.key, None)
            if alert.key in self._troubles:
                self._troubles[alert.key].told = False

    def _begun(self, now: float) -> list[Alert]:
        found = []
        for key, trouble in self._troubles.items():
            if not trouble.told and now - self._told_at.get(key, -self._floor) >= self._floor:
                trouble.told, self._told_at[key] = True, now
                found.append(Alert(key, trouble.words, begins=True))
        return found

    def _over(self, now: float) -> list[Alert]:
        over = [key for key, trouble in self._troubles.items() if now - trouble.last_seen >= self._hold]
        ended = [(key, self._troubles.pop(key)) for key in over]
        return [Alert(key, trouble.words, begins=False) for key, trouble in ended if trouble.told]
