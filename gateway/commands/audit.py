"""`ops-gateway audit show|verify|export|accept`: the audit log, read, proved, copied out, and taken as it is."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from executor.errors import Refused
from executor.record import audit
from executor.record.chain import Head
from executor.record.exports import export_jsonl, json_line, text_line
from executor.record.store import Store
from gateway import settings as configuration
from gateway import wiring
from gateway.cli import own_user
from gateway.commands.terminal import heading, paragraph

_BAR = 40  # columns


def arguments(_verb: str, parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parts = parser.add_subparsers(dest="part", required=True, metavar="show|verify|export|accept")
    show = parts.add_parser("show", help="the latest events", allow_abbrev=False)
    show.add_argument("--limit", type=int, default=50, help="how many (default: 50)")
    show.add_argument("--json", action="store_true", help="one JSON object a line")
    verify = parts.add_parser("verify", help="prove that nothing was changed, removed or cut off", allow_abbrev=False)
    verify.add_argument(
        "--anchor",
        action="append",
        default=[],
        metavar="SEQ:HASH",
        help="an end of the log that was noted elsewhere, as the chat shows it; may be given several times",
    )
    export = parts.add_parser("export", help="bring a JSON Lines file up to date", allow_abbrev=False)
    export.add_argument("file", type=Path)
    accept = parts.add_parser("accept", help="after a restored backup: take the log's present end as right")
    accept.add_argument("--reason", required=True, help="for the record, which keeps what was wrong")


def run(options: argparse.Namespace) -> int:
    """Do the part. Return 1 when the log does not verify."""
    settings = configuration.load()
    with wiring.record(settings) as store:
        if options.part == "show":
            with store.reading() as reading:
                events = audit.last_events(reading, max(0, options.limit))
            for event in events:
                print(json_line(event) if options.json else text_line(event))
            return 0
        if options.part == "export":
            print(f"{export_jsonl(store, options.file)} events added to {options.file}")
            return 0
        if options.part == "accept":
            end = audit.accept(store, own_user(), options.reason)
            print(heading(f"accepted, and recorded: the log ends at {end.seq}:{end.hash}"))
            return 0
        return _verify(store, [_head(each) for each in options.anchor])


def _verify(store: Store, posted: list[Head]) -> int:
    verdict = audit.verify(store, progress=_progress if sys.stderr.isatty() else None, posted=posted)
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    if verdict.found is not None:
        print(heading(f"NOT whole: {verdict.found.kind}", "bad"))
        print(paragraph("what", verdict.found.message))
        print(paragraph("good", f"{verdict.events} events before it"))
        return 1
    print(heading(f"whole: {verdict.events} events", "good"))
    print(paragraph("end", f"{verdict.head.seq}:{verdict.head.hash}"))
    return 0


def _progress(done: int, total: int) -> None:
    filled = _BAR * done // max(total, 1)
    sys.stderr.write(f"\r[{'#' * filled}{'.' * (_BAR - filled)}] {done} of {total}")
    sys.stderr.flush()


def _head(text: str) -> Head:
    seq, _, sealed = text.partition(":")
    if not seq.isascii() or not seq.isdigit() or not sealed:
        raise Refused("usage", "--anchor takes SEQ:HASH", "as the chat and `audit verify` show it")
    return Head(int(seq), sealed)
