"""git_cmd for remotes: fetch, pull, push, ls-remote and the remote family, on a real remote in a directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from repos import LOCAL_ACCESS, Adopted, adopted_repository, clone, commit_file, plain_git, take_over

from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.run_command import run_command
from executor.outcome import Outcome, State

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


@pytest.fixture
def colleague(repo: Adopted, tmp_path: Path) -> Path:
    assert repo.remote is not None
    return clone(repo.remote, tmp_path / "colleague")


def run(repo: Adopted, line: str) -> Outcome:
    return run_command(repo.open(LOCAL_ACCESS), judge(split(line)), {})


def done(repo: Adopted, line: str) -> Outcome:
    outcome = run(repo, line)
    assert outcome.state is State.SUCCEEDED, outcome.error
    return outcome


def code(outcome: Outcome) -> str:
    assert outcome.error is not None, outcome.output
    return outcome.error.code


def theirs(colleague: Path, name: str = "theirs.txt", branch: str = "main") -> str:
    commit = commit_file(colleague, name, "theirs\n")
    plain_git(colleague, "push", "-q", "origin", f"HEAD:{branch}")
    return commit


def test_fetching_moves_tracking_refs_and_brings_tags(repo: Adopted, colleague: Path) -> None:
    commit = theirs(colleague)
    plain_git(colleague, "tag", "v1.0")
    plain_git(colleague, "push", "-q", "origin", "v1.0")

    outcome = done(repo, "fetch origin")

    assert repo.ref("refs/remotes/origin/main") == commit
    assert repo.ref("refs/tags/v1.0") == commit
    assert "refs/remotes/origin/main" in outcome.output
    assert repo.plain("fsck", "--connectivity-only") == ""


def test_fetching_twice_says_that_all_is_up_to_date(repo: Adopted) -> None:
    assert "up to date" in done(repo, "fetch origin").output


def test_fetching_one_branch_leaves_it_in_fetch_head(repo: Adopted, colleague: Path) -> None:
    commit = theirs(colleague, branch="topic")

    done(repo, "fetch origin topic")

    assert repo.plain("rev-parse", "FETCH_HEAD") == commit


def test_a_branch_that_is_gone_is_pruned_only_when_asked(repo: Adopted, colleague: Path) -> None:
    theirs(colleague, branch="topic")
    done(repo, "fetch origin")
    plain_git(colleague, "push", "-q", "origin", ":topic")

    done(repo, "fetch origin")
    assert repo.ref("refs/remotes/origin/topic") is not None
    done(repo, "fetch --prune origin")
    assert repo.ref("refs/remotes/origin/topic") is None


def test_a_tag_that_exists_here_is_not_moved_by_the_remote(repo: Adopted, colleague: Path) -> None:
    repo.plain("tag", "v1.0")
    ours = repo.ref("refs/tags/v1.0")
    theirs(colleague)
    plain_git(colleague, "tag", "v1.0")
    plain_git(colleague, "push", "-q", "origin", "v1.0")

    done(repo, "fetch origin")

    assert repo.ref("refs/tags/v1.0") == ours


def test_fetching_into_a_branch_goes_forward_only(repo: Adopted, colleague: Path) -> None:
    commit = theirs(colleague, branch="topic")
    done(repo, "fetch origin topic:mine")
    assert repo.ref("refs/heads/mine") == commit

    repo.plain("branch", "-f", "mine", repo.plain("commit-tree", "-m", "x", "HEAD^{tree}"))
    assert code(run(repo, "fetch origin topic:mine")) == "non_fast_forward"


def test_the_branch_that_is_checked_out_is_not_fetched_into(repo: Adopted, colleague: Path) -> None:
    theirs(colleague)

    assert code(run(repo, "fetch origin main:main")) == "branch_in_use"


def test_a_branch_that_the_remote_does_not_have_is_named(repo: Adopted) -> None:
    assert code(run(repo, "fetch origin nope")) == "remote_ref_missing"


def test_a_remote_that_is_not_configured_is_named(repo: Adopted) -> None:
    assert code(run(repo, "fetch elsewhere")) == "no_remote"


def test_pulling_moves_the_branch_forward(repo: Adopted, colleague: Path) -> None:
    commit = theirs(colleague)

    outcome = done(repo, "pull")

    assert repo.ref("refs/heads/main") == commit
    assert (repo.tree / "theirs.txt").exists()
    assert outcome.verified["commit"] == commit


def test_c09_a_divergence_is_named_with_numbers_and_nothing_is_merged(repo: Adopted, colleague: Path) -> None:
    theirs(colleague)
    ours = repo.commit("ours.txt", "ours\n")

    outcome = run(repo, "pull")

    assert code(outcome) == "non_fast_forward"
    assert "1 ahead, 1 behind" in outcome.output
    assert repo.ref("refs/heads/main") == ours


@pytest.mark.parametrize(("line", "parents"), [("pull --rebase", 1), ("pull --no-rebase", 2)])
def test_c09_a_divergence_is_resolved_in_the_way_that_is_named(
    repo: Adopted, colleague: Path, line: str, parents: int
) -> None:
    theirs(colleague)
    repo.commit("ours.txt", "ours\n")

    outcome = done(repo, line)

    assert outcome.verified["effect"] is True
    assert len(repo.plain("log", "-1", "--format=%P").split()) == parents
    assert (repo.tree / "theirs.txt").exists()
    assert (repo.tree / "ours.txt").exists()


def test_c11_a_pull_on_a_detached_head_is_named(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "--detach")

    assert code(run(repo, "pull")) == "detached_head"


def test_a_pull_without_an_upstream_says_how_to_set_one(repo: Adopted) -> None:
    repo.plain("branch", "--unset-upstream")

    outcome = run(repo, "pull")

    assert code(outcome) == "no_upstream"
    assert outcome.error is not None
    assert "--set-upstream-to=origin/main" in outcome.error.hint


def test_an_embedded_repository_is_not_pulled_in(repo: Adopted, colleague: Path) -> None:
    plain_git(colleague, "update-index", "--add", "--cacheinfo",
              f"160000,{plain_git(colleague, 'rev-parse', 'HEAD')},nested")  # fmt: skip
    plain_git(colleague, "commit", "-q", "-m", "Embed")
    plain_git(colleague, "push", "-q")
    before = repo.ref("refs/heads/main")

    assert code(run(repo, "pull")) == "embedded_repository"
    assert repo.ref("refs/heads/main") == before


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


def shallow(repo: Adopted, where: Path) -> Adopted:
    for number in range(3):
        repo.commit(f"{number}.txt", "x\n")
    repo.plain("push", "-q", str(repo.remote), "main")
    tree = clone(f"file://{repo.remote}", where / "shallow", "--depth", "1")
    return Adopted(take_over(where / "state2" / "repos" / "project", tree, str(repo.remote)), repo.remote)


def test_c23_a_shallow_clone_is_made_whole_by_a_fetch(repo: Adopted, tmp_path: Path) -> None:
    cut = shallow(repo, tmp_path)

    done(cut, "fetch --unshallow origin")

    assert cut.plain("rev-parse", "--is-shallow-repository") == "false"
    assert cut.plain("rev-list", "--count", "HEAD") == "4"
    assert cut.plain("fsck", "--connectivity-only") == ""


def test_c23_fetching_a_shallow_clone_keeps_it_consistent(repo: Adopted, tmp_path: Path) -> None:
    cut = shallow(repo, tmp_path)
    repo.commit("later.txt", "x\n")
    repo.plain("push", "-q", str(repo.remote), "main")

    done(cut, "pull")

    assert cut.ref("refs/heads/main") == repo.ref("refs/heads/main")
    assert cut.plain("fsck", "--connectivity-only") == ""


def test_c23_a_divergence_in_a_shallow_clone_is_named_and_not_merged(repo: Adopted, tmp_path: Path) -> None:
    cut = shallow(repo, tmp_path)
    plain_git(repo.tree, "commit", "-q", "--amend", "-m", "Rewritten")
    repo.plain("push", "-q", "-f", str(repo.remote), "main")
    cut.commit("ours.txt", "x\n")

    assert code(run(cut, "pull")) == "history_cut"
