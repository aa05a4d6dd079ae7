"""A real store in a file, and requests to put into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from executor.outcome import State
from executor.policy.model import Operation, RiskClass
from executor.record.forms import Form
from executor.record.requests import NewRequest
from executor.record.store import Store

KEY = b"k" * 32


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def move(self, **by: float) -> None:
        self.moment += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "record.db"


@pytest.fixture
def open_store(database: Path, clock: Clock) -> Iterator[Callable[..., Store]]:
    opened: list[Store] = []

    def open_one(**options: Any) -> Store:
        path = options.pop("path", database)
        settings: dict[str, Any] = {"host": "kitchen", "key": KEY, "clock": clock} | options
        opened.append(Store.open(f"sqlite:///{path}", **settings))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[..., Store]) -> Store:
    return open_store()


@pytest.fixture
def new() -> Callable[..., NewRequest]:
    def make(request_id: str, **changes: Any) -> NewRequest:
        values: dict[str, Any] = {
            "id": request_id,
            "operation": Operation.GIT_STATUS,
            "repo": "main",
            "form": Form.FLAG,
            "text": "",
            "identity": f"1:2:3:4:{request_id}",
            "state": State.QUEUED,
            "risk": RiskClass.READ,
            "argv": ("git", "status"),
        }
        return NewRequest(**values | changes)

    return make
