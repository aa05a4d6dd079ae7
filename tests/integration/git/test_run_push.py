"""git_cmd for push on a real remote in a directory: exact ids, leases, and proof."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_scene import code, done, run, theirs
from repos import Adopted, adopted_repository, clone, plain_git

from executor.outcome import State

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


@pytest.fixture
def colleague(repo: Adopted, tmp_path: Path) -> Path:
    assert repo.remote is not None
    return clone(repo.remote, tmp_path / "colleague")


def test_pushing_by_command_goes_forward_and_is_proved(repo: Adopted) -> None:
    new = repo.commit("a.txt", "a\n")

    outcome = done(repo, "push origin main")

    assert repo.remote_ref("refs/heads/main") == new
    assert outcome.verified["refs"] == {"refs/heads/main": new}


def test_pushing_without_words_means_the_current_branch(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "-b", "topic")

    done(repo, "push -u")

    assert repo.remote_ref("refs/heads/topic") == repo.ref("refs/heads/topic")
    assert repo.plain("rev-parse", "--abbrev-ref", "topic@{upstream}") == "origin/topic"


def test_where_head_is_on_no_branch_it_is_pushed_under_the_name_that_is_given(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "--detach")
    new = repo.commit("a.txt", "a\n")

    assert code(run(repo, "push origin HEAD")) == "detached_head"
    done(repo, "push origin HEAD:topic")

    assert repo.remote_ref("refs/heads/topic") == new


def test_a_push_that_would_lose_commits_is_not_made_without_force(repo: Adopted, colleague: Path) -> None:
    kept = theirs(colleague)
    repo.commit("ours.txt", "ours\n")

    assert code(run(repo, "push origin main")) == "non_fast_forward"
    assert repo.remote_ref("refs/heads/main") == kept


def test_with_force_the_remote_is_rewritten(repo: Adopted, colleague: Path) -> None:
    theirs(colleague)
    new = repo.commit("ours.txt", "ours\n")

    done(repo, "push --force origin main")

    assert repo.remote_ref("refs/heads/main") == new


def test_with_a_lease_the_remote_is_rewritten_only_from_what_was_fetched(repo: Adopted, colleague: Path) -> None:
    repo.plain("commit", "-q", "--amend", "-m", "Rewritten")
    done(repo, "push --force-with-lease origin main")
    assert repo.remote_ref("refs/heads/main") == repo.ref("refs/heads/main")

    plain_git(colleague, "fetch", "-q")
    plain_git(colleague, "reset", "-q", "--hard", "origin/main")
    kept = theirs(colleague)
    repo.plain("commit", "-q", "--amend", "-m", "Again")
    assert code(run(repo, "push --force-with-lease origin main")) == "lease_broken"
    assert repo.remote_ref("refs/heads/main") == kept


def test_a_remote_branch_is_deleted_by_either_spelling(repo: Adopted) -> None:
    repo.plain("push", "-q", str(repo.remote), "main:one", "main:two")

    done(repo, "push origin :one")
    done(repo, "push --delete origin two")

    assert repo.remote_ref("refs/heads/one") is None
    assert repo.remote_ref("refs/heads/two") is None


def test_tags_are_pushed_as_they_are_and_never_moved(repo: Adopted) -> None:
    repo.plain("tag", "-a", "-m", "Release", "v1.0")
    done(repo, "push origin refs/tags/v1.0")
    assert repo.remote_ref("refs/tags/v1.0") == repo.ref("refs/tags/v1.0")

    repo.commit("a.txt", "a\n")
    repo.plain("tag", "-f", "-a", "-m", "Moved", "v1.0")
    assert code(run(repo, "push origin refs/tags/v1.0")) == "tag_exists"


@pytest.mark.parametrize("what", ["HEAD^{tree}", "HEAD:file.txt"])
def test_a_tag_of_what_is_no_commit_is_not_pushed_for_nobody_would_see_what_goes(repo: Adopted, what: str) -> None:
    repo.plain("tag", "bare", what)
    repo.plain("tag", "-a", "-m", "Wrapped", "wrapped", what)

    for line in ("push origin bare", "push origin refs/tags/wrapped", "push --tags origin"):
        assert code(run(repo, line)) == "not_found_in_repository"
    assert repo.remote_ref("refs/tags/bare") is None
    assert repo.remote_ref("refs/tags/wrapped") is None


def test_c11_a_name_that_is_both_a_branch_and_a_tag_is_not_guessed(repo: Adopted) -> None:
    repo.plain("tag", "main")

    assert code(run(repo, "push origin main")) == "ambiguous_name"
    done(repo, "push origin refs/heads/main")


def test_a_dry_run_of_a_push_changes_nothing(repo: Adopted) -> None:
    before = repo.remote_ref("refs/heads/main")
    repo.commit("a.txt", "a\n")

    outcome = done(repo, "push --dry-run origin main")

    assert repo.remote_ref("refs/heads/main") == before
    assert "dry run" in outcome.output


def test_tags_that_follow_are_pushed_with_the_branch(repo: Adopted) -> None:
    repo.commit("a.txt", "a\n")
    repo.plain("tag", "-a", "-m", "Release", "v1.0")
    repo.plain("tag", "lightweight")

    done(repo, "push --follow-tags origin main")

    assert repo.remote_ref("refs/tags/v1.0") is not None
    assert repo.remote_ref("refs/tags/lightweight") is None


def test_only_the_refs_and_ids_that_were_approved_are_pushed(repo: Adopted) -> None:
    old, new = str(repo.remote_ref("refs/heads/main")), repo.commit("a.txt", "a\n")
    bound = {"new:refs/heads/main": new, "remote:refs/heads/main": old}
    repo.plain("branch", "other")

    assert code(run(repo, "push origin main other", bound)) == "branch_moved"
    assert repo.remote_ref("refs/heads/main") == old
    assert run(repo, "push origin main", bound).state is State.SUCCEEDED


def test_a_deletion_that_was_approved_deletes_only_what_was_there(repo: Adopted) -> None:
    repo.plain("push", "-q", str(repo.remote), "main:old")
    bound = {"new:refs/heads/old": "", "remote:refs/heads/old": "0" * 40}

    assert code(run(repo, "push origin :old", bound)) == "remote_changed"
    assert repo.remote_ref("refs/heads/old") is not None
