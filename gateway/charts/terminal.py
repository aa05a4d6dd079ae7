"""A chart of one queue in text: columns of blocks, the limit, below it business hours and restarts. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

from gateway.charts.series import Chart, Points

WIDTH = 70  # columns of the chart itself, one for each step
LABEL = 7  # columns for the numbers at its left; with both it stays within 80
_ROWS = 6
_BLOCKS = " ▁▂▃▄▅▆▇█"
_FULL = len(_BLOCKS) - 1
LEGEND = "┄ limit   ░ business hours   ▲ restart   · not known"


def text_chart(chart: Chart, queue: str) -> list[str]:
    """Return the lines of the chart of one queue, which is to have one step a column."""
    points = chart.lines[queue]
    top = max(1, chart.limit, *(value for value in points if value is not None))
    limit_row = min(_ROWS - 1, chart.limit * _ROWS // top)
    rows = [_row(points, row, top, is_limit=row == limit_row) for row in range(_ROWS)]
    labels = {0: "0", limit_row: _number(chart.limit), _ROWS - 1: _number(top)}
    drawn = [f"{labels.get(row, ''):>{LABEL - 1}} {cells}" for row, cells in reversed(list(enumerate(rows)))]
    below = [_marks(chart, len(points)), _hours(chart, len(points))]
    return [line.rstrip() for line in (*drawn, *(f"{'':>{LABEL}}{line}" for line in below))]


def _number(value: int) -> str:
    """Return a number so that it has room at the left of a row: from a million on, how many millions it is."""
    return str(value) if value < 1_000_000 else f"{value / 1_000_000:.0f}M"


def _row(points: Points, row: int, top: int, *, is_limit: bool) -> str:
    """Return the cells of one row; row 0 is the lowest. A value that is not zero is seen however small it is."""
    cells = []
    for value in points:
        if value is None:
            cells.append("·" if row == 0 else " ")
            continue
        eighths = round(value * _ROWS * _FULL / top)
        eighths = max(eighths, 1) if value else 0
        cell = _BLOCKS[min(max(eighths - row * _FULL, 0), _FULL)]
        cells.append("┄" if is_limit and cell == " " else cell)
    return "".join(cells)


def _marks(chart: Chart, steps: int) -> str:
    """Return the line of business hours, with the restarts in it."""
    length = (chart.end - chart.begin) / steps
    restarted = {min(int((at - chart.begin) / length), steps - 1) for at in chart.restarts}
    cells = []
    for step in range(steps):
        middle = chart.begin + (step + 0.5) * length
        is_open = any(opens <= middle < closes for opens, closes in chart.opened)
        cells.append("▲" if step in restarted else "░" if is_open else " ")
    return "".join(cells)


def _hours(chart: Chart, steps: int) -> str:
    """Return the line of times, by the clocks of the chart's zone."""
    line = [" "] * (steps + LABEL)
    for step, text in _times(chart, steps):
        line[step : step + len(text)] = text
    return "".join(line[:steps])


def _times(chart: Chart, steps: int) -> Iterator[tuple[int, str]]:
    zone, every = ZoneInfo(chart.zone), max(8, steps // 6)
    for step in range(0, steps - 5, every):
        moment = datetime.fromtimestamp(chart.begin + step * (chart.end - chart.begin) / steps, zone)
        yield step, f"{moment:%H:%M}"
