"""A Bot API server and a client of it, shared by the tests of the chat."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from bot_api import BotApi


@pytest.fixture
def api() -> Iterator[BotApi]:
    """A strict server; what was asked of it in a way that the schema does not know fails the test."""
    with BotApi() as server:
        yield server
