"""git_push to a real remote in a directory: forward only, exactly what was looked at, and proved."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_scene import code
from repos import LOCAL_ACCESS, Adopted, adopted_repository, clone, commit_file, plain_git, take_over

from executor.git.actions import run_operation
from executor.git.repository import RemoteAccess
from executor.outcome import Outcome, State
from executor.policy.model import Operation, PushParams, Request

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def push(
    repo: Adopted,
    branch: str | None = "main",
    *,
    access: RemoteAccess = LOCAL_ACCESS,
    bound: dict[str, str] | None = None,
) -> Outcome:
    request = Request(Operation.GIT_PUSH, PushParams(branch))
    return run_operation(repo.open(access), request, default_branch=None, bound=bound)


def push_as_a_colleague(repo: Adopted, where: Path, count: int = 1) -> str:
    assert repo.remote is not None
    colleague = clone(repo.remote, where)
    for number in range(count):
        commit_file(colleague, f"theirs{number}.txt", "theirs\n")
    plain_git(colleague, "push", "-q", "origin", "HEAD")
    return plain_git(colleague, "rev-parse", "HEAD")


def test_new_commits_arrive_and_the_remote_is_asked_for_the_proof(repo: Adopted) -> None:
    old, new = repo.remote_ref("refs/heads/main"), repo.commit("a.txt", "a\n")

    outcome = push(repo)

    assert outcome.state is State.SUCCEEDED
    assert outcome.verified == {"effect": True, "remote": "origin", "ref": "refs/heads/main", "old": old, "new": new}
    assert repo.remote_ref("refs/heads/main") == new


def test_the_tracking_ref_of_both_git_directories_follows(repo: Adopted) -> None:
    new = repo.commit("a.txt", "a\n")

    push(repo)

    assert repo.ref("refs/remotes/origin/main") == new
    assert plain_git(repo.paths.transfer, "rev-parse", "refs/remotes/origin/main") == new


def test_nothing_new_is_a_success_that_says_so(repo: Adopted) -> None:
    outcome = push(repo)

    assert outcome.state is State.SUCCEEDED
    assert "nothing to push" in outcome.output


def test_a_new_branch_is_made_and_followed(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "-b", "topic/x")
    new = repo.commit("a.txt", "a\n")

    outcome = push(repo, "topic/x")

    assert repo.remote_ref("refs/heads/topic/x") == new
    assert outcome.verified["old"] is None
    assert "now follows origin/topic/x" in outcome.output
    assert repo.plain("rev-parse", "--abbrev-ref", "topic/x@{upstream}") == "origin/topic/x"


def test_a_missing_upstream_is_set_even_when_there_was_nothing_to_push(repo: Adopted) -> None:
    repo.plain("branch", "--unset-upstream", "main")

    push(repo)

    assert repo.plain("rev-parse", "--abbrev-ref", "main@{upstream}") == "origin/main"


def test_without_a_name_the_current_branch_is_pushed(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "-b", "topic")

    assert push(repo, None).verified["ref"] == "refs/heads/topic"


def test_without_a_name_on_a_detached_head_nothing_is_guessed(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "--detach")

    assert code(push(repo, None)) == "detached_head"


def test_commits_that_were_not_fetched_yet_are_not_overwritten(repo: Adopted, tmp_path: Path) -> None:
    theirs = push_as_a_colleague(repo, tmp_path / "colleague")
    repo.commit("ours.txt", "ours\n")

    outcome = push(repo)

    assert code(outcome) == "non_fast_forward"
    assert outcome.error is not None
    assert "fetch origin" in outcome.error.hint
    assert repo.remote_ref("refs/heads/main") == theirs


def test_a_divergence_that_is_known_is_told_in_numbers(repo: Adopted, tmp_path: Path) -> None:
    push_as_a_colleague(repo, tmp_path / "colleague", 2)
    repo.commit("ours.txt", "ours\n")
    plain_git(repo.paths.local, "fetch", "-q", str(repo.remote), "main")

    outcome = push(repo)

    assert code(outcome) == "non_fast_forward"
    assert "1 ahead, 2 behind" in outcome.output


def test_a_rewritten_branch_is_not_pushed(repo: Adopted) -> None:
    before = repo.remote_ref("refs/heads/main")
    repo.plain("commit", "-q", "--amend", "-m", "Rewritten")

    assert code(push(repo)) == "non_fast_forward"
    assert repo.remote_ref("refs/heads/main") == before


def test_c11_an_unborn_branch_is_named_as_such(tmp_path: Path) -> None:
    repo = adopted_repository(tmp_path, commits=0, pushed=False)

    assert code(push(repo)) == "unborn_branch"


def test_a_branch_that_does_not_exist_is_named(repo: Adopted) -> None:
    assert code(push(repo, "nope")) == "no_such_branch"


@pytest.mark.parametrize("kind", ["tag", "remote branch", "commit"])
def test_c11_only_a_local_branch_is_pushed(repo: Adopted, kind: str) -> None:
    name = {"tag": "v1.0", "remote branch": "origin/main", "commit": str(repo.ref("refs/heads/main"))}[kind]
    repo.plain("tag", "v1.0")

    assert code(push(repo, name)) == "no_such_branch"


def test_c11_a_tag_named_like_the_branch_does_not_decide_what_is_pushed(repo: Adopted) -> None:
    repo.plain("tag", "main")
    new = repo.commit("a.txt", "a\n")

    push(repo, "main")

    assert repo.remote_ref("refs/heads/main") == new
    assert repo.remote_ref("refs/tags/main") is None


def test_without_a_remote_the_outcome_says_who_has_to_add_one(tmp_path: Path) -> None:
    repo = adopted_repository(tmp_path, remote=False)

    assert code(push(repo)) == "no_remote"


def test_a_remote_that_is_gone_is_named(repo: Adopted) -> None:
    assert repo.remote is not None
    repo.remote.rename(repo.remote.with_name("moved.git"))
    (repo.remote).mkdir()

    assert code(push(repo)) == "remote_not_found"


def test_the_branch_an_operator_has_checked_out_at_the_remote_is_declined(repo: Adopted, tmp_path: Path) -> None:
    assert repo.remote is not None
    plain_git(repo.remote, "config", "core.bare", "false")
    repo.commit("a.txt", "a\n")

    assert code(push(repo)) == "remote_declined"


def test_a_local_path_as_remote_is_refused_where_the_host_does_not_allow_it(repo: Adopted) -> None:
    outcome = push(repo, access=RemoteAccess())

    assert outcome.state is State.REFUSED
    assert code(outcome) == "remote_url"


def test_a_branch_that_moved_after_the_approval_is_not_pushed(repo: Adopted) -> None:
    approved, old = repo.commit("a.txt", "a\n"), repo.remote_ref("refs/heads/main")
    repo.commit("smuggled.txt", "x\n")

    outcome = push(repo, bound={"new:refs/heads/main": approved, "remote:refs/heads/main": str(old)})

    assert code(outcome) == "branch_moved"
    assert repo.remote_ref("refs/heads/main") == old


def test_a_remote_that_moved_after_the_approval_is_not_pushed_to(repo: Adopted, tmp_path: Path) -> None:
    old, new = repo.remote_ref("refs/heads/main"), repo.commit("a.txt", "a\n")
    push_as_a_colleague(repo, tmp_path / "colleague")

    assert (
        code(push(repo, bound={"new:refs/heads/main": new, "remote:refs/heads/main": str(old)})) == "remote_changed"
    )


def test_what_was_approved_as_a_new_branch_is_not_pushed_over_one_that_appeared(
    repo: Adopted, tmp_path: Path
) -> None:
    repo.plain("checkout", "-q", "-b", "topic")
    new = repo.commit("a.txt", "a\n")
    bound = {"new:refs/heads/topic": new, "remote:refs/heads/topic": ""}
    assert push(repo, "topic", bound=bound).state is State.SUCCEEDED

    assert code(push(repo, "topic", bound=bound)) == "remote_changed"


def test_c23_from_a_shallow_clone_a_push_that_only_adds_goes_through(repo: Adopted, tmp_path: Path) -> None:
    shallow = shallow_adopted(repo, tmp_path)
    new = shallow.commit("a.txt", "a\n")

    assert push(shallow).state is State.SUCCEEDED
    assert repo.remote_ref("refs/heads/main") == new


def test_c23_a_cut_history_is_named_where_it_hides_whether_the_push_only_adds(repo: Adopted, tmp_path: Path) -> None:
    for number in range(3):
        repo.commit(f"{number}.txt", "x\n")
    push(repo)
    shallow = shallow_adopted(repo, tmp_path)
    known = shallow.plain("rev-parse", "HEAD")
    shallow.plain("checkout", "-q", "--orphan", "fresh")
    shallow.plain("commit", "-q", "-m", "Unrelated")
    shallow.plain("branch", "-q", "-M", "fresh", "main")

    outcome = push(shallow)

    assert code(outcome) == "history_cut"
    assert outcome.error is not None
    assert "--unshallow" in outcome.error.hint
    assert repo.remote_ref("refs/heads/main") == known


def shallow_adopted(repo: Adopted, where: Path) -> Adopted:
    """A shallow clone of the same remote, adopted."""
    tree = clone(f"file://{repo.remote}", where / "shallow", "--depth", "1")
    plain_git(tree, "config", "user.name", "Agent Smith")
    plain_git(tree, "config", "user.email", "agent@example.org")
    return Adopted(take_over(where / "state2" / "repos" / "project", tree, str(repo.remote)), repo.remote)


def test_what_the_local_repository_says_about_the_remote_is_not_believed(repo: Adopted, tmp_path: Path) -> None:
    decoy = plain_git(tmp_path, "init", "-q", "--bare", str(tmp_path / "decoy.git"))
    assert decoy == ""
    for key in ("remote.origin.url", "remote.origin.pushurl", "url.x.insteadOf"):
        repo.plain("config", key, str(tmp_path / "decoy.git"))
    repo.plain("config", "remote.origin.receivepack", "touch /nonexistent; git-receive-pack")
    new = repo.commit("a.txt", "a\n")

    push(repo)

    assert repo.remote_ref("refs/heads/main") == new
    assert plain_git(tmp_path / "decoy.git", "for-each-ref") == ""


def test_a_hook_of_the_repository_does_not_run_on_push(repo: Adopted) -> None:
    canary = repo.tree.parent / "canary"
    for directory in (repo.paths.local, repo.paths.transfer):
        (directory / "hooks").mkdir(exist_ok=True)
        hook = directory / "hooks" / "pre-push"
        hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
        hook.chmod(0o755)
    repo.commit("a.txt", "a\n")

    assert push(repo).state is State.SUCCEEDED
    assert not canary.exists()
