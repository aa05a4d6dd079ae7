"""`ops-gateway queue`: the numbers now and the last day, in text, as data, or as a picture."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from executor.record.display import visible
from executor.sandbox.confinement import Confinement
from executor.sandbox.process import ProcessRunner
from executor.spans import age, span
from gateway import settings as configuration
from gateway import wiring
from gateway.charts.drawing import png
from gateway.charts.series import Chart
from gateway.charts.terminal import LEGEND, WIDTH, text_chart
from gateway.commands.terminal import heading
from gateway.schedule.queue_count import counter
from gateway.schedule.queue_report import QueueReport, last_day, report

_CHARTS = 4  # queues that are drawn; of more, those with the most pending jobs
_NUMBERS = ("pending", "oldest_seconds", "delayed", "reserved", "failed")
_TITLES = ("PENDING", "OLDEST", "DELAYED", "RESERVED", "FAILED")


def arguments(_verb: str, parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="write the last 24 h as a picture (PNG)")


def run(options: argparse.Namespace) -> int:
    """Show it. Return 1 when a queue could not be counted."""
    settings = configuration.load()
    runner = ProcessRunner(Confinement())
    try:
        count = counter(settings, runner)
        with wiring.record(settings) as store:
            now = datetime.now(UTC)
            sample = count(now)
            with store.reading() as view:
                found = report(settings, view, sample)
                day = last_day(settings, view, now, None if options.chart else WIDTH)
            clean = store.redactor
        if options.chart:
            options.chart.write_bytes(png(day, runner, settings.state_dir))
            print(f"The last 24 h are drawn in {visible(str(options.chart))}.")
        elif options.json:
            print(json.dumps(clean.redact_data(found.as_data())))
        else:
            print("\n".join(clean(line) for line in as_text(settings.host_name, found, day)))
    finally:
        runner.confinement.close()
    return 0 if found.known else 1


def as_text(host: str, found: QueueReport, day: Chart) -> Iterator[str]:
    """Yield the lines of a report and of the charts below it."""
    zone = ZoneInfo(found.zone)
    now = found.sample.at
    yield heading(f"Queues of {host}, {now.astimezone(zone):%d %b %H:%M %Z}")
    yield from _table(found)
    yield ""
    yield _hours(found, zone)
    last = f", the last {age(found.restarts[-1], now)}" if found.restarts else ""
    yield f"Restarts of the workers within 24 h: {len(found.restarts)}{last}."
    yield f"The queue monitor last looked {age(found.looked_at, now)}."
    for queue in _busiest(day):
        yield ""
        yield f"{visible(queue)}: pending jobs, last 24 h"
        yield from text_chart(day, queue)
    if day.lines:
        yield ""
        yield LEGEND
    else:
        yield "There is no history yet: the gateway keeps a sample of each look while it runs."


def _table(found: QueueReport) -> Iterator[str]:
    width = max(len("limit"), *(len(count.queue) for count in found.sample.counts))
    yield f"{'QUEUE':<{width}}" + "".join(f"{title:>10}" for title in _TITLES)
    for count in found.sample.counts:
        cells = [getattr(count, name) for name in _NUMBERS]
        shown = [_cell(name, cell, none=count.pending == 0) for name, cell in zip(_NUMBERS, cells, strict=True)]
        yield f"{visible(count.queue):<{width}}" + "".join(f"{cell:>10}" for cell in shown)
        since = found.congested_since.get(count.queue)
        if since is not None:
            yield heading(f"  congested since {since.astimezone(ZoneInfo(found.zone)):%d %b %H:%M}", "bad")
        if count.problem:
            yield heading(f"  {count.problem}", "warn")
        elif count.queue in found.never_seen:
            yield heading("  nothing of that name is there: never used, or the name or prefix is wrong", "warn")
    yield f"{'limit':<{width}}{found.max_pending:>10}{span(found.max_age_seconds):>10}"


def _cell(name: str, value: float | None, *, none: bool) -> str:
    """Return a number; `?` is not known, and `-` an age where `none` is pending that could have one."""
    if value is None:
        return "-" if none and name == "oldest_seconds" else "?"
    return span(value) if name == "oldest_seconds" else f"{value:.0f}"


def _hours(found: QueueReport, zone: ZoneInfo) -> str:
    if found.open_now:
        return f"It is business time ({found.hours}, {found.zone})."
    opens = f"; next {found.opens_at.astimezone(zone):%d %b %H:%M}" if found.opens_at is not None else ""
    return f"It is not business time ({found.hours}, {found.zone}){opens}."


def _busiest(day: Chart) -> list[str]:
    most = {
        name: max((value for value in points if value is not None), default=-1) for name, points in day.lines.items()
    }
    return sorted(sorted(most, key=lambda name: -most[name])[:_CHARTS])
