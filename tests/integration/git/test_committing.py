"""git_commit and git_set_config on real repositories."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command_scene import code
from repos import Adopted, adopted_repository

from executor.git.actions import run_operation
from executor.outcome import Outcome, State
from executor.policy.model import CommitParams, NoParams, Operation, Request, SetConfigParams

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def commit(repo: Adopted, message: str = "A message", **bound: str) -> Outcome:
    return run_operation(repo.open(), Request(Operation.GIT_COMMIT, CommitParams(message)), bound=bound)


def stage(repo: Adopted, name: str = "new.txt", content: str = "x\n") -> None:
    repo.write(name, content)
    repo.plain("add", "--", name)


def conflicting_branch(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "-b", "other")
    repo.commit("file.txt", "theirs\n", "Theirs")
    repo.plain("checkout", "-q", "main")
    repo.commit("file.txt", "ours\n", "Ours")


def in_conflict(repo: Adopted, *command: str) -> None:
    """Run a command by plain git that ends in a conflict, and resolve and stage it."""
    with pytest.raises(AssertionError):
        repo.plain(*command)
    repo.write("file.txt", "both\n")
    repo.plain("add", "file.txt")


def test_the_staged_change_is_committed_on_the_branch(repo: Adopted) -> None:
    before = repo.ref("refs/heads/main")
    stage(repo)

    outcome = commit(repo, "Add it")

    after = repo.ref("refs/heads/main")
    assert outcome.state is State.SUCCEEDED
    assert outcome.verified == {"effect": True, "commit": after, "branch": "main", "parents": [before]}
    assert repo.plain("log", "-1", "--format=%s %an <%ae>") == "Add it Agent Smith <agent@example.org>"
    assert repo.plain("status", "--porcelain") == ""


@pytest.mark.parametrize(
    "message", ["#1 is fixed\n\n# not a comment\n", "two\nlines", "  indented", "ünïcode 🎉", "-m x"]
)
def test_the_message_arrives_as_it_was_written(repo: Adopted, message: str) -> None:
    stage(repo)

    commit(repo, message)

    assert repo.plain("log", "-1", "--format=%B").rstrip("\n") == message.rstrip("\n")


def test_a_message_longer_than_an_argument_may_be_is_committed(repo: Adopted) -> None:
    stage(repo)
    message = "subject\n\n" + "long line\n" * 20_000

    assert commit(repo, message).state is State.SUCCEEDED
    assert len(repo.plain("log", "-1", "--format=%B")) > 190_000


def test_an_empty_message_is_refused(repo: Adopted) -> None:
    stage(repo)

    outcome = commit(repo, " \n\t\n")

    assert outcome.state is State.REFUSED
    assert code(outcome) == "empty_message"


def test_c10_nothing_staged_is_named_and_no_commit_is_made(repo: Adopted) -> None:
    before = repo.ref("refs/heads/main")
    repo.write("untracked.txt", "x\n")

    outcome = commit(repo)

    assert outcome.state is State.FAILED
    assert code(outcome) == "nothing_to_commit"
    assert repo.ref("refs/heads/main") == before


def test_without_an_identity_the_way_to_set_one_is_named(tmp_path: Path) -> None:
    repo = adopted_repository(tmp_path, identity=False)
    stage(repo)

    outcome = commit(repo)

    assert code(outcome) == "identity_unknown"
    assert outcome.error is not None
    assert "git_set_config.flag" in outcome.error.hint


def test_the_first_commit_of_an_unborn_branch_has_no_parent(tmp_path: Path) -> None:
    repo = adopted_repository(tmp_path, commits=0, pushed=False)
    stage(repo)

    outcome = commit(repo, "First")

    assert outcome.verified["parents"] == []
    assert outcome.verified["branch"] == "main"


def test_an_unborn_branch_with_nothing_staged_has_nothing_to_commit(tmp_path: Path) -> None:
    repo = adopted_repository(tmp_path, commits=0, pushed=False)

    assert code(commit(repo)) == "nothing_to_commit"


def test_on_a_detached_head_no_branch_moves(repo: Adopted) -> None:
    main = repo.ref("refs/heads/main")
    repo.plain("checkout", "-q", "--detach")
    stage(repo)

    outcome = commit(repo)

    assert outcome.verified["branch"] is None
    assert repo.plain("rev-parse", "HEAD") == outcome.verified["commit"]
    assert repo.ref("refs/heads/main") == main


def test_unresolved_conflicts_are_named_by_path(repo: Adopted) -> None:
    conflicting_branch(repo)
    with pytest.raises(AssertionError):
        repo.plain("merge", "-q", "other")

    outcome = commit(repo)

    assert code(outcome) == "conflicts"
    assert "file.txt" in outcome.output


def test_a_merge_is_concluded_with_both_parents(repo: Adopted) -> None:
    conflicting_branch(repo)
    in_conflict(repo, "merge", "-q", "other")

    outcome = commit(repo, "Merge other")

    assert outcome.verified["parents"] == [repo.plain("rev-parse", "HEAD^1"), repo.ref("refs/heads/other")]
    assert "You have unmerged" not in repo.plain("status")
    assert not (repo.paths.local / "MERGE_HEAD").exists()


def test_a_cherry_pick_keeps_its_author_and_is_concluded(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "-b", "other")
    repo.write("file.txt", "theirs\n")
    repo.plain("commit", "-q", "-a", "-m", "Theirs", "--author=Grace <grace@example.org>")
    repo.plain("checkout", "-q", "main")
    repo.commit("file.txt", "ours\n", "Ours")
    in_conflict(repo, "cherry-pick", "other")

    commit(repo, "Picked")

    assert repo.plain("log", "-1", "--format=%an/%cn") == "Grace/Agent Smith"
    assert "cherry-pick" not in repo.plain("status")


def test_a_commit_in_the_middle_of_a_rebase_leaves_the_rebase_in_progress(repo: Adopted) -> None:
    conflicting_branch(repo)
    in_conflict(repo, "rebase", "other")

    commit(repo, "By hand")

    assert "rebase in progress" in repo.plain("status")


def test_an_index_that_changed_after_the_approval_is_not_committed(repo: Adopted) -> None:
    stage(repo, "approved.txt")
    tree = repo.plain("write-tree")
    stage(repo, "smuggled.txt")
    before = repo.ref("refs/heads/main")

    outcome = commit(repo, tree=tree)

    assert code(outcome) == "index_changed"
    assert repo.ref("refs/heads/main") == before


def test_the_reflog_says_what_was_committed(repo: Adopted) -> None:
    stage(repo)

    commit(repo, "Say it\n\nbody")

    assert repo.plain("log", "-g", "-1", "--format=%gs", "main") == "commit: Say it"
    assert repo.plain("log", "-g", "-1", "--format=%gs", "HEAD") == "commit: Say it"


def test_hooks_of_every_name_stay_silent(repo: Adopted) -> None:
    canary = repo.tree.parent / "canary"
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "prepare-commit-msg"):
        hook = repo.paths.local / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
        hook.chmod(0o755)
    stage(repo)

    assert commit(repo).state is State.SUCCEEDED
    assert not canary.exists()


def test_c11_a_tag_named_like_the_branch_is_not_taken_for_it(repo: Adopted) -> None:
    repo.plain("tag", "main")
    tagged = repo.ref("refs/tags/main")
    stage(repo)

    outcome = commit(repo)

    assert repo.ref("refs/heads/main") == outcome.verified["commit"]
    assert repo.ref("refs/tags/main") == tagged


def test_a_submodule_pointer_that_is_there_already_can_be_committed_around(repo: Adopted) -> None:
    pointer = repo.plain("rev-parse", "HEAD")
    repo.plain("update-index", "--add", "--cacheinfo", f"160000,{pointer},vendored")

    outcome = commit(repo)

    assert outcome.state is State.SUCCEEDED
    assert f"160000 commit {pointer}\tvendored" in repo.plain("ls-tree", "HEAD")


def set_config(repo: Adopted, name: str, email: str) -> Outcome:
    return run_operation(repo.open(), Request(Operation.GIT_SET_CONFIG, SetConfigParams(name, email)))


def test_the_identity_is_set_in_the_repository_and_read_back(tmp_path: Path) -> None:
    repo = adopted_repository(tmp_path, identity=False)

    outcome = set_config(repo, "Ada Lovelace", "ada@example.org")

    assert outcome.verified == {"effect": True, "name": "Ada Lovelace", "email": "ada@example.org"}
    assert repo.plain("config", "--local", "user.name") == "Ada Lovelace"


@pytest.mark.parametrize("name", ["--unset", "-e", "# not a comment", 'quote " and \\ slash', " ; semicolon"])
def test_a_name_that_looks_like_an_option_or_like_syntax_is_only_a_name(repo: Adopted, name: str) -> None:
    outcome = set_config(repo, name, "ada@example.org")

    assert outcome.verified["effect"] is True
    assert repo.plain("config", "--local", "user.name") == name
    assert repo.plain("config", "--local", "user.email") == "ada@example.org"


def test_the_new_identity_makes_the_next_commit(repo: Adopted) -> None:
    set_config(repo, "Ada Lovelace", "ada@example.org")
    stage(repo)

    commit(repo)

    assert repo.plain("log", "-1", "--format=%cn") == "Ada Lovelace"


def test_a_process_that_holds_the_index_lock_makes_committing_wait(repo: Adopted) -> None:
    stage(repo)
    lock = repo.paths.local / "index.lock"
    with subprocess.Popen(["/bin/sh", "-c", f"exec 9>{lock}; echo held; read x"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as holder:  # fmt: skip
        assert holder.stdout is not None
        holder.stdout.readline()

        outcome = commit(repo)
        holder.communicate(b"\n")

    assert code(outcome) == "index_locked"
    assert f"held by process {holder.pid}" in outcome.output


def test_status_works_while_the_index_is_locked(repo: Adopted) -> None:
    (repo.paths.local / "index.lock").touch()

    outcome = run_operation(repo.open(), Request(Operation.GIT_STATUS, NoParams()))

    assert outcome.state is State.SUCCEEDED
