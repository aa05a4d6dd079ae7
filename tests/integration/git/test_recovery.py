"""Recovery of repositories that are really stuck: it ends verified, or it changes nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, clone, commit_file, plain_git, take_over
from repository_states import RepositoryState, state_of

from executor.errors import Refused
from executor.git.recovery_facts import look
from executor.git.recovery_model import Activity
from executor.git.recovery_steps import planned, recover
from executor.git.undo import undo
from executor.outcome import Outcome, State


@pytest.fixture
def repository(tmp_path: Path) -> Adopted:
    """main with three commits, pushed; dev, which changes the same file in another way."""
    found = adopted_repository(tmp_path, commits=3)
    found.plain("switch", "-q", "-c", "dev", "HEAD~1")
    found.commit("file.txt", "dev\n")
    found.commit("dev.txt", "dev\n")
    found.plain("switch", "-q", "main")
    return found


def failing(repository: Adopted, *args: str) -> None:
    with pytest.raises(AssertionError):
        repository.plain(*args)


def detached(repository: Adopted) -> None:
    repository.plain("checkout", "-q", "--detach", "HEAD~1")


def detached_with_commits(repository: Adopted) -> None:
    detached(repository)
    repository.commit("lonely.txt", "one\n")
    repository.commit("lonely.txt", "two\n")


def detached_and_dirty(repository: Adopted) -> None:
    detached(repository)
    repository.write("other.txt", "staged\n")
    repository.plain("add", "other.txt")
    repository.write("untracked.txt", "untracked\n")


def detached_with_work_in_the_way(repository: Adopted) -> None:
    detached(repository)
    repository.write("file.txt", "in the way\n")


def detached_with_an_untracked_file_in_the_way(repository: Adopted) -> None:
    repository.commit("late.txt", "committed\n")
    detached(repository)
    repository.write("late.txt", "untracked\n")


def detached_with_an_ignored_file_in_the_way(repository: Adopted) -> None:
    repository.write("late.log", "committed\n")
    repository.plain("add", "-f", "late.log")
    repository.plain("commit", "-q", "-m", "log")
    detached(repository)
    repository.write(".gitignore", "*.log\n")
    repository.write("late.log", "ignored\n")


def rebasing(repository: Adopted) -> None:
    failing(repository, "rebase", "dev")


def rebasing_with_edits(repository: Adopted) -> None:
    rebasing(repository)
    repository.write("file.txt", "half resolved\n")
    repository.write("new.txt", "new\n")


def rebasing_by_patches(repository: Adopted) -> None:
    failing(repository, "rebase", "--apply", "dev")


def rebasing_with_broken_notes(repository: Adopted) -> None:
    rebasing(repository)
    (repository.paths.local / "rebase-merge" / "head-name").unlink()


def merging(repository: Adopted) -> None:
    failing(repository, "merge", "dev")


def merging_while_detached(repository: Adopted) -> None:
    repository.plain("checkout", "-q", "--detach")
    merging(repository)


def cherry_picking(repository: Adopted) -> None:
    failing(repository, "cherry-pick", "dev~1")


def between_two_cherry_picks(repository: Adopted) -> None:
    failing(repository, "cherry-pick", "dev~1", "dev")
    repository.write("file.txt", "resolved\n")
    repository.plain("add", "file.txt")
    repository.plain("commit", "-q", "-m", "resolved")


def reverting(repository: Adopted) -> None:
    failing(repository, "revert", "--no-edit", "HEAD~1")


def bisecting(repository: Adopted) -> None:
    repository.plain("bisect", "start", "HEAD", "HEAD~2")


def bisecting_from_a_detached_head(repository: Adopted) -> None:
    repository.plain("checkout", "-q", "--detach")
    bisecting(repository)


def applying_mail(repository: Adopted) -> None:
    patch = repository.plain("format-patch", "-1", "--stdout", "dev~1")
    with pytest.raises(AssertionError):
        repository.plain("am", stdin=patch + "\n")


def conflicts_without_a_merge(repository: Adopted) -> None:
    repository.write("file.txt", "stashed\n")
    repository.plain("stash")
    repository.commit("file.txt", "committed\n")
    failing(repository, "stash", "pop")


def no_upstream(repository: Adopted) -> None:
    repository.plain("branch", "--unset-upstream")


def upstream_under_another_name_that_is_gone(repository: Adopted) -> None:
    repository.plain("config", "branch.main.merge", "refs/heads/gone")


def stale_lock(repository: Adopted) -> None:
    lock = repository.paths.local / "index.lock"
    lock.touch()
    os.utime(lock, (time.time() - 7200,) * 2)


def branch_only_at_the_remote(repository: Adopted) -> None:
    repository.plain("checkout", "-q", "--detach")
    repository.plain("branch", "-D", "main")
    repository.plain("branch", "-D", "dev")


STUCK: list[Callable[[Adopted], None]] = [
    detached, detached_with_commits, detached_and_dirty, detached_with_work_in_the_way,
    detached_with_an_untracked_file_in_the_way, detached_with_an_ignored_file_in_the_way, rebasing,
    rebasing_with_edits, rebasing_by_patches, rebasing_with_broken_notes, merging, merging_while_detached,
    cherry_picking, between_two_cherry_picks, reverting, bisecting, bisecting_from_a_detached_head, applying_mail,
    conflicts_without_a_merge, no_upstream, upstream_under_another_name_that_is_gone, stale_lock,
    branch_only_at_the_remote,
]  # fmt: skip


def run(repository: Adopted, request_id: str = "r1", *, keep: bool = False) -> tuple[Outcome, list[tuple[str, str]]]:
    steps: list[tuple[str, str]] = []
    outcome = recover(
        repository.open(),
        request_id,
        on_step=lambda step, state, detail: steps.append((step, str(state))),
        keep_activity=keep,
    )
    return outcome, steps


def without_new_branches(state: RepositoryState, before: RepositoryState) -> RepositoryState:
    """Forget the branches that keep commits: undoing a recovery takes them away, which is as it was before."""
    return replace(state, refs={name: value for name, value in state.refs.items() if name in before.refs})


@pytest.mark.parametrize("stuck", STUCK, ids=lambda build: build.__name__)
def test_every_stuck_state_ends_verified_on_main_and_can_be_undone(
    repository: Adopted, stuck: Callable[[Adopted], None]
) -> None:
    stuck(repository)
    before = state_of(repository)
    ignored = (repository.tree / "late.log").read_bytes() if (repository.tree / "late.log").exists() else None

    outcome, steps = run(repository)

    assert outcome.state is State.SUCCEEDED, outcome
    assert steps[-1] == ("Look at the result", "done")
    assert (repository.paths.local / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert repository.plain("rev-parse", "--abbrev-ref", "main@{upstream}") == "origin/main"
    assert look(repository.open()).activity is None
    assert repository.plain("ls-files", "--unmerged") == ""
    undo(repository.open(), "r1")
    assert state_of(repository) == before
    assert ignored is None or (repository.tree / "late.log").read_bytes() == ignored


def test_commits_on_no_branch_stay_on_a_rescue_branch(repository: Adopted) -> None:
    detached_with_commits(repository)
    commit = repository.plain("rev-parse", "HEAD")

    outcome, _ = run(repository)

    kept = repository.plain("for-each-ref", "--format=%(refname:short)", "--points-at", commit, "refs/heads/rescue")
    assert kept.startswith("rescue/")
    assert f"Branch {kept} with 2 commits" in outcome.output


def test_work_in_the_way_of_the_switch_becomes_the_newest_stash_entry(repository: Adopted) -> None:
    detached_with_work_in_the_way(repository)

    run(repository)

    assert repository.plain("show", "stash@{0}:file.txt") == "in the way"


def test_work_that_is_not_in_the_way_comes_along(repository: Adopted) -> None:
    detached_and_dirty(repository)

    run(repository)

    assert (repository.tree / "untracked.txt").read_text() == "untracked\n"
    assert repository.plain("status", "--porcelain").splitlines() == ["A  other.txt", "?? untracked.txt"]


def test_c11_a_tag_named_like_the_branch_is_not_taken_for_it(repository: Adopted) -> None:
    repository.plain("tag", "main", "dev")
    detached(repository)

    outcome, _ = run(repository)

    assert outcome.state is State.SUCCEEDED, outcome
    assert repository.ref("refs/heads/main") == repository.plain("rev-parse", "HEAD")
    assert (repository.paths.local / "HEAD").read_text() == "ref: refs/heads/main\n"


def test_c13_a_rebase_head_left_alone_is_no_rebase(repository: Adopted) -> None:
    (repository.paths.local / "REBASE_HEAD").write_text(repository.plain("rev-parse", "HEAD") + "\n")

    outcome, steps = run(repository)

    assert (outcome.state, steps) == (State.SUCCEEDED, [])


def test_c23_a_shallow_clone_is_recovered_and_its_cut_is_said(tmp_path: Path) -> None:
    origin = adopted_repository(tmp_path / "origin", commits=4)
    assert origin.remote is not None
    tree = clone(f"file://{origin.remote}", tmp_path / "tree", "--depth", "1")
    repository = Adopted(take_over(tmp_path / "state" / "project", tree, str(origin.remote)), origin.remote)
    repository.plain("checkout", "-q", "--detach")

    diagnosis, _ = planned(repository.open())
    outcome, _ = run(repository)

    assert any("cut" in finding for finding in diagnosis.findings)
    assert outcome.verified["branch"] == "main"


def test_a_rebase_is_left_as_it_is_when_that_was_chosen(repository: Adopted) -> None:
    rebasing(repository)
    before = state_of(repository)

    outcome, steps = run(repository, keep=True)

    assert (outcome.state, steps) == (State.SUCCEEDED, [])
    assert state_of(repository) == before


def fresh_lock(repository: Adopted) -> None:
    detached(repository)
    (repository.paths.local / "index.lock").touch()


def head_of_no_commit(repository: Adopted) -> None:
    (repository.paths.local / "HEAD").write_text("1" * 40 + "\n")


def deleted_branch_under_head(repository: Adopted) -> None:
    repository.plain("symbolic-ref", "HEAD", "refs/heads/deleted")


def main_in_another_work_tree(repository: Adopted) -> None:
    detached(repository)
    repository.plain("worktree", "add", "-q", str(repository.tree.parent / "other"), "main")


def embedded_repository_on_main(repository: Adopted) -> None:
    inner = repository.tree / "inner"
    inner.mkdir()
    plain_git(inner, "init", "-q")
    commit_file(inner, "f", "inner\n")
    repository.plain("add", "inner")
    repository.plain("commit", "-q", "-m", "a gitlink")
    repository.plain("checkout", "-q", "--detach", "HEAD~1")


REFUSED = [
    (fresh_lock, "locked"),
    (head_of_no_commit, "broken_head"),
    (deleted_branch_under_head, "unborn_branch"),
    (main_in_another_work_tree, "branch_elsewhere"),
    (embedded_repository_on_main, "embedded_repository"),
]


@pytest.mark.parametrize(("stuck", "code"), REFUSED, ids=lambda value: getattr(value, "__name__", value))
def test_a_state_that_is_refused_is_left_exactly_as_it_is(
    repository: Adopted, stuck: Callable[[Adopted], None], code: str
) -> None:
    stuck(repository)
    before = sorted((path, path.lstat().st_mtime_ns) for path in repository.tree.rglob("*"))
    head, refs = (repository.paths.local / "HEAD").read_text(), repository.plain("for-each-ref")

    with pytest.raises(Refused) as refused:
        run(repository)

    assert refused.value.code == code
    assert refused.value.hint
    assert sorted((path, path.lstat().st_mtime_ns) for path in repository.tree.rglob("*")) == before
    assert ((repository.paths.local / "HEAD").read_text(), repository.plain("for-each-ref")) == (head, refs)


def test_a_lock_that_a_live_process_holds_is_never_removed(repository: Adopted) -> None:
    """C02."""
    stale_lock(repository)
    lock = repository.paths.local / "index.lock"

    with lock.open("a"), pytest.raises(Refused) as refused:
        holder = os.fork()
        if holder == 0:
            time.sleep(30)
            os._exit(0)
        try:
            run(repository)
        finally:
            os.kill(holder, 9)
            os.waitpid(holder, 0)

    assert refused.value.code == "locked"
    assert lock.exists()


def test_a_step_that_fails_is_the_last_one_and_everything_is_kept(repository: Adopted) -> None:
    rebasing(repository)
    before = state_of(repository)
    (repository.paths.local / "rebase-merge" / "orig-head").write_text("1" * 40 + "\n")
    broken = state_of(repository)
    assert before == broken

    outcome, steps = run(repository)

    assert outcome.state is State.FAILED
    assert [state for _, state in steps] == ["started", "done", "started", "failed"]
    assert outcome.error is not None
    assert "refs/rescue/r1" in outcome.error.hint
    assert repository.ref("refs/rescue/r1/record") is not None


def test_the_activity_between_two_picks_is_seen(repository: Adopted) -> None:
    between_two_cherry_picks(repository)

    assert look(repository.open()).activity is Activity.CHERRY_PICK
