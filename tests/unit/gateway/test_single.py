"""One gateway per state directory, across processes and whatever way the other one ended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.single import Busy, alone, holder


def test_a_second_run_is_refused_with_the_first_ones_process(tmp_path: Path) -> None:
    with alone(tmp_path / "state", "run"):
        with (
            pytest.raises(Busy, match=f"`ops-gateway run`, process {os.getpid()},"),
            alone(tmp_path / "state", "run"),
        ):
            pass
        assert holder(tmp_path / "state") == f"run {os.getpid()}"
    assert holder(tmp_path / "state") == ""


def test_the_state_directory_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    with alone(tmp_path / "deep" / "state", "run"):
        assert (tmp_path / "deep" / "state").stat().st_mode & 0o777 == 0o700


def test_a_tick_that_ends_in_time_is_waited_for_and_a_run_is_not(tmp_path: Path) -> None:
    first = alone(tmp_path, "tick")
    first.__enter__()
    with pytest.raises(Busy) as caught, alone(tmp_path, "tick", wait_seconds=0.3):
        pass
    assert caught.value.verb == "tick"
    first.__exit__(None, None, None)
    with alone(tmp_path, "run"), pytest.raises(Busy) as caught, alone(tmp_path, "tick", wait_seconds=1e9):
        pass
    assert caught.value.verb == "run"


def test_the_lock_of_a_process_that_is_gone_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / "gateway.lock").write_text("run 4194304")
    assert holder(tmp_path) == ""
    with alone(tmp_path, "run"):
        pass


def test_a_link_in_the_locks_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "gateway.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic link"), alone(tmp_path, "run"):
        pass
    assert not (tmp_path / "elsewhere").exists()
