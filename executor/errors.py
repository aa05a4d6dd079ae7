"""What can go wrong in words that may be shown: one root, four kinds.

Anything raised that is not a `Problem` is a bug; it is caught once per request and once per process.
"""

from __future__ import annotations

_STOPPED = frozenset({"cancelled", "stopping"})  # codes of what was ended, or not begun, because the gateway stops


class Problem(Exception):
    """An expected difficulty, safe to show to the agent and to operators.

    Given `code` (stable, snake_case, for programs), `message` (what is so, one sentence) and `hint` (what to do
    about it, or empty). The text may quote foreign input; whoever shows it redacts and makes it visible.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    @property
    def stopped(self) -> bool:
        """Whether this is only because the gateway stops: it tells nothing of what was asked for."""
        return self.code in _STOPPED

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class Refused(Problem):
    """The request is not accepted; nothing was run and nothing changed."""


class Failed(Problem):
    """The operation was started and did not reach its end; the message says what state things are in."""


class TimedOut(Failed):
    """The operation passed its deadline and was ended."""


class Unavailable(Problem):
    """The host cannot do this now; the same request may succeed later."""


class ConfigError(Problem):
    """The configuration cannot be used; the process ends with exit code 78 (EX_CONFIG)."""
