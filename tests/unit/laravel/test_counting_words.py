"""What is asked of a database, and what is read from a job: the parts of counting that need no server."""

from __future__ import annotations

import pytest
from sqlalchemy.engine import URL

from executor.laravel.counts_redis import created_at
from executor.laravel.counts_sql import DRIVERS, counting


@pytest.mark.parametrize(
    ("payload", "when"),
    [
        (b'{"uuid":"x","pushedAt":"1800000000.25"}', 1_800_000_000.25),
        (b'{"uuid":"x","createdAt":1800000000}', 1_800_000_000.0),
        (b'{"uuid":"x"}', None),
        (b'{"pushedAt":"soon"}', None),
        (b'{"pushedAt":NaN}', None),
        (b'{"createdAt":-5}', None),
        (b"[1]", None),
        (b"\xff", None),
        (b"[" * 100_000, None),
    ],
)
def test_the_time_of_a_job_is_taken_from_its_payload_where_one_is_written(payload: bytes, when: float | None) -> None:
    assert created_at(payload) == when


@pytest.mark.parametrize("name", ["mysql", "postgresql", "sqlite"])
def test_the_counting_query_can_be_said_to_each_kind_of_database(name: str) -> None:
    dialect = URL.create(name if name == "sqlite" else f"{name}+{DRIVERS[name]}").get_dialect()()
    said = str(counting(("emails",), 1_800_000_000.0).compile(dialect=dialect))
    assert "sum(CASE WHEN" in said
    assert "GROUP BY jobs.queue" in said
