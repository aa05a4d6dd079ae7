"""The hosts that the system tests run on, and the chat of their operators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from served_host import ServedHost, served_host
from telegram_chat import OpsChat, ops_chat


@pytest.fixture
def host(tmp_path: Path) -> Iterator[ServedHost]:
    """A host of its own for one test."""
    with served_host(tmp_path) as host:
        yield host


@pytest.fixture
def two_repositories(tmp_path: Path) -> Iterator[ServedHost]:
    """A host that serves two repositories, `shop` (the default one) and `blog`."""
    with served_host(tmp_path, "shop", "blog") as host:
        yield host


@pytest.fixture
def chat(host: ServedHost) -> Iterator[OpsChat]:
    """The operators' chat of `host`."""
    with ops_chat(host) as chat:
        yield chat
