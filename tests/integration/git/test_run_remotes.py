"""git_cmd for ls-remote and the remote family, on a real remote in a directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_scene import done, theirs
from repos import Adopted, adopted_repository, clone, plain_git

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


@pytest.fixture
def colleague(repo: Adopted, tmp_path: Path) -> Path:
    assert repo.remote is not None
    return clone(repo.remote, tmp_path / "colleague")


def test_what_the_remote_has_is_listed(repo: Adopted) -> None:
    assert f"{repo.remote_ref('refs/heads/main')}\trefs/heads/main" in done(repo, "ls-remote origin").output


def test_a_remote_is_shown_with_what_became_of_its_branches(repo: Adopted, colleague: Path) -> None:
    theirs(colleague)
    theirs(colleague, "new.txt", branch="topic")

    outcome = done(repo, "remote show origin")

    assert "main tracked, behind the remote" in outcome.output
    assert "topic new (not fetched yet)" in outcome.output


def test_pruning_a_remote_drops_what_is_gone(repo: Adopted, colleague: Path) -> None:
    theirs(colleague, branch="topic")
    done(repo, "fetch origin")
    plain_git(colleague, "push", "-q", "origin", ":topic")

    outcome = done(repo, "remote prune origin")

    assert "refs/remotes/origin/topic is gone" in outcome.output
    assert repo.ref("refs/remotes/origin/topic") is None
    assert plain_git(repo.paths.transfer, "for-each-ref", "refs/remotes/origin/topic") == ""


def test_all_remotes_are_updated(repo: Adopted, colleague: Path) -> None:
    commit = theirs(colleague)

    done(repo, "remote update")

    assert repo.ref("refs/remotes/origin/main") == commit


def test_a_remote_is_added_to_the_transfer_repository_and_its_address_stays_there(repo: Adopted) -> None:
    outcome = done(repo, "remote add upstream https://example.org/x.git")

    assert outcome.verified["effect"] is True
    assert plain_git(repo.paths.transfer, "config", "remote.upstream.url") == "https://example.org/x.git"
    assert "example.org" not in repo.plain("config", "remote.upstream.url")
    assert repo.plain("config", "remote.upstream.fetch") == "+refs/heads/*:refs/remotes/upstream/*"


def test_a_remote_is_renamed_with_its_tracking_refs_and_removed(repo: Adopted) -> None:
    tracked = repo.ref("refs/remotes/origin/main")
    assert done(repo, "remote rename origin upstream").verified["effect"] is True
    assert repo.ref("refs/remotes/upstream/main") == tracked
    assert repo.plain("rev-parse", "--abbrev-ref", "main@{upstream}") == "upstream/main"

    assert done(repo, "remote remove upstream").verified["effect"] is True
    assert repo.ref("refs/remotes/upstream/main") is None
    assert plain_git(repo.paths.transfer, "for-each-ref") == ""


def test_the_address_of_a_remote_is_changed_where_it_counts(repo: Adopted) -> None:
    assert done(repo, "remote set-url origin https://example.org/y.git").verified["effect"] is True
    assert plain_git(repo.paths.transfer, "config", "remote.origin.url") == "https://example.org/y.git"


def test_addresses_are_listed_from_where_they_are_true_and_masked(repo: Adopted) -> None:
    """C21: what the local repository holds in place of an address leads nowhere and is not told."""
    plain_git(repo.paths.transfer, "config", "remote.origin.url", "https://bot:ghp_secret@example.org/x.git")

    for line in ("remote -v", "remote get-url origin", "remote show -n origin", "config remote.origin.url"):
        output = done(repo, line).output
        assert "https://***@example.org/x.git" in output
        assert "ghp_secret" not in output


def test_the_default_branch_of_a_remote_is_asked_for_set_and_forgotten(repo: Adopted) -> None:
    done(repo, "remote set-head origin --auto")
    assert repo.plain("symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/main"

    done(repo, "remote set-head origin --delete")
    assert repo.plain("for-each-ref", "refs/remotes/origin/HEAD") == ""


def test_a_setting_that_is_not_there_is_an_answer(repo: Adopted) -> None:
    outcome = done(repo, "config --get pull.rebase")

    assert (outcome.exit_code, outcome.output) == (1, "")
