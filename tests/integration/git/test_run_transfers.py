"""git_cmd for fetch and pull on a real remote in a directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_scene import code, done, run, theirs
from repos import Adopted, adopted_repository, clone, plain_git, take_over

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


@pytest.fixture
def colleague(repo: Adopted, tmp_path: Path) -> Path:
    assert repo.remote is not None
    return clone(repo.remote, tmp_path / "colleague")


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


def test_pruning_tags_drops_those_that_the_remote_lacks(repo: Adopted) -> None:
    repo.plain("tag", "only-here")

    outcome = done(repo, "fetch --prune --prune-tags origin")

    assert "refs/tags/only-here is gone" in outcome.output
    assert repo.ref("refs/tags/only-here") is None


def test_fetching_can_set_what_the_branch_follows(repo: Adopted, colleague: Path) -> None:
    theirs(colleague, branch="topic")

    done(repo, "fetch --set-upstream origin topic")

    assert repo.plain("rev-parse", "--abbrev-ref", "main@{upstream}") == "origin/topic"


def test_a_squashed_pull_leaves_the_merge_to_be_committed(repo: Adopted, colleague: Path) -> None:
    theirs(colleague)
    before = repo.ref("refs/heads/main")

    done(repo, "pull --squash")

    assert repo.ref("refs/heads/main") == before
    assert repo.plain("diff", "--cached", "--name-only") == "theirs.txt"
