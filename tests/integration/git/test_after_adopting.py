"""What adoption makes is what the operations work on: a day with a repository, from adopting it to pushing."""

from __future__ import annotations

from pathlib import Path

import pytest
from repos import LOCAL_ACCESS, bare_remote, clone, commit_file, plain_git, process_runner, work_tree

from executor.git.actions import run_operation
from executor.git.adoption import adopt, plan_adoption
from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.repository import Git, RepositoryPaths, open_repository
from executor.git.run_command import run_command
from executor.outcome import Outcome, State
from executor.policy.model import AddParams, CommitParams, NoParams, Operation, Params, PushParams, Request

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return bare_remote(tmp_path / "remotes" / "project.git")


@pytest.fixture
def git(tmp_path: Path, remote: Path) -> Git:
    tree = work_tree(tmp_path / "tree", commits=2)
    plain_git(tree, "config", "user.name", "Agent Smith")
    plain_git(tree, "config", "user.email", "agent@example.org")
    plain_git(tree, "remote", "add", "origin", str(remote))
    plain_git(tree, "push", "-q", "-u", "origin", "main")
    paths = RepositoryPaths("project", tree.resolve(), tmp_path / "state" / "repos" / "project")
    runner = process_runner()
    adopt(plan_adoption(paths, runner, allow_local_remote=True), runner)
    return open_repository(paths, runner, LOCAL_ACCESS)


def do(git: Git, operation: Operation, params: Params) -> Outcome:
    outcome = run_operation(git, Request(operation, params))
    assert outcome.state is State.SUCCEEDED, outcome.error
    return outcome


def test_a_file_is_written_staged_committed_and_pushed(git: Git, remote: Path) -> None:
    (git.paths.work_tree / "new.txt").write_text("x\n")

    assert "new.txt" in do(git, Operation.GIT_STATUS, NoParams()).output
    do(git, Operation.GIT_ADD, AddParams((".",)))
    commit = do(git, Operation.GIT_COMMIT, CommitParams("Add it")).verified["commit"]
    do(git, Operation.GIT_PUSH, PushParams("main"))

    assert plain_git(remote, "rev-parse", "main") == commit
    assert "up to date" in do(git, Operation.GIT_STATUS, NoParams()).output
    assert "(0 ahead, 0 behind)" in do(git, Operation.GIT_CHECK, NoParams()).output


def test_what_a_colleague_pushed_is_pulled(git: Git, remote: Path, tmp_path: Path) -> None:
    colleague = clone(remote, tmp_path / "colleague")
    theirs = commit_file(colleague, "theirs.txt", "x\n")
    plain_git(colleague, "push", "-q")

    outcome = run_command(git, judge(split("pull")))

    assert outcome.verified["commit"] == theirs
    assert (git.paths.work_tree / "theirs.txt").exists()


def test_a_lease_holds_by_what_was_fetched_before_the_adoption(git: Git, remote: Path, tmp_path: Path) -> None:
    plain_git(git.paths.work_tree, "commit", "-q", "--amend", "-m", "Rewritten")
    line = judge(split("push --force-with-lease origin main"))
    assert run_command(git, line).state is State.SUCCEEDED
    assert plain_git(remote, "rev-parse", "main") == plain_git(git.paths.work_tree, "rev-parse", "main")

    colleague = clone(remote, tmp_path / "colleague")
    theirs = commit_file(colleague, "theirs.txt", "x\n")
    plain_git(colleague, "push", "-q", "origin", "main")
    refused = run_command(git, line)
    assert refused.error is not None and refused.error.code == "lease_broken"
    assert plain_git(remote, "rev-parse", "main") == theirs


def test_a_person_still_sees_the_repository_with_plain_git(git: Git) -> None:
    (git.paths.work_tree / "new.txt").write_text("x\n")
    do(git, Operation.GIT_ADD, AddParams((".",)))

    assert plain_git(git.paths.work_tree, "status", "--porcelain") == "A  new.txt"


def test_an_added_remote_is_fetched_from(git: Git, tmp_path: Path) -> None:
    other = bare_remote(tmp_path / "remotes" / "other.git")
    commit = commit_file(clone(other, tmp_path / "theirs"), "x.txt", "x\n")
    plain_git(tmp_path / "theirs", "push", "-q", "origin", "HEAD:main")
    plain_git(git.paths.transfer, "remote", "add", "other", str(other))

    assert run_command(git, judge(split("fetch other"))).state is State.SUCCEEDED

    assert plain_git(git.paths.work_tree, "rev-parse", "refs/remotes/other/main") == commit
