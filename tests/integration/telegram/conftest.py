"""A Bot API server and what goes with it, shared by the tests of the chat."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from bot_api import BotApi, SwiftClock
from loguru import logger
from notifier_scene import Scene, scene


@pytest.fixture
def clock() -> SwiftClock:
    """Time that nobody has to wait for."""
    return SwiftClock()


@pytest.fixture
def api(clock: SwiftClock) -> Iterator[BotApi]:
    """A strict server; what was asked of it in a way that the schema does not know fails the test."""
    with BotApi(clock=clock.monotonic) as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, api: BotApi) -> Iterator[Scene]:
    """A record and a chat with nothing in them yet."""
    with scene(tmp_path, api) as made:
        yield made


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """Everything that is logged, by us and by libraries, at every level."""
    caplog.set_level(logging.DEBUG)
    lines: list[str] = []
    sink = logger.add(lambda message: lines.append(str(message)), level=0, diagnose=False)
    try:
        yield lines
    finally:
        logger.remove(sink)
        lines.extend(record.getMessage() for record in caplog.records)
