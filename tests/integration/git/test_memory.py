"""A work tree that costs an agent nothing does not cost the host its memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository

from executor.errors import Failed
from executor.git.actions import run_operation
from executor.outcome import State
from executor.policy.model import AddParams, Contact, Operation, Request
from executor.sandbox.process import MEMORY_LIMIT

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def sparse(repo: Adopted, name: str, size: int) -> None:
    repo.write(name, "")
    os.truncate(repo.tree / name, size)


def test_a_git_that_would_load_a_sparse_file_whole_ends_and_says_why(repo: Adopted) -> None:
    sparse(repo, "big.txt", MEMORY_LIMIT + 1)

    with pytest.raises(Failed) as failed:
        repo.open().local(["grep", "--untracked", "-c", "needle"], contact=Contact.READ)

    assert failed.value.code == "out_of_memory"
    assert failed.value.hint


def test_a_large_file_is_staged_without_being_loaded(repo: Adopted) -> None:
    sparse(repo, "big.bin", 300 * 1024**2)

    outcome = run_operation(repo.open(), Request(Operation.GIT_ADD, AddParams(("big.bin",))))

    assert outcome.state is State.SUCCEEDED
    [pack] = (repo.paths.objects / "pack").glob("*.pack")  # what is streamed goes straight into a pack
    assert pack.stat().st_size < 1024**2
