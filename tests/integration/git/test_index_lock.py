"""C02: an index lock that was left behind blocks for a while, not for ever, and is never taken from a holder."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository

from executor.errors import Failed
from executor.git.actions import run_operation
from executor.git.index_lock import STALE_SECONDS, clear_stale_lock, find_lock
from executor.outcome import State
from executor.policy.model import AddParams, Operation, Request

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def test_c02_a_fresh_lock_is_left_alone_and_named(repo: Adopted) -> None:
    lock = repo.paths.local / "index.lock"
    lock.touch()

    with pytest.raises(Failed) as caught:
        clear_stale_lock(repo.open())

    assert caught.value.code == "index_locked"
    assert lock.exists()


def test_c02_an_old_lock_that_nobody_holds_is_removed_and_said(repo: Adopted) -> None:
    lock = repo.paths.local / "index.lock"
    lock.touch()

    said = clear_stale_lock(repo.open(), now=time.time() + 2 * STALE_SECONDS)

    assert "Removed an index lock" in said
    assert not lock.exists()


def test_c02_an_old_lock_that_a_process_holds_is_never_removed(repo: Adopted) -> None:
    lock = repo.paths.local / "index.lock"
    command = ["/bin/sh", "-c", f"exec 9>{lock}; echo held; read x"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        found = find_lock(repo.open(), now=time.time() + 2 * STALE_SECONDS)
        with pytest.raises(Failed):
            clear_stale_lock(repo.open(), now=time.time() + 2 * STALE_SECONDS)
        holder.communicate(b"\n")

    assert found is not None
    assert found.holder == holder.pid
    assert lock.exists()


def test_without_a_lock_there_is_nothing_to_say(repo: Adopted) -> None:
    assert clear_stale_lock(repo.open()) == ""


def test_c02_an_operation_that_removes_a_stale_lock_says_so_in_its_outcome(repo: Adopted) -> None:
    lock = repo.paths.local / "index.lock"
    lock.touch()
    two_hours_ago = time.time() - 7200
    os.utime(lock, (two_hours_ago, two_hours_ago))
    repo.write("new.txt", "x\n")

    outcome = run_operation(repo.open(), Request(Operation.GIT_ADD, AddParams((".",))))

    assert outcome.state is State.SUCCEEDED
    assert outcome.output.startswith("Removed an index lock that was left behind 120 min ago")
