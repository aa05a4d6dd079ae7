"""What artisan queue:monitor prints is read in each of its forms, and nothing it could print breaks the reader."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.laravel.model import QueueCount
from executor.laravel.queue_monitor_output import ONLY_THE_SUM, read_output

NOW = 1_800_000_000.0

LARAVEL_8 = """\
+------------+---------+------+--------+
| Connection | Queue   | Size | Status |
+------------+---------+------+--------+
| redis      | emails  | 5    | ALERT  |
| redis      | default | 0    | OK     |
+------------+---------+------+--------+
"""
LARAVEL_9 = """

  Queue name ........................................... Size / Status
  [redis] emails ........................................... [5] ALERT
  [redis] default ............................................. [0] OK

"""
LARAVEL_12 = """

  Queue name ........................................... Size / Status
  [redis] emails ........................................... [6] ALERT
  Pending jobs ..................................................... 3
  Delayed jobs ..................................................... 2
  Reserved jobs .................................................... 1
  Oldest pending job ................................... 5 minutes ago

  [sqs] reports ............................................... [4] OK
  Pending jobs ................................................... N/A
  Delayed jobs ................................................... N/A
  Reserved jobs .................................................. N/A
  Oldest pending job ............................................. N/A

"""
LARAVEL_13 = json.dumps(
    [
        {
            "connection": "redis",
            "queue": "emails",
            "size": 6,
            "pending": 3,
            "delayed": 2,
            "reserved": 1,
            "oldest_pending": int(NOW) - 90,
            "status": "ALERT",
        },
        {"connection": "redis", "queue": "default", "size": 0, "pending": 0, "delayed": 0, "reserved": 0,
         "oldest_pending": None, "status": "OK"},
    ]
)  # fmt: skip


@pytest.mark.parametrize("text", [LARAVEL_8, LARAVEL_9], ids=["8", "9"])
def test_where_only_the_sum_is_told_it_counts_as_pending_and_is_said_to_be_one(text: str) -> None:
    assert read_output(text, NOW) == {
        "emails": QueueCount("emails", pending=5, problem=ONLY_THE_SUM),
        "default": QueueCount("default", pending=0),
    }


def test_the_lines_below_a_queue_are_taken_apart_unless_its_driver_does_not_know() -> None:
    assert read_output(LARAVEL_12, NOW) == {
        "emails": QueueCount("emails", pending=3, delayed=2, reserved=1),
        "reports": QueueCount("reports", pending=4, problem=ONLY_THE_SUM),
    }


def test_json_tells_all_of_it_with_the_age_of_the_oldest_job() -> None:
    assert read_output(LARAVEL_13, NOW) == {
        "emails": QueueCount("emails", pending=3, delayed=2, reserved=1, oldest_seconds=90.0),
        "default": QueueCount("default", pending=0, delayed=0, reserved=0),
    }


def test_notices_around_the_json_do_not_matter() -> None:
    assert read_output(f"PHP Deprecated: something\n{LARAVEL_13}\nBye\n", NOW) == read_output(LARAVEL_13, NOW)


def test_colours_do_not_matter() -> None:
    coloured = LARAVEL_9.replace("ALERT", "\x1b[33;1mALERT\x1b[39;22m").replace("[redis]", "\x1b[90m[redis]\x1b[39m")
    assert read_output(coloured, NOW) == read_output(LARAVEL_9, NOW)


def test_box_drawing_does_not_matter() -> None:
    drawn = LARAVEL_8.replace("|", "│").replace("-", "─").replace("+", "┼")
    assert read_output(drawn, NOW) == read_output(LARAVEL_8, NOW)


@pytest.mark.parametrize(
    "text",
    ["", "Could not open input file: artisan", "[]", "[{", '[{"queue": 5, "size": 1}]', '[{"queue":"a","size":-1}]',
     "| redis | emails | many | OK |", "[" * 100_000],
    ids=["nothing", "words", "an empty list", "a broken list", "no name", "no size", "no number", "deep"],
)  # fmt: skip
def test_what_tells_of_no_queue_gives_no_count(text: str) -> None:
    assert read_output(text, NOW) == {}


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    assert all(count.pending is None or count.pending >= 0 for count in read_output(text, NOW).values())


QUEUE_NAME = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,40}", fullmatch=True)


@given(st.dictionaries(QUEUE_NAME, st.integers(0, 10**9), min_size=1, max_size=5), st.integers(0, 60))
def test_every_queue_and_its_size_come_back_from_a_table_of_any_width(sizes: dict[str, int], width: int) -> None:
    rows = [f"| redis {'':{width}}| {queue:{width}} | {size:<{width + 1}} | OK |" for queue, size in sizes.items()]
    assert {name: count.pending for name, count in read_output("\n".join(rows), NOW).items()} == sizes


@given(
    st.dictionaries(QUEUE_NAME.filter(lambda name: not name.endswith(".")), st.integers(0, 10**9), min_size=1),
    st.integers(1, 80),
)
def test_every_queue_and_its_size_come_back_from_lines_of_any_width(sizes: dict[str, int], dots: int) -> None:
    lines = [f"  [redis] {queue} {'.' * dots} [{size}] OK  " for queue, size in sizes.items()]
    assert {name: count.pending for name, count in read_output("\n".join(lines), NOW).items()} == sizes
