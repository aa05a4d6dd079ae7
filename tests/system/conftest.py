"""The hosts that the system tests run on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from served_host import ServedHost, served_host


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
