"""The audit log for other eyes: lines of text for `commands.log`, JSON Lines for programs. Both resume by number."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from executor.errors import Failed, Unavailable
from executor.record.audit import Event, events_since
from executor.record.display import visible
from executor.record.schema import canonical_json
from executor.record.store import Store

_BATCH = 1_000  # events read and written at once
_TAIL = 1024 * 1024  # bytes; far more than the longest line, so the last whole line lies within
_BEGINNING = b'{"at":"'  # of every line; tells our own torn first line from another file
_BARE = re.compile(r"[\w./:@+,-]+")  # values that need no quotes to be read as one word


def text_line(event: Event) -> str:
    """Return an event as one line of text: time, number, request, kind, then `name=value` in alphabetical order.

    Values that are not one plain word are JSON; what is empty or false is left out (the JSON form has it). What hides
    is written out (`display.visible`); secrets were masked when the event was written. No line end.
    """
    told = [f"{name}={_value(value)}" for name, value in sorted(event.data.items()) if _says_something(value)]
    return visible(" ".join([event.at, f"#{event.seq}", event.request_id or "-", event.kind, *told]))


def json_line(event: Event) -> str:
    """Return an event as one line of JSON, its hash included, so that the chain can be checked elsewhere too."""
    return canonical_json({name: getattr(event, name) for name in Event.__slots__})


def lines_since(store: Store, seq: int, limit: int = _BATCH) -> list[tuple[int, str]]:
    """Return up to `limit` (number, text line) of the events after number `seq`, oldest first."""
    with store.reading() as tx:
        return [(event.seq, text_line(event)) for event in events_since(tx, seq, limit)]


def export_jsonl(store: Store, path: Path) -> int:
    """Bring the JSON Lines file at `path` up to the present end of the log; return how many events were added.

    Continues after the last whole line; a torn one (a crash, a full disk) is removed first. The file is made for our
    eyes only. Raises Failed when it does not belong to this log, Unavailable when it cannot be written.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            added = 0
            for lines in _json_lines(store, _resume(store, path, file)):
                file.write("".join(f"{line}\n" for line in lines).encode())
                added += len(lines)
            file.flush()
            os.fsync(file.fileno())
            return added
    except OSError as error:
        what = f"the export {path} cannot be written: {error.strerror}"
        raise Unavailable("export_unwritable", what, "check the disk and the path, then export again") from error


def _says_something(value: object) -> bool:
    return value is not None and value is not False and (not isinstance(value, str | list | dict) or bool(value))


def _value(value: object) -> str:
    if isinstance(value, str) and _BARE.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _json_lines(store: Store, seq: int) -> Iterator[list[str]]:
    while True:
        with store.reading() as tx:
            events = events_since(tx, seq, _BATCH)
        if not events:
            return
        yield [json_line(event) for event in events]
        seq = events[-1].seq


def _resume(store: Store, path: Path, file: BinaryIO) -> int:
    """Return the number of the last event in the file; cut off a torn line after it and stand at the end."""
    size = file.seek(0, os.SEEK_END)
    start = file.seek(max(0, size - _TAIL))
    tail = file.read()
    whole = tail[: tail.rfind(b"\n") + 1]
    torn = tail[len(whole) :]
    seq = _seq_in_log(store, whole.splitlines()[-1]) if whole else 0
    ours = seq > 0 if whole else start == 0 and torn[: len(_BEGINNING)] == _BEGINNING[: len(torn)]
    if not ours:
        what = f"{path} does not end with an event of this log"
        raise Failed("export_foreign", what, "move the file away, export anew, and compare the two")
    file.seek(start + len(whole))
    file.truncate()
    return seq


def _seq_in_log(store: Store, line: bytes) -> int:
    """Return the number of the event that `line` holds, 0 when the log has no such event."""
    try:
        exported = json.loads(line)
        seq, sealed = int(exported["seq"]), str(exported["hash"])
    except (ValueError, KeyError, TypeError):
        return 0
    with store.reading() as tx:
        found = events_since(tx, seq - 1, 1)
    return seq if found and (found[0].seq, found[0].hash) == (seq, sealed) else 0
