"""The configured host that the tests of the gateway share."""

from __future__ import annotations

from pathlib import Path

import pytest
from gateway_process import ConfiguredHost
from repos import work_tree


@pytest.fixture
def host(tmp_path: Path) -> ConfiguredHost:
    """A host with an adopted repository."""
    return ConfiguredHost(tmp_path, work_tree(tmp_path / "shop")).adopted()
