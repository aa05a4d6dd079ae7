"""The host's own probes on this host: real file systems, memory and clock."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from probing import probed

from executor.config import ExecutorConfig, RepositoryConfig
from executor.health.host_probes import host_probes
from executor.health.report import Finding, Level


def looked_at(shared: Path, state: Path) -> dict[str, Finding]:
    """What the probes find, by what they looked at."""
    trees = (RepositoryConfig("shop", state),)
    probes = host_probes(ExecutorConfig(shared, state, trees, host="web-1"))
    return {f"{each.probe} {each.subject}".strip(): each for each in probed(probes)}


def test_directories_memory_and_clock_are_looked_at_without_a_privilege(tmp_path: Path) -> None:
    found = looked_at(tmp_path, tmp_path)

    names = ["disk shared directory", "disk state directory", "disk work tree of shop", "memory", "clock"]
    assert list(found) == names
    assert isinstance(found["disk state directory"].facts["free_bytes"], int)
    assert isinstance(found["memory"].facts["available_bytes"], int)
    assert isinstance(found["clock"].facts["synchronised"], bool)


def test_a_directory_that_is_gone_is_bad(tmp_path: Path) -> None:
    found = looked_at(tmp_path / "gone", tmp_path)["disk shared directory"]

    assert (found.level, found.what) == (Level.BAD, "is not there")


@pytest.mark.needs("root")
def test_a_full_disk_is_bad_and_says_what_still_runs(tmp_path: Path) -> None:
    with file_system(tmp_path / "small", "size=2m") as small:
        assert looked_at(small, tmp_path)["disk shared directory"].level is Level.GOOD
        (small / "filler").write_bytes(bytes(1_990_000))
        found = looked_at(small, tmp_path)["disk shared directory"]

    assert found.level is Level.BAD
    assert "as good as full" in found.what
    assert str(small) in found.mend
    assert "only what reads is run" in found.mend


@pytest.mark.needs("root")
def test_a_file_system_without_inodes_is_bad_though_it_has_room(tmp_path: Path) -> None:
    with file_system(tmp_path / "small", "size=8m,nr_inodes=200") as small:
        for number in range(199):
            (small / str(number)).touch()
        found = looked_at(small, tmp_path)["disk shared directory"]

    assert found.level is Level.BAD
    assert "inodes" in found.what


@pytest.mark.needs("root")
def test_a_file_system_that_turned_read_only_is_bad(tmp_path: Path) -> None:
    with file_system(tmp_path / "small", "size=2m,ro") as small:
        found = looked_at(small, tmp_path)["disk shared directory"]

    assert found.level is Level.BAD
    assert "read-only" in found.what


@contextmanager
def file_system(path: Path, options: str) -> Iterator[Path]:
    """A small file system of its own."""
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)
