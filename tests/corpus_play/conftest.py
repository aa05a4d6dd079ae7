"""One world for all lines of the corpus, and somebody who notes connections."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from evidence import Listener
from player import without_the_kernel
from world import WorldMaker

sys.path.append(str(Path(__file__).parents[1] / "integration" / "gateway"))  # the gateway as a process


@pytest.fixture(scope="session")
def listener() -> Iterator[Listener]:
    """A loopback port that nobody may connect to."""
    with Listener.listening() as listener:
        yield listener


@pytest.fixture(scope="session")
def kept_maker(tmp_path_factory: pytest.TempPathFactory, listener: Listener) -> Iterator[WorldMaker]:
    maker = WorldMaker(tmp_path_factory.mktemp("corpus").resolve(), listener.port)
    yield maker
    maker.discard()


@pytest.fixture
def maker(kept_maker: WorldMaker, monkeypatch: pytest.MonkeyPatch) -> WorldMaker:
    """The world's maker; whatever runs now has the operator's HOME and so the configuration that lies there."""
    monkeypatch.setenv("HOME", str(kept_maker.world.home))
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.delenv(name)
    return kept_maker


@pytest.fixture
def unconfined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the kernel's wall away."""
    without_the_kernel(monkeypatch)
