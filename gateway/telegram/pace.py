"""How fast a chat may be written to: Telegram's limits, kept before Telegram has to say so. No clock in here."""

from __future__ import annotations

from collections import deque

from gateway.telegram.outgoing import Priority

# Bot FAQ, "My bot is hitting limits": about one message a second in a chat, 20 a minute in a group. Edits count.
INTERVAL = 1.0  # s
GROUP_WINDOW = 60.0  # s
GROUP_LIMIT = 20  # in any window
# How many of those each priority leaves to the more urgent ones, so that neither chatter nor the end of one request
# makes the question about another wait.
LEFT_TO_OTHERS = {Priority.APPROVAL: 0, Priority.DECIDED: 6, Priority.CARD: 8, Priority.ROUTINE: 12}
HOLD_MARGIN = 1.0  # s, on top of the wait that Telegram asked for


class Pace:
    """The pace of one chat; all times are monotonic seconds, given by the caller."""

    def __init__(self, chat: int) -> None:
        self._is_group = chat < 0
        self._recent: deque[float] = deque(maxlen=GROUP_LIMIT)
        self._held_until = 0.0

    def ready_at(self, priority: Priority) -> float:
        """Return from when on something of this priority may go."""
        if not self._recent:
            return self._held_until
        earliest = max(self._held_until, self._recent[-1] + INTERVAL)
        limit = GROUP_LIMIT - LEFT_TO_OTHERS[priority]
        if self._is_group and len(self._recent) >= limit:
            earliest = max(earliest, self._recent[-limit] + GROUP_WINDOW)
        return earliest

    def took(self, now: float) -> None:
        """Note that something goes now."""
        self._recent.append(now)

    def hold(self, now: float, seconds: float) -> None:
        """Let nothing go for `seconds`, as Telegram asked (A12)."""
        self._held_until = max(self._held_until, now + seconds + HOLD_MARGIN)
