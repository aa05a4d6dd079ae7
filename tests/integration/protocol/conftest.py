"""What the tests of the shared directory share: a directory, a secret beside it, and what stands in the way."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hostile_files import SECRET, obstacles

from executor.protocol.shared_dir import SharedDir


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    path = tmp_path / "shared"
    path.mkdir()
    return path


@pytest.fixture
def directory(shared: Path) -> SharedDir:
    return SharedDir(shared)


@pytest.fixture
def secret(tmp_path: Path) -> Iterator[Path]:
    """A host file outside the shared directory; whatever a test does, it must be unchanged afterwards."""
    path = tmp_path / "secret.txt"
    path.write_bytes(SECRET)
    yield path
    assert path.read_bytes() == SECRET
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["secret.txt", "shared"]


@pytest.fixture
def put_in_the_way(secret: Path) -> Callable[[str, Path], None]:
    """Return a function that puts an obstacle of the given kind at a path."""
    kinds = obstacles(secret)
    return lambda kind, path: kinds[kind](path)


@pytest.fixture
def small_disk(shared: Path) -> Iterator[Path]:
    """The shared directory on a file system of its own, of 64 KiB."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", shared], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"needs to be allowed to mount: {mounted.stderr.strip()}")
    yield shared
    subprocess.run(["umount", "--lazy", shared], check=True)  # some descriptor may still be open


@pytest.fixture
def remount(small_disk: Path) -> Callable[[str], None]:
    """Return a function that mounts the small disk again with an option."""
    return lambda option: _run("mount", "-o", f"remount,{option}", small_disk)


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True)
