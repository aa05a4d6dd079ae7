"""git_cmd and repositories inside the repository: git is never led into one, and none gets in."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_scene import code, run
from repos import Adopted, adopted_repository, plain_git, work_tree

from executor.outcome import State

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path, commits=2)


def branch_with_gitlink(repo: Adopted, name: str = "evil") -> None:
    """A branch whose last commit holds an embedded repository, and whose work tree is not checked out."""
    repo.plain("checkout", "-q", "-b", name)
    repo.plain("update-index", "--add", "--cacheinfo", f"160000,{repo.ref('refs/heads/main')},nested")
    repo.plain("commit", "-q", "-m", "Embed")
    repo.plain("checkout", "-q", "main")


def test_an_embedded_repository_is_not_added_by_command_either(repo: Adopted) -> None:
    work_tree(repo.tree / "nested")
    before = repo.plain("ls-files", "--stage")

    outcome = run(repo, "add -A")

    assert code(outcome) == "embedded_repository"
    assert repo.plain("ls-files", "--stage") == before


def test_a_tracked_file_that_became_a_repository_is_not_committed(repo: Adopted) -> None:
    (repo.tree / "file.txt").unlink()
    work_tree(repo.tree / "file.txt")
    head, index = repo.ref("refs/heads/main"), repo.plain("ls-files", "--stage")

    run(repo, 'commit -a -m "Smuggle"')

    assert "160000" not in repo.plain("ls-files", "--stage")
    assert repo.ref("refs/heads/main") == head or "160000" not in repo.plain("ls-tree", "-r", "HEAD")
    assert index == repo.plain("ls-files", "--stage") or "160000" not in index


@pytest.mark.parametrize(
    "line",
    ["checkout evil", "switch evil", "merge evil", "rebase evil", "cherry-pick evil", "cherry-pick main..evil",
     "reset --hard evil", "restore --source=evil nested", "checkout -b mine evil"],
)  # fmt: skip
def test_a_commit_that_holds_an_embedded_repository_is_not_brought_in(repo: Adopted, line: str) -> None:
    branch_with_gitlink(repo)
    head, index = repo.ref("refs/heads/main"), repo.plain("ls-files", "--stage")

    outcome = run(repo, line)

    assert code(outcome) == "embedded_repository"
    assert not (repo.tree / "nested").exists()
    assert repo.ref("refs/heads/main") == head
    assert repo.plain("ls-files", "--stage") == index


@pytest.mark.parametrize("line", ["rebase main", "pull --rebase origin main"])
def test_an_embedded_repository_that_a_rebase_has_only_on_its_way_is_not_brought_in(repo: Adopted, line: str) -> None:
    branch_with_gitlink(repo)
    repo.plain("checkout", "-q", "evil")
    repo.plain("rm", "-q", "--cached", "nested")
    repo.plain("commit", "-q", "-m", "Not that")
    repo.plain("checkout", "-q", "main")
    repo.commit("more.txt", "main went on\n")
    repo.plain("push", "-q", "origin", "main")
    repo.plain("checkout", "-q", "evil")
    head = repo.ref("refs/heads/evil")

    outcome = run(repo, line)

    assert code(outcome) == "embedded_repository"
    assert repo.ref("refs/heads/evil") == head


@pytest.mark.parametrize("line", ["rm -f file.txt", 'commit -a -m "x"', "stash push", "describe --dirty --always"])
def test_with_an_embedded_repository_in_the_index_git_is_not_started_where_it_would_look_inside(
    repo: Adopted, line: str
) -> None:
    nested = work_tree(repo.tree / "nested")
    canary = repo.tree.parent / "canary"
    plain_git(nested, "config", "core.fsmonitor", f"touch {canary}; false")
    repo.plain("update-index", "--add", "--cacheinfo", f"160000,{repo.ref('refs/heads/main')},nested")
    repo.write("file.txt", "changed\n")

    outcome = run(repo, line)

    assert code(outcome) == "embedded_repository"
    assert not canary.exists()


def test_c24_where_submodules_are_allowed_local_edits_inside_survive_a_checkout(repo: Adopted) -> None:
    branch_with_gitlink(repo)
    nested = work_tree(repo.tree / "nested")
    (nested / "file.txt").write_text("local edit\n")

    outcome = run(repo, "checkout evil", submodules=True)

    assert outcome.state is State.SUCCEEDED
    assert (nested / "file.txt").read_text() == "local edit\n"
