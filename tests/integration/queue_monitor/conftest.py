"""The monitored host that these tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from monitored_host import MonitoredHost, monitored


@pytest.fixture
def host(tmp_path: Path) -> Iterator[MonitoredHost]:
    """A host with the queues `emails` and `pdf`, on a Monday at noon."""
    with monitored(tmp_path) as made:
        yield made
