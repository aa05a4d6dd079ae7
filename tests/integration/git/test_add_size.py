"""What is too large is refused before git reads any of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository

from executor.errors import Refused
from executor.git.add_size import require_size

pytestmark = pytest.mark.needs("git")

LIMIT = 10 * 1024**2


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def sparse(repo: Adopted, name: str, size: int) -> None:
    repo.write(name, "")
    os.truncate(repo.tree / name, size)


@pytest.mark.parametrize("paths", [["."], ["big.bin"], ["sub"], ["file.txt"]])
def test_a_sparse_file_of_a_hundred_gigabytes_is_refused_whether_new_or_tracked(
    repo: Adopted, paths: list[str]
) -> None:
    for name in ("big.bin", "sub/big.bin", "file.txt"):
        sparse(repo, name, 100 * 1000**3)

    with pytest.raises(Refused) as refused:
        require_size(repo.open(), paths, LIMIT)

    assert refused.value.code == "too_much_to_add"


def test_many_files_count_together(repo: Adopted) -> None:
    for number in range(3):
        sparse(repo, f"{number}.bin", LIMIT // 2)

    require_size(repo.open(), ["0.bin", "1.bin"], LIMIT)
    with pytest.raises(Refused):
        require_size(repo.open(), ["."], LIMIT)


def test_what_is_ignored_unchanged_or_a_link_does_not_count(repo: Adopted) -> None:
    repo.commit("kept.bin", b"x" * 2000)
    sparse(repo, "ignored.bin", LIMIT)
    repo.write(".gitignore", "ignored.bin\n")
    (repo.tree / "link").symlink_to("ignored.bin")

    require_size(repo.open(), ["."], 1000)
