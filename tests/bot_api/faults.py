"""What can go wrong with a call, as one value: whether it has its effect, and what the caller gets to see."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Ending(Enum):
    """How the call ends for the caller."""

    ANSWER = "an answer with a status and a description"
    RESET = "the connection is reset"
    STALL = "no answer, until the caller gives up"
    GARBAGE = "an answer that is not JSON, with the address that was asked in it"


@dataclass(frozen=True)
class Fault:
    """One fault. With `applied` the call has its effect all the same, which the caller cannot know."""

    ending: Ending
    applied: bool = False
    status: int = 200
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)


def error(status: int, description: str, **parameters: Any) -> Fault:
    """Telegram refuses the call."""
    return Fault(Ending.ANSWER, status=status, description=description, parameters=parameters)


def flood(seconds: int) -> Fault:
    """Too many requests: again after `seconds`."""
    return error(429, f"Too Many Requests: retry after {seconds}", retry_after=seconds)


def server_error(status: int = 500, *, applied: bool = False) -> Fault:
    """Telegram fails; perhaps after it did what was asked."""
    return Fault(Ending.ANSWER, applied, status, "Internal Server Error")


def reset(*, applied: bool = False) -> Fault:
    """The connection is reset instead of an answer."""
    return Fault(Ending.RESET, applied)


def stall(*, applied: bool = False) -> Fault:
    """No answer comes: a read time-out for the caller."""
    return Fault(Ending.STALL, applied)


def garbage(*, applied: bool = False) -> Fault:
    """A proxy in between answers with a page of its own."""
    return Fault(Ending.GARBAGE, applied)
