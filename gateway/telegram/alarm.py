"""Says when something has happened often enough to be told, once, however it comes and goes in between (A04)."""

from __future__ import annotations

from collections import deque


class Alarm:
    """Rings when something happens `often` times within `window` seconds, then stays silent until it has not happened
    for `quiet` seconds. Counting goes by rate: a short success in between resets nothing. Times are the caller's.
    """

    def __init__(self, often: int, window: float, quiet: float) -> None:
        self._window, self._quiet = window, quiet
        self._recent: deque[float] = deque(maxlen=often)
        self._rung = False

    def happened(self, now: float) -> bool:
        """Note that it happened; return whether this is to be told now."""
        if self._recent and now - self._recent[-1] > self._quiet:
            self._rung = False
        self._recent.append(now)
        often = len(self._recent) == self._recent.maxlen and now - self._recent[0] <= self._window
        rings = often and not self._rung
        self._rung = self._rung or rings
        return rings

    def is_on(self, now: float) -> bool:
        """Return whether it has rung and not been quiet since."""
        return self._rung and now - self._recent[-1] <= self._quiet
