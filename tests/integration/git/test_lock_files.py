"""C02: a lock that was left behind blocks for a while, not for ever, and is never taken from a holder."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, clone, commit_file, plain_git

from executor.errors import Failed, Refused
from executor.git.actions import run_operation
from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.lock_files import clear_stale_lock, find_lock, find_locks
from executor.git.recovery_model import STALE_LOCK_SECONDS
from executor.git.recovery_steps import planned, recover
from executor.git.repository import Git
from executor.git.rescue import preserve
from executor.git.run_command import run_command
from executor.outcome import Outcome, State
from executor.policy.model import AddParams, CommitParams, Operation, Params, PushParams, Request, SetConfigParams
from executor.sandbox.processes import owner_of

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

    said = clear_stale_lock(repo.open(), now=time.time() + 2 * STALE_LOCK_SECONDS)

    assert "Removed an index lock" in said
    assert not lock.exists()


def test_c02_an_old_lock_that_a_process_holds_is_never_removed(repo: Adopted) -> None:
    lock = repo.paths.local / "index.lock"
    command = ["/bin/sh", "-c", f"exec 9>{lock}; echo held; read x"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        found = find_lock(repo.open(), now=time.time() + 2 * STALE_LOCK_SECONDS)
        with pytest.raises(Failed):
            clear_stale_lock(repo.open(), now=time.time() + 2 * STALE_LOCK_SECONDS)
        holder.communicate(b"\n")

    assert found is not None
    assert found.holder == holder.pid
    assert lock.exists()


def test_c02_who_only_reads_a_lock_does_not_hold_it(repo: Adopted) -> None:
    """A container may have the git directory to read, and would keep a lock for ever."""
    lock = repo.paths.local / "index.lock"
    lock.touch()
    with subprocess.Popen(["/bin/sh", "-c", f"exec 9<{lock}; read x"], stdin=subprocess.PIPE) as reader:
        found = find_lock(repo.open(), now=time.time() + 2 * STALE_LOCK_SECONDS)
        reader.communicate(b"\n")

    assert found is not None
    assert found.stale


@pytest.mark.needs("root")
def test_a_process_in_a_container_is_no_process_of_this_host() -> None:
    command = ["unshare", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", "echo inside; read x"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as outer:
        assert outer.stdout is not None
        outer.stdout.readline()
        inner = int(Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text())
        owners = owner_of(outer.pid), owner_of(inner), owner_of(os.getpid())
        outer.communicate(b"\n")

    assert owners == (os.geteuid(), None, os.geteuid())


def test_c02_a_git_that_has_ended_holds_no_lock_though_nobody_has_waited_for_it(repo: Adopted) -> None:
    """Its open files are shown to root alone, so an ordinary account took it for the holder of every lock."""
    (repo.paths.local / "index.lock").touch()
    with subprocess.Popen(["git", "--version"], stdout=subprocess.DEVNULL) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        owner = owner_of(ended.pid)
        found = find_lock(repo.open(), now=time.time() + 2 * STALE_LOCK_SECONDS)

    assert owner is None
    assert found is not None
    assert found.stale


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


def typed(operation: Operation, params: Params) -> Callable[[Git], Outcome]:
    return lambda git: run_operation(git, Request(operation, params))


def typing(line: str) -> Callable[[Git], Outcome]:
    return lambda git: run_command(git, judge(split(line)))


# A lock below `local.git` or `transfer.git`, and something that needs it.
LOCKED: tuple[tuple[str, Callable[[Git], Outcome]], ...] = (
    ("local.git/HEAD.lock", typing("checkout -B fresh")),
    ("local.git/refs/heads/main.lock", typed(Operation.GIT_COMMIT, CommitParams("A message"))),
    ("local.git/refs/heads/topic.lock", typing("branch -f topic main")),
    ("local.git/packed-refs.lock", typing("branch -D topic")),
    ("local.git/config.lock", typed(Operation.GIT_SET_CONFIG, SetConfigParams("A", "a@example.org"))),
    ("local.git/refs/remotes/origin/main.lock", typed(Operation.GIT_PUSH, PushParams("main"))),
    ("transfer.git/refs/remotes/origin/theirs.lock", typing("fetch origin")),
    ("transfer.git/config.lock", typing("remote set-url origin https://example.com/x.git")),
)


@pytest.fixture
def busy(repo: Adopted, tmp_path: Path) -> Adopted:
    """With a branch more, something staged, something to push and something to fetch."""
    repo.plain("branch", "topic")
    repo.plain("pack-refs", "--all")
    colleague = clone(repo.remote or "", tmp_path / "colleague")
    commit_file(colleague, "theirs.txt", "theirs\n")
    plain_git(colleague, "push", "-q", "origin", "main:theirs")
    repo.commit("mine.txt", "mine\n")
    repo.write("mine.txt", "staged\n")
    repo.plain("add", "mine.txt")
    return repo


def left_behind(repo: Adopted, name: str) -> Path:
    """Leave a lock behind, two hours old."""
    lock = repo.paths.root / name
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    os.utime(lock, (time.time() - 7200,) * 2)
    return lock


@pytest.mark.parametrize(("name", "operation"), LOCKED, ids=[name for name, _ in LOCKED])
def test_c02_what_needs_a_locked_file_ends_with_a_code_that_says_so_and_recovery_removes_the_lock(
    busy: Adopted, name: str, operation: Callable[[Git], Outcome]
) -> None:
    lock = left_behind(busy, name)
    git = busy.open()

    blocked = operation(git)
    assert blocked.error is not None
    assert blocked.error.code == "repository_locked"
    assert "git_recover" in blocked.error.hint
    assert lock.exists()
    recovered = recover(git, "r1", on_step=lambda title, state, detail: None)

    assert recovered.state is State.SUCCEEDED
    assert name.removeprefix("local.git/") in recovered.output
    assert not lock.exists()
    assert operation(git).state is State.SUCCEEDED


def test_c02_a_push_whose_tracking_ref_is_locked_says_that_it_was_made(busy: Adopted) -> None:
    left_behind(busy, "local.git/refs/remotes/origin/main.lock")

    outcome = run_operation(busy.open(), Request(Operation.GIT_PUSH, PushParams("main")))

    assert outcome.error is not None
    assert outcome.error.message.startswith("The push was made")
    assert busy.remote_ref("refs/heads/main") == busy.ref("refs/heads/main")


def test_c02_recovery_touches_no_lock_while_one_of_them_is_young(busy: Adopted) -> None:
    old = left_behind(busy, "local.git/HEAD.lock")
    (busy.paths.local / "packed-refs.lock").touch()

    with pytest.raises(Refused) as caught:
        recover(busy.open(), "r1", on_step=lambda title, state, detail: None)

    assert caught.value.code == "locked"
    assert old.exists()


def test_c02_every_lock_is_found_and_named_wherever_it_lies(busy: Adopted) -> None:
    for name, _ in LOCKED:
        left_behind(busy, name)
    left_behind(busy, "local.git/objects/info/commit-graph.lock")

    found = {lock.name for lock in find_locks(busy.open())}
    diagnosis, _ = planned(busy.open())

    assert found == {name.removeprefix("local.git/") for name, _ in LOCKED} | {"objects/info/commit-graph.lock"}
    assert sum(finding.startswith("The lock ") for finding in diagnosis.findings) == len(found)


@pytest.mark.parametrize("name", ["index.draft.lock", "rescue-index.lock"])
def test_a_lock_on_a_draft_of_our_own_that_a_killed_git_left_is_in_nobodys_way(repo: Adopted, name: str) -> None:
    (repo.paths.tmp / name).touch()
    repo.write("new.txt", "x\n")

    preserve(repo.open(), "r1", worktree=True)
    outcome = run_operation(repo.open(), Request(Operation.GIT_ADD, AddParams((".",))))

    assert outcome.state is State.SUCCEEDED
