"""The program that draws a chart: JSON on standard input, PNG on standard output.

It runs as a process of its own and ends, so that what draws (tens of megabytes) is never resident in the gateway.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from gateway.charts.series import Chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT, DOTS = 9.0, 4.5, 110  # inches, and dots an inch: about 1000 x 500, readable on a phone
_HOURS, _LIMIT, _RESTART = "#f2e7c9", "#c0392b", "#2c3e50"


def main() -> None:
    """Draw the chart that standard input describes."""
    from matplotlib.figure import Figure

    chart = Chart.from_data(json.load(sys.stdin))
    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DOTS, layout="constrained")
    _draw(figure.add_subplot(), chart)
    figure.savefig(sys.stdout.buffer, format="png")


def _draw(axes: Axes, chart: Chart) -> None:
    zone = ZoneInfo(chart.zone)

    def moment(seconds: float) -> datetime:
        return datetime.fromtimestamp(seconds, zone)

    for number, (opens, closes) in enumerate(chart.opened):
        label = "business hours" if number == 0 else "_"
        axes.axvspan(moment(opens), moment(closes), color=_HOURS, zorder=0, label=label)  # type: ignore[arg-type]
    for name, points in chart.lines.items():
        step = (chart.end - chart.begin) / len(points)
        times = [moment(chart.begin + (number + 0.5) * step) for number in range(len(points))]
        values = [float("nan") if value is None else value for value in points]
        # small points, so that a count between two that are not known is seen
        axes.plot(times, values, linewidth=1.6, marker=".", markersize=3, label=name)  # type: ignore[arg-type]
    axes.axhline(chart.limit, color=_LIMIT, linestyle="--", linewidth=1.0, label=f"limit {chart.limit}")
    for number, at in enumerate(chart.restarts):
        label = "restart" if number == 0 else "_"
        axes.axvline(moment(at), color=_RESTART, linestyle=":", linewidth=1.4, label=label)  # type: ignore[arg-type]
    _label(axes, chart, zone)


def _label(axes: Axes, chart: Chart, zone: ZoneInfo) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(tz=zone)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=zone))  # type: ignore[no-untyped-call]
    axes.set_xlim(
        datetime.fromtimestamp(chart.begin, zone),  # type: ignore[arg-type]
        datetime.fromtimestamp(chart.end, zone),  # type: ignore[arg-type]
    )
    axes.set_ylim(0, chart.top * 1.1)
    axes.set_ylabel("pending jobs")
    axes.set_title(f"Queues, times in {chart.zone}", fontsize=10)
    axes.grid(alpha=0.25)
    axes.legend(loc="upper left", fontsize=8, framealpha=0.85)


if __name__ == "__main__":
    main()
