"""A served host, and the agent's side of it as an agent has it: one file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
AGENT = TESTS.parent / "deploy" / "agent"
sys.path.extend([str(AGENT), str(TESTS / "system"), str(TESTS / "integration" / "gateway")])

from served_host import ServedHost, served_host  # noqa: E402


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHost]:
    """A host that is served for as long as the module's tests run."""
    with served_host(tmp_path_factory.mktemp("agent")) as host, host.running() as gateway:
        yield host
        assert "Traceback" not in gateway.log
        assert "whole" in host.ok("audit", "verify")
