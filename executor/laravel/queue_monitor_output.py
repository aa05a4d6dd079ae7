"""Read what `artisan queue:monitor` prints: the tables of Laravel 8 to 12 and the JSON of 13. Pure, and never raises.

Three forms, each known from the command's own source:

    | redis      | emails  | 5    | ALERT  |              8: columns Connection, Queue, Size, Status
    [redis] emails .................... [5] ALERT          9 to 12, and 12 onwards with lines below it such as
    Pending jobs .............................. 3
    [{"connection":"redis","queue":"emails","size":5,"pending":3,…}]        13, with --json

The size is the sum of pending, delayed and reserved jobs. Where only the sum is told it counts as pending.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from executor.laravel.model import QueueCount

ONLY_THE_SUM = "this Laravel tells only the sum of pending, delayed and reserved jobs"

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[()][A-Z0-9]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_CELLS = re.compile(r"[|│┃║]")
_DETAIL = re.compile(r"\s*\[(?P<connection>[^\]]*)\]\s+(?P<queue>\S+)[ .·]*\s\[(?P<size>\d{1,15})\]\s*\w*\s*")
_PART = re.compile(r"\s*(?P<name>Pending|Delayed|Reserved) jobs[ .·]*\s(?P<count>\d{1,15}|N/A)\s*")


def read_output(text: str, now: float) -> Mapping[str, QueueCount]:
    """Return the counts by queue that `text` tells of; what it does not tell of is not there."""
    plain = _ANSI.sub("", text)
    return _from_json(plain, now) or _from_lines(plain)


def _from_json(text: str, now: float) -> dict[str, QueueCount]:
    """Read the one line that is a JSON list; PHP may have printed notices around it."""
    for line in text.splitlines():
        if not line.lstrip().startswith("[{"):
            continue
        try:
            entries = json.loads(line)
        except (ValueError, RecursionError):
            continue
        found = [_of_entry(entry, now) for entry in entries if isinstance(entry, dict)]
        return {count.queue: count for count in found if count is not None}
    return {}


def _of_entry(entry: Mapping[str, object], now: float) -> QueueCount | None:
    queue = entry.get("queue")
    if not isinstance(queue, str):
        return None
    size, pending = _number(entry.get("size")), _number(entry.get("pending"))
    if pending is None:
        return _sum(queue, size) if size is not None else None
    oldest = _number(entry.get("oldest_pending"))
    return QueueCount(
        queue,
        pending=pending,
        delayed=_number(entry.get("delayed")),
        reserved=_number(entry.get("reserved")),
        oldest_seconds=max(0.0, now - oldest) if oldest else None,
    )


def _from_lines(text: str) -> dict[str, QueueCount]:
    found: dict[str, QueueCount] = {}
    parts: dict[str, dict[str, int]] = {}
    queue = ""
    for line in text.splitlines():
        if (sized := _sized(line)) is not None:
            queue, size = sized
            found[queue] = _sum(queue, size)
        elif queue and (match := _PART.fullmatch(line)) and match["count"] != "N/A":
            parts.setdefault(queue, {})[match["name"].lower()] = int(match["count"])
    for name, told in parts.items():
        if "pending" in told:
            found[name] = QueueCount(name, told["pending"], told.get("delayed"), told.get("reserved"))
    return found


def _sized(line: str) -> tuple[str, int] | None:
    """Return a queue and its size, where a line tells of them."""
    if match := _DETAIL.fullmatch(line):
        return match["queue"].rstrip(".") or match["queue"], int(match["size"])
    cells = [cell.strip() for cell in _CELLS.split(line)]
    if len(cells) == 6 and cells[0] == cells[5] == "" and cells[2] and re.fullmatch(r"\d{1,15}", cells[3], re.ASCII):
        return cells[2], int(cells[3])
    return None


def _sum(queue: str, size: int) -> QueueCount:
    return QueueCount(queue, pending=size, problem=ONLY_THE_SUM if size else "")


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15 else None
