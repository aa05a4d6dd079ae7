"""What `status` calls a trouble: judged by when things were last done."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from executor.record.store import Store
from gateway import settings, wiring
from gateway.commands.status import as_text
from gateway.condition import gather
from gateway.schedule.heartbeat import PERIODS, STALE_PERIODS

STALE = timedelta(seconds=STALE_PERIODS * PERIODS["sweep"])
MOMENT = timedelta(seconds=30)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    for name, variable in (("shared", "SHARED_DIR"), ("shop", "REPO_DIR"), ("state", "STATE_DIR")):
        (tmp_path / name).mkdir(mode=0o700)
        monkeypatch.setenv(f"GATEWAY_{variable}", str(tmp_path / name))
    monkeypatch.chdir(tmp_path)
    with wiring.record(settings.load()) as opened:
        yield opened


@pytest.mark.parametrize(
    ("age", "said"),
    [(STALE - MOMENT, ""), (STALE + MOMENT, "min ago"), (timedelta(hours=44), "44 h ago"), (None, "last sweep")],
)
def test_b14_a_gateway_is_alive_by_its_last_sweep_and_not_by_its_process_or_its_plan(
    age: timedelta | None, said: str, store: Store
) -> None:
    swept = {"sweep": (datetime.now(UTC) - age).isoformat()} if age is not None else {}
    health: dict[str, Any] = {"heartbeat": {"completed": swept, "late": []}, "running": True}

    found = gather(settings.load(), store, served_by="process 7", health=health, confinement="confined")

    assert bool(found["troubles"]) is bool(said)
    assert said in "\n".join(as_text(found))
