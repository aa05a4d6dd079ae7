"""Questions to a repository: full names, exit codes and -z output, whatever the names look like."""

from __future__ import annotations

from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, clone, plain_git, take_over

from executor.git.questions import (
    Head,
    ahead_behind,
    changes,
    conflicted,
    head,
    holder,
    in_progress,
    index_gitlinks,
    is_ancestor,
    local_branches,
    resolve,
    staged,
    tree_gitlinks,
    upstream,
)

pytestmark = pytest.mark.needs("git")
ODD = 'täst "q"\nnl -> b.txt'


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path, commits=2)


def test_head_is_a_branch_a_detached_commit_or_an_unborn_branch(repo: Adopted, tmp_path: Path) -> None:
    commit = repo.ref("refs/heads/main")
    assert head(repo.open()) == Head("main", commit)

    repo.plain("checkout", "-q", "--detach")
    assert head(repo.open()) == Head(None, commit)

    unborn = adopted_repository(tmp_path / "unborn", commits=0, pushed=False)
    assert head(unborn.open()) == Head("main", None)


def test_a_name_is_resolved_to_what_it_stands_for_and_nothing_else(repo: Adopted) -> None:
    git = repo.open()
    repo.plain("tag", "-a", "-m", "x", "v1.0")

    assert resolve(git, "v1.0") == repo.ref("refs/heads/main")
    assert resolve(git, "v1.0", "object") == repo.ref("refs/tags/v1.0")
    assert resolve(git, "nope") is None
    assert resolve(git, "--all") is None
    assert resolve(git, "HEAD:file.txt") is None


def test_branches_are_listed_by_short_name(repo: Adopted) -> None:
    repo.plain("branch", "feature/ünïcode")

    assert local_branches(repo.open()).keys() == {"main", "feature/ünïcode"}


def test_an_upstream_is_present_gone_or_missing(repo: Adopted) -> None:
    git = repo.open()
    present = upstream(git, "main")
    assert present is not None
    assert (present.remote, present.merge, present.gone) == ("origin", "refs/heads/main", False)

    repo.plain("update-ref", "-d", "refs/remotes/origin/main")
    gone = upstream(git, "main")
    assert gone is not None
    assert gone.gone

    repo.plain("branch", "-q", "lonely")
    assert upstream(git, "lonely") is None
    assert upstream(git, "nope") is None


def test_ancestry_is_yes_no_or_not_known(repo: Adopted, tmp_path: Path) -> None:
    new, old = repo.plain("rev-parse", "HEAD"), repo.plain("rev-parse", "HEAD~1")
    git = repo.open()
    assert is_ancestor(git, old, new) is True
    assert is_ancestor(git, new, old) is False
    assert is_ancestor(git, "0123456789" * 4, new) is None
    assert ahead_behind(git, new, old) == (1, 0)


def test_c23_in_a_cut_history_ancestry_is_not_denied(repo: Adopted, tmp_path: Path) -> None:
    tree = clone(f"file://{repo.remote}", tmp_path / "shallow", "--depth", "1")
    plain_git(tree, "checkout", "-q", "--orphan", "other")
    plain_git(tree, "commit", "-q", "-m", "Unrelated")
    cut = Adopted(take_over(tmp_path / "state2" / "project", tree, None), None)
    git = cut.open()

    assert is_ancestor(git, str(cut.ref("refs/heads/main")), str(cut.ref("refs/heads/other"))) is None
    assert ahead_behind(git, "main", "other") is None


def test_c08_changes_are_told_apart_whatever_the_names(repo: Adopted) -> None:
    repo.commit("a.txt", "a\n")
    repo.write("a.txt", "changed\n")
    repo.write(ODD, "x\n")
    repo.plain("add", "--", ODD)
    repo.write(f"un{ODD}", "x\n")

    found = changes(repo.open())

    assert (found.staged, found.unstaged, found.untracked) == ((ODD,), ("a.txt",), (f"un{ODD}",))
    assert staged(repo.open()) == (("A", ODD),)


def test_c08_a_rename_is_a_deletion_and_an_addition(repo: Adopted) -> None:
    repo.plain("mv", "file.txt", "a -> b")

    assert staged(repo.open()) == (("A", "a -> b"), ("D", "file.txt"))


def test_conflicts_are_named_once_each(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "-b", "other", "HEAD~1")
    repo.commit("file.txt", "theirs\n")
    with pytest.raises(AssertionError):
        repo.plain("merge", "main")

    git = repo.open()
    assert conflicted(git) == ("file.txt",)
    assert changes(git).conflicted == ("file.txt",)
    assert in_progress(git) == "merge"


def test_gitlinks_are_found_in_index_and_tree_by_mode_and_not_by_name(repo: Adopted) -> None:
    repo.write("160000 ", "a name that looks like a mode\n")
    repo.plain("add", "-A")
    repo.plain("update-index", "--add", "--cacheinfo", f"160000,{repo.ref('refs/heads/main')},{ODD}")
    repo.plain("commit", "-q", "-m", "Embed")
    git = repo.open()

    assert index_gitlinks(git) == (ODD,)
    assert tree_gitlinks(git, "HEAD") == (ODD,)
    assert tree_gitlinks(git, "HEAD~1") == ()


def test_a_bisection_is_in_progress(repo: Adopted) -> None:
    repo.plain("bisect", "start")

    assert in_progress(repo.open()) == "bisect"


def test_a_branch_of_a_linked_work_tree_has_its_holder(repo: Adopted, tmp_path: Path) -> None:
    repo.plain("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "held")
    git = repo.open()

    assert holder(git, "held") == tmp_path / "linked"
    assert holder(git, "main") is None
