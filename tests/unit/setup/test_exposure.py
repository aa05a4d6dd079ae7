"""Who else could change a file, or put another one in its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.setup.exposure import foreign_entries, loose, loose_ancestors


def test_a_directory_that_others_write_is_loose_and_so_is_what_lies_below(tmp_path: Path) -> None:
    state = tmp_path / "a" / "state"
    state.mkdir(parents=True)
    assert [found.path for found in loose_ancestors(state) if found.path.is_relative_to(tmp_path)] == []

    state.parent.chmod(0o777)

    (found,) = (each for each in loose_ancestors(state) if each.path.is_relative_to(tmp_path))
    assert found.path == state.parent
    assert found.mode == "go-w"


def test_in_a_sticky_directory_an_entry_is_its_owners(tmp_path: Path) -> None:
    (tmp_path / "entry").mkdir()
    tmp_path.chmod(0o1777)

    assert tmp_path not in [found.path for found in loose_ancestors(tmp_path / "entry")]


@pytest.mark.needs("root")
def test_what_belongs_to_another_user_is_loose_whatever_its_mode(tmp_path: Path) -> None:
    os.chown(tmp_path, 4242, 4242)
    tmp_path.chmod(0o700)

    found = loose(tmp_path)

    assert found is not None
    assert "uid 4242" in found.why
    assert found.mode == ""


def test_writable_files_in_a_git_directory_are_found_but_not_in_its_objects(tmp_path: Path) -> None:
    for name in ("info/exclude", "objects/ab/cd", "config"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o666 if name != "config" else 0o600)

    assert foreign_entries(tmp_path, 100) == [tmp_path / "info/exclude"]
