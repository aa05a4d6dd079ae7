"""Disks, memory and clock are judged by fixed measures, and what the kernel writes is read without surprises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.disk_space import floor
from executor.health.host import (
    Clock,
    Memory,
    Space,
    judge_clock,
    judge_memory,
    judge_space,
    parse_meminfo,
    parse_stalled,
)
from executor.health.report import Level

GB = 1000**3
TOTAL = 100 * GB


def space(free: float, *, inodes_free: int = 900, read_only: bool = False) -> Space:
    return Space(TOTAL, int(free), 1000, inodes_free, read_only)


@pytest.mark.parametrize(
    ("found", "level", "said"),
    [
        (space(50 * GB), Level.GOOD, "50 GB of 100 GB free"),
        (space(3 * floor(TOTAL) - 1), Level.WARNING, "nearly full"),
        (space(floor(TOTAL) - 1), Level.BAD, "as good as full: 2.0 GB of 100 GB free"),
        (space(0), Level.BAD, "0 bytes of 100 GB free"),
        (space(50 * GB, inodes_free=30), Level.WARNING, "3.0% of its inodes"),
        (space(50 * GB, inodes_free=1), Level.BAD, "no more files fit"),
        (space(50 * GB, read_only=True), Level.BAD, "read-only"),
        (Space(TOTAL, 50 * GB, 0, 0), Level.GOOD, "free"),
    ],
)
def test_a_file_system_is_bad_where_changes_stop_and_a_warning_comes_before(
    found: Space, level: Level, said: str
) -> None:
    finding = judge_space("state directory", found, "/var/lib/ops-gateway")

    assert finding.level is level
    assert said in finding.what
    assert "/var" not in finding.what


@pytest.mark.parametrize(
    ("found", "level"),
    [
        (Memory(8 * GB, 4 * GB), Level.GOOD),
        (Memory(8 * GB, 4 * GB, 0.5), Level.GOOD),
        (Memory(8 * GB, int(0.7 * GB)), Level.WARNING),
        (Memory(8 * GB, int(0.1 * GB)), Level.BAD),
        (Memory(8 * GB, 4 * GB, 15.0), Level.WARNING),
        (Memory(8 * GB, 4 * GB, 60.0), Level.BAD),
        (Memory(0, 0), Level.BAD),
    ],
)
def test_memory_is_judged_by_what_is_available_and_by_what_waits_for_it(found: Memory, level: Level) -> None:
    assert judge_memory(found).level is level


def test_a_clock_that_nothing_keeps_right_is_a_warning() -> None:
    assert judge_clock(Clock(synchronised=True, error_seconds=0.01)).level is Level.GOOD
    assert judge_clock(Clock(synchronised=True, error_seconds=3.0)).level is Level.WARNING
    assert judge_clock(Clock(synchronised=False, error_seconds=16.0)).level is Level.WARNING


def test_meminfo_is_read_in_bytes() -> None:
    assert parse_meminfo("MemTotal:  16 kB\nMemAvailable: 8 kB\nHugePages_Total: 3\n") == {
        "MemTotal": 16384,
        "MemAvailable": 8192,
        "HugePages_Total": 3,
    }


def test_pressure_is_that_of_the_last_minute_in_which_nothing_got_on() -> None:
    some = "some avg10=1.00 avg60=2.00 avg300=3.00 total=4\n"

    assert parse_stalled(some + "full avg10=0.00 avg60=12.50 avg300=0.10 total=9\n") == 12.5
    assert parse_stalled(some) is None


@given(st.text())
def test_any_text_can_be_read_as_what_the_kernel_writes(text: str) -> None:
    assert all(isinstance(value, int) for value in parse_meminfo(text).values())
    assert parse_stalled(text) is None or isinstance(parse_stalled(text), float)
