"""git_cmd on real repositories: what the grammar lets through runs, and is read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_scene import code, done, run
from repos import Adopted, adopted_repository

from executor.errors import Refused
from executor.outcome import State

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path, commits=2)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("log --oneline", "Commit 1"),
        ("show HEAD~1", "Commit 1"),
        ("status --short", "?? new.txt"),
        ("diff", "+changed"),
        ("branch -vv", "origin/main"),
        ("rev-parse --abbrev-ref HEAD", "main"),
        ("remote", "origin"),
        ("blame HEAD -- file.txt", "Test Person"),
        ("grep -n changed", "file.txt:1:changed"),
        ("ls-files", "file.txt"),
        ("stash list", ""),
        ("describe --always", ""),
        ("version", "git version"),
        ("config user.name", "Agent Smith"),
    ],
)
def test_a_reading_command_says_what_git_says(repo: Adopted, line: str, expected: str) -> None:
    repo.write("file.txt", "changed\n")
    repo.write("new.txt", "x\n")

    assert expected in done(repo, line).output


@pytest.mark.parametrize(
    "line", ["grep nothing-like-this", "diff --exit-code", "merge-base --is-ancestor HEAD HEAD~1"]
)
def test_c10_an_answer_of_no_is_an_answer_and_no_failure(repo: Adopted, line: str) -> None:
    repo.write("file.txt", "changed\n")

    outcome = done(repo, line)

    assert outcome.exit_code == 1


def test_a_real_failure_is_a_failure_with_a_name(repo: Adopted) -> None:
    outcome = run(repo, "show nope")

    assert outcome.state is State.FAILED
    assert code(outcome) == "not_found_in_repository"
    assert outcome.exit_code == 128


def test_checking_out_a_branch_is_read_back(repo: Adopted) -> None:
    repo.plain("branch", "topic", "HEAD~1")

    outcome = done(repo, "checkout topic")

    assert outcome.verified["effect"] is True
    assert outcome.verified["branch"] == "topic"
    assert (repo.tree / "file.txt").read_text() == "1\n"


def test_the_case_study_of_a_detached_head_is_solved_by_commands(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "--detach", "HEAD~1")
    repo.plain("branch", "--unset-upstream", "main")

    done(repo, "checkout main")
    outcome = done(repo, "branch --set-upstream-to=origin/main main")

    assert outcome.verified["effect"] is True
    assert repo.plain("rev-parse", "--abbrev-ref", "main@{upstream}") == "origin/main"


def test_checking_out_a_commit_detaches_and_says_so(repo: Adopted) -> None:
    outcome = done(repo, "checkout --detach HEAD~1")

    assert outcome.verified["branch"] is None
    assert outcome.verified["effect"] is True


def test_work_in_the_way_of_a_checkout_is_named_and_kept(repo: Adopted) -> None:
    repo.plain("branch", "topic", "HEAD~1")
    repo.write("file.txt", "unsaved\n")

    outcome = run(repo, "checkout topic")

    assert code(outcome) == "work_in_the_way"
    assert (repo.tree / "file.txt").read_text() == "unsaved\n"


def test_a_reset_is_read_back(repo: Adopted) -> None:
    target = repo.plain("rev-parse", "HEAD~1")

    outcome = done(repo, "reset --hard HEAD~1")

    assert outcome.verified == {"branch": "main", "commit": target, "effect": True}


def test_branches_are_made_renamed_and_deleted(repo: Adopted) -> None:
    assert done(repo, "branch topic HEAD~1").verified["effect"] is True
    assert done(repo, "branch -m topic renamed").verified["effect"] is True
    assert done(repo, "branch -D renamed").verified["effect"] is True
    assert repo.plain("branch", "--format=%(refname:short)") == "main"


def test_the_branch_that_is_checked_out_cannot_be_deleted(repo: Adopted) -> None:
    outcome = run(repo, "branch -D main")

    assert code(outcome) == "branch_in_use"
    assert str(repo.paths.home) not in outcome.output


def test_tags_are_made_and_deleted(repo: Adopted) -> None:
    assert done(repo, "tag v1.0").verified["effect"] is True
    assert repo.ref("refs/tags/v1.0") == repo.ref("refs/heads/main")
    assert done(repo, "tag -d v1.0").verified["effect"] is True


def test_a_name_that_exists_is_named(repo: Adopted) -> None:
    repo.plain("tag", "v1.0")

    assert code(run(repo, "tag v1.0")) == "already_exists"


def test_a_merge_that_conflicts_is_told_with_its_files(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "-b", "other")
    repo.commit("file.txt", "theirs\n")
    repo.plain("checkout", "-q", "main")
    repo.commit("file.txt", "ours\n")

    outcome = run(repo, "merge other")

    assert code(outcome) == "conflicts"
    assert outcome.verified["in_progress"] == "merge"
    assert outcome.verified["conflicted"] == ["file.txt"]
    assert done(repo, "merge --abort").state is State.SUCCEEDED


def test_c05_a_merge_opens_no_editor(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "-b", "other")
    repo.commit("other.txt", "x\n")
    repo.plain("checkout", "-q", "main")
    repo.commit("main.txt", "x\n")

    outcome = done(repo, "merge other")

    assert outcome.verified["effect"] is True
    assert len(repo.plain("log", "-1", "--format=%P").split()) == 2


def test_a_stash_goes_away_and_comes_back(repo: Adopted) -> None:
    repo.write("file.txt", "unsaved\n")

    done(repo, "stash push -m wip")
    assert (repo.tree / "file.txt").read_text() == "2\n"
    done(repo, "stash pop")
    assert (repo.tree / "file.txt").read_text() == "unsaved\n"


def test_a_commit_with_all_changes_is_made_and_read_back(repo: Adopted) -> None:
    repo.write("file.txt", "changed\n")

    outcome = done(repo, 'commit -a -m "All of it"')

    assert outcome.verified["effect"] is True
    assert repo.plain("log", "-1", "--format=%s") == "All of it"


def test_c10_a_commit_of_nothing_is_named(repo: Adopted) -> None:
    assert code(run(repo, 'commit -m "Nothing"')) == "nothing_to_commit"


def test_an_amended_commit_is_read_back(repo: Adopted) -> None:
    before = repo.ref("refs/heads/main")

    outcome = done(repo, 'commit --amend -m "Better"')

    assert outcome.verified["effect"] is True
    assert repo.ref("refs/heads/main") != before


def test_adding_by_command_reports_what_is_staged(repo: Adopted) -> None:
    repo.write("new.txt", "x\n")

    assert "A new.txt" in done(repo, "add -A").output


def test_a_revision_that_moved_after_the_approval_stops_the_command(repo: Adopted) -> None:
    repo.plain("branch", "topic", "HEAD~1")
    approved = str(repo.ref("refs/heads/topic"))
    repo.plain("branch", "-f", "topic", "HEAD")

    outcome = run(repo, "reset --hard topic", {"topic": approved})

    assert code(outcome) == "ref_moved"


def test_a_branch_held_by_a_linked_work_tree_is_not_checked_out_twice(repo: Adopted, tmp_path: Path) -> None:
    repo.plain("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "held")

    outcome = run(repo, "checkout held")

    assert code(outcome) == "branch_in_use"


@pytest.mark.parametrize(
    "line", ["commit", "commit -a", "commit --amend", "commit -e -m x", "rebase -i HEAD~1", "tag -a v1"]
)
def test_c05_what_would_open_an_editor_is_refused_at_once(repo: Adopted, line: str) -> None:
    repo.write("file.txt", "changed\n")
    before = repo.ref("refs/heads/main")

    with pytest.raises(Refused) as caught:
        run(repo, line)

    assert caught.value.hint
    assert repo.ref("refs/heads/main") == before


def test_the_identity_can_be_set_by_command(repo: Adopted) -> None:
    done(repo, 'config user.name "Ada Lovelace"')

    assert repo.plain("config", "--local", "user.name") == "Ada Lovelace"


def test_planted_programs_do_not_run_whatever_is_asked(repo: Adopted) -> None:
    """C15: what an agent could plant in the work tree names drivers that no host configuration knows."""
    canary = repo.tree.parent / "canary"
    repo.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    repo.write(".gitconfig", f'[filter "evil"]\n\tclean = touch {canary}\n\tsmudge = touch {canary}\n')
    repo.write("file.txt", "changed\n")

    for line in (
        "status",
        "diff",
        "add -A",
        'commit -m "x"',
        "log -p",
        "stash push",
        "checkout HEAD~1",
        "checkout main",
    ):
        run(repo, line)

    assert not canary.exists()
