"""Lengths of time, sizes and numbers of things as people say them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

_SPANS = (("days", 86_400), ("h", 3_600), ("min", 60))
_SIZES = (("TB", 1000**4), ("GB", 1000**3), ("MB", 1000**2), ("kB", 1000))


def span(seconds: float) -> str:
    """Return a length of time in one unit, rounded: "45 s", "1 min", "90 s", "3 h", "2 days"."""
    for unit, size in _SPANS:
        if seconds >= 2 * size or (size < 86_400 and seconds == size):
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def age(moment: datetime | None, now: datetime) -> str:
    """Return how long ago a moment was, or how far ahead it is: "45 s ago", "in 3 h"; "never" for none."""
    if moment is None:
        return "never"
    seconds = (now - moment).total_seconds()
    return f"{span(seconds)} ago" if seconds >= 0 else f"in {span(-seconds)}"


def size(count: float) -> str:
    """Return a number of bytes in one unit: "1.4 GB"."""
    for unit, least in _SIZES:
        if count >= least:
            return f"{count / least:.1f} {unit}" if count < 10 * least else f"{count / least:.0f} {unit}"
    return f"{count:.0f} bytes"


def plural(number: int, noun: str) -> str:
    """Return so many things: "1 request", "2 requests"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def several(names: Sequence[str], most: int) -> str:
    """Return names in a sentence, at most so many of them: "a, b and 3 more"."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
