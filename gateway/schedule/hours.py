"""Business hours: when somebody is there. Pure; moments are aware, and a zone is given with every question.

Hours are what a clock on the wall of that zone shows: in the hour that a change of the clocks repeats they count
twice, and what it skips does not exist (B08). Written as `Mon-Fri 09:00-12:00, 13:00-18:00; Sat 10:00-12:00`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FULL = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_EXAMPLE = "write it like: Mon-Fri 09:00-18:00; Sat 10:00-12:00"
_DAY_MINUTES = 24 * 60
_PART = re.compile(r"(?P<days>[A-Za-z][A-Za-z \-]*?)?\s*(?P<times>[0-9].*)?")
_TIMES = re.compile(r"(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})", re.ASCII)
_AHEAD = timedelta(days=14)  # how far it is looked for the next business hours
_STEP = timedelta(hours=6)  # no zone changes its offset twice within it


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of the day, in minutes after midnight. `end` is past 24 h where it ends on the day after."""

    days: frozenset[int]  # on which it begins; Monday is 0
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Hours:
    """When it is business time. A window belongs to the day on which it begins: on a holiday none begins."""

    windows: tuple[Window, ...]
    holidays: frozenset[date] = frozenset()


def parse_hours(text: str, holidays: Iterable[date] = ()) -> Hours:
    """Read hours such as `Mon-Fri 09:00-18:00; Sat 22:00-02:00`, or `always`, or `never`.

    Windows are separated by `;` or `,`; one without days has those of the window before it. Raise ValueError with
    what is wrong and how it is written.
    """
    said = text.replace("–", "-").strip()
    if said.lower() == "never":
        return Hours(())
    if said.lower() == "always":
        said = "Mon-Sun 00:00-24:00"
    windows: list[Window] = []
    days: frozenset[int] = frozenset()  # of the window before, or of the parts before that named no times
    open_list = False
    for part in filter(None, (piece.strip() for piece in re.split(r"[;,]", said))):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} cannot be read; {_EXAMPLE}")
        if match["days"]:
            named = _days(match["days"])
            days = days | named if open_list else named
        open_list = not match["times"]
        if match["times"]:
            if not days:
                raise ValueError(f"on which days is {part!r}? Mon-Sun is every day; {_EXAMPLE}")
            windows.append(Window(days, *_times(match["times"])))
    if open_list or not windows:
        raise ValueError(f"{text!r} names no times; {_EXAMPLE}")
    return Hours(tuple(windows), frozenset(holidays))


def within(hours: Hours, zone: ZoneInfo, moment: datetime) -> bool:
    """Return whether `moment` is business time by the clocks of `zone`. A window includes its begin, not its end."""
    if moment.tzinfo is None:
        raise ValueError("a moment without a time zone")
    local = moment.astimezone(zone)
    minutes = local.hour * 60 + local.minute  # a window begins and ends on whole minutes
    yesterday = local.date() - timedelta(days=1)
    return _covered(hours, local.date(), minutes) or _covered(hours, yesterday, minutes + _DAY_MINUTES)


def spans(hours: Hours, zone: ZoneInfo, begin: datetime, end: datetime) -> tuple[tuple[datetime, datetime], ...]:
    """Return the stretches of business time between two moments, in order, in UTC; `within` is true just in them."""
    found: list[tuple[datetime, datetime]] = []
    for piece in _pieces(zone, begin.astimezone(UTC), end.astimezone(UTC)):
        for opens, closes in sorted(_in_piece(hours, *piece)):
            if found and opens <= found[-1][1]:
                found[-1] = found[-1][0], max(closes, found[-1][1])
            else:
                found.append((opens, closes))
    return tuple(found)


def next_opening(hours: Hours, zone: ZoneInfo, moment: datetime) -> datetime | None:
    """Return from when on it is business time: `moment` itself where it is already, None for no time soon."""
    ahead = spans(hours, zone, moment, moment + _AHEAD)
    return ahead[0][0] if ahead else None


def _covered(hours: Hours, day: date, minutes: int) -> bool:
    """Say whether a window that begins on `day` holds the moment so many minutes after that day's midnight."""
    return day not in hours.holidays and any(
        day.weekday() in window.days and window.begin <= minutes < window.end for window in hours.windows
    )


def _in_piece(hours: Hours, begin: datetime, end: datetime, offset: timedelta) -> Iterator[tuple[datetime, datetime]]:
    """Yield the windows between two moments between which the zone has that offset from UTC."""
    day, last = (begin + offset).date() - timedelta(days=1), (end + offset).date()
    while day <= last:
        midnight = datetime.combine(day, time(), UTC) - offset
        for window in hours.windows:
            if day.weekday() in window.days and day not in hours.holidays:
                opens = max(begin, midnight + timedelta(minutes=window.begin))
                closes = min(end, midnight + timedelta(minutes=window.end))
                if opens < closes:
                    yield opens, closes
        day += timedelta(days=1)


def _pieces(zone: ZoneInfo, begin: datetime, end: datetime) -> Iterator[tuple[datetime, datetime, timedelta]]:
    """Cut the time between two moments where the zone changes its offset from UTC; yield the pieces with theirs."""
    here, piece = begin, begin
    while here < end:
        there = min(here + _STEP, end)
        if _offset(zone, here) != _offset(zone, there):
            change = _change(zone, here, there)
            yield piece, change, _offset(zone, here)
            piece = change
        here = there
    if piece < end:
        yield piece, end, _offset(zone, piece)


def _change(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """Return the first moment, to the second, that has the offset of `after`; `before` has another one."""
    low, high = 0, int((after - before).total_seconds()) + 1
    base = before.replace(microsecond=0)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(zone, base + timedelta(seconds=middle)) == _offset(zone, before):
            low = middle
        else:
            high = middle
    return base + timedelta(seconds=high)


def _offset(zone: ZoneInfo, moment: datetime) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


def _days(text: str) -> frozenset[int]:
    first, dash, last = (word.strip() for word in text.partition("-"))
    begin = _day(first)
    end = _day(last) if dash else begin
    return frozenset((begin + step) % 7 for step in range((end - begin) % 7 + 1))


def _day(word: str) -> int:
    for names in (_DAYS, _FULL):
        if word.lower() in names:
            return names.index(word.lower())
    raise ValueError(f"{word!r} is no day of the week; days are Mon, Tue, Wed, Thu, Fri, Sat, Sun")


def _times(text: str) -> tuple[int, int]:
    match = _TIMES.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no stretch of the day; write it like 09:00-18:00")
    hours = int(match[1]), int(match[3])
    minutes = int(match[2]), int(match[4])
    begin, end = hours[0] * 60 + minutes[0], hours[1] * 60 + minutes[1]
    if max(minutes) > 59 or begin >= _DAY_MINUTES or end > _DAY_MINUTES:
        raise ValueError(f"{text!r} names a time that no day has; times go from 00:00 to 24:00")
    if begin == end:
        raise ValueError(f"{text!r} ends when it begins; the whole day is 00:00-24:00")
    return begin, end if end > begin else end + _DAY_MINUTES
