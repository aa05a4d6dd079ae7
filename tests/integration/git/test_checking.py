"""git_status and git_check on real repositories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, clone, plain_git, take_over, work_tree

from executor.git.actions import run_operation
from executor.outcome import Outcome, State
from executor.policy.model import NoParams, Operation, Request
from executor.sandbox.process import Completed, ProcessRunner

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def check(repo: Adopted) -> str:
    outcome = run_operation(repo.open(), Request(Operation.GIT_CHECK, NoParams()))
    assert outcome.state is State.SUCCEEDED
    assert outcome.files == {"git_check.txt": outcome.output}
    return outcome.output


def status(repo: Adopted) -> Outcome:
    return run_operation(repo.open(), Request(Operation.GIT_STATUS, NoParams()))


def test_the_status_is_published_as_git_words_it(repo: Adopted) -> None:
    repo.write("new.txt", "x\n")

    outcome = status(repo)

    assert outcome.files["git_status.txt"] == repo.plain("status") + "\n"


def test_one_process_is_all_that_a_status_starts(repo: Adopted, monkeypatch: pytest.MonkeyPatch) -> None:
    git = repo.open()
    started: list[tuple[str, ...]] = []
    run = ProcessRunner.run

    def counted(self: ProcessRunner, argv: tuple[str, ...], **how: object) -> Completed:
        started.append(tuple(argv[1:]))
        return run(self, argv, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(ProcessRunner, "run", counted)
    run_operation(git, Request(Operation.GIT_STATUS, NoParams()))

    assert started == [("status", "--ignore-submodules=all")]


def test_a_gitlink_in_the_index_does_not_make_the_status_look_inside(repo: Adopted) -> None:
    nested = work_tree(repo.tree / "nested")
    canary = repo.tree.parent / "canary"
    plain_git(nested, "config", "core.fsmonitor", f"touch {canary}; false")
    repo.plain("update-index", "--add", "--cacheinfo", f"160000,{repo.ref('refs/heads/main')},nested")
    repo.write(".gitmodules", '[submodule "nested"]\n\tpath = nested\n\turl = ./nested\n\tignore = none\n')

    assert status(repo).state is State.SUCCEEDED
    assert not canary.exists()


def test_a_huge_status_is_cut_and_said_to_be(repo: Adopted) -> None:
    for number in range(6000):
        (repo.tree / f"{'x' * 60}{number}").touch()

    outcome = status(repo)

    assert outcome.truncated
    assert len(outcome.output) < 300_000


def test_a_healthy_repository_is_described(repo: Adopted) -> None:
    text = check(repo)

    assert "Identity:     Agent Smith <agent@example.org>\n" in text
    assert "Branch:       main\n" in text
    assert f"Commit:       {repo.ref('refs/heads/main')}\n" in text
    assert "Upstream:     origin/main (0 ahead, 0 behind)\n" in text
    assert "In progress:  nothing\n" in text
    assert f"Remote origin: {plain_git(repo.paths.transfer, 'remote', 'get-url', 'origin').strip()}\n" in text


def test_c21_a_password_in_the_remote_is_masked(repo: Adopted) -> None:
    plain_git(repo.paths.transfer, "config", "remote.origin.url", "https://bot:ghp_secret@example.org/x.git")

    text = check(repo)

    assert "ghp_secret" not in text
    assert "https://***@example.org/x.git" in text


def test_an_identity_that_is_missing_is_told_with_the_way_to_set_it(tmp_path: Path) -> None:
    assert "git_set_config.flag" in check(adopted_repository(tmp_path, identity=False))


def test_c11_a_detached_head_is_told(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "--detach")

    text = check(repo)

    assert "HEAD is detached" in text
    assert "Upstream:     none (not on a branch)" in text


def test_c11_an_unborn_branch_is_told(tmp_path: Path) -> None:
    text = check(adopted_repository(tmp_path, commits=0, pushed=False))

    assert "main (no commit yet)" in text
    assert "Commit:       none yet" in text


def test_commits_ahead_and_a_gone_upstream_are_told(repo: Adopted) -> None:
    repo.commit("a.txt", "a\n")
    assert "(1 ahead, 0 behind)" in check(repo)

    repo.plain("update-ref", "-d", "refs/remotes/origin/main")
    assert "gone" in check(repo)


def test_c11_a_tag_named_like_the_branch_changes_nothing(repo: Adopted) -> None:
    before = check(repo)
    repo.plain("tag", "main")
    repo.plain("tag", "origin/main")

    assert check(repo) == before


@pytest.mark.parametrize(
    ("command", "name"), [("merge", "merge"), ("cherry-pick", "cherry-pick"), ("rebase", "rebase")]
)
def test_an_unfinished_operation_is_named(repo: Adopted, command: str, name: str) -> None:
    repo.plain("checkout", "-q", "-b", "other")
    repo.commit("file.txt", "theirs\n")
    repo.plain("checkout", "-q", "main")
    repo.commit("file.txt", "ours\n")
    with pytest.raises(AssertionError):
        repo.plain(command, "other")

    assert f"In progress:  {name}\n" in check(repo)


def test_c13_a_rebase_head_that_was_left_behind_is_no_rebase(repo: Adopted) -> None:
    (repo.paths.local / "REBASE_HEAD").write_text(f"{repo.ref('refs/heads/main')}\n")

    assert "In progress:  nothing\n" in check(repo)


def test_c23_a_shallow_clone_does_not_guess_distances(repo: Adopted, tmp_path: Path) -> None:
    repo.commit("a.txt", "a\n")
    repo.plain("push", "-q", str(repo.remote), "main")
    tree = clone(f"file://{repo.remote}", tmp_path / "shallow", "--depth", "1")
    shallow = Adopted(take_over(tmp_path / "state2" / "project", tree, str(repo.remote)), repo.remote)

    text = check(shallow)

    assert "unknown how far apart" in text
    assert "--unshallow" in text


def test_an_index_lock_is_told_with_its_age(repo: Adopted) -> None:
    lock = repo.paths.local / "index.lock"
    lock.touch()
    os.utime(lock, (lock.stat().st_mtime - 1800, lock.stat().st_mtime - 1800))

    assert "Lock:         index.lock, 30 min old, held by nobody that is seen" in check(repo)
