"""Changes stop while there is still room for the record of what happened."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from executor.disk_space import floor, record_floor, require_record_space, require_space
from executor.errors import Refused, Unavailable

MB, GB = 1000**2, 1000**3


@pytest.mark.parametrize(
    ("total", "least"),
    [(60 * MB, 6 * MB), (5 * GB, 200 * MB), (100 * GB, 2 * GB), (10_000 * GB, 5 * GB)],
    ids=["tiny", "small", "usual", "large"],
)
def test_two_percent_stay_free_at_least_200_mb_or_a_tenth_and_at_most_5_gb(total: int, least: int) -> None:
    assert floor(total) == least


@pytest.mark.parametrize(("free_mb", "enough"), [(199, False), (200, True)])
def test_below_the_floor_a_change_is_refused(
    free_mb: int, enough: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SimpleNamespace(f_bavail=free_mb, f_frsize=MB, f_blocks=5000)
    monkeypatch.setattr(os, "statvfs", lambda _path: disk)

    if enough:
        require_space(tmp_path)
        return
    with pytest.raises(Refused) as refused:
        require_space(tmp_path)
    assert refused.value.code == "disk_low"


@pytest.mark.parametrize("total", [2 * MB, 60 * MB, 5 * GB, 100 * GB, 10_000 * GB])
def test_changes_stop_long_before_flags_are_not_taken_any_more(total: int) -> None:
    assert 0 < record_floor(total) <= min(floor(total) / 2, 100 * MB)


@pytest.mark.parametrize(("free_mb", "enough"), [(99, False), (100, True)])
def test_the_last_of_the_disk_is_left_to_the_record_of_what_operators_do(
    free_mb: int, enough: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SimpleNamespace(f_bavail=free_mb, f_frsize=MB, f_blocks=5000)
    monkeypatch.setattr(os, "statvfs", lambda _path: disk)

    if enough:
        require_record_space(tmp_path)
        return
    with pytest.raises(Unavailable) as full:
        require_record_space(tmp_path)
    assert full.value.code == "disk_full"
