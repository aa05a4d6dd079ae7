"""What a benchmark comes to: one row of the table, and how the table is printed."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Row:
    """`figure` is what the target is about; `beside` holds the figures that it was made of."""

    name: str
    figure: str
    target: str
    met: bool
    beside: str


def machine() -> str:
    """Say where and when this was measured, and how busy it was there."""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    when = time.strftime("%Y-%m-%d %H:%M")
    return (
        f"{when}  {_processor()}, {os.cpu_count()} cores, load {load} (1/5/15 min), Linux {platform.release()},"
        f" Python {platform.python_version()}, {git}"
    )


def table(rows: Iterable[Row]) -> str:
    """Return the rows in columns, for people and for Markdown alike."""
    head = Row("what", "figure", "target", True, "beside it")
    lines = [[row.name, row.figure, row.target, "" if row.met else "missed", row.beside] for row in (head, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    text = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    return "\n".join([text[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *text[1:]])


def ms(seconds: Iterable[float]) -> float:
    """Return the median of some times, in milliseconds."""
    return 1000 * median(seconds)


def _processor() -> str:
    with open("/proc/cpuinfo") as file:
        return next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "unknown")
