"""Which repositories git may be started on: only what an agent cannot write."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, process_runner

from executor.errors import Refused
from executor.git import requirements
from executor.git.repository import RepositoryPaths, open_repository

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def refusal(paths: RepositoryPaths, shared_dir: Path | None = None) -> Refused:
    with pytest.raises(Refused) as caught:
        open_repository(paths, process_runner(), shared_dir=shared_dir)
    return caught.value


def test_an_adopted_repository_opens_and_answers(repo: Adopted) -> None:
    git = repo.open()

    assert git.local(["rev-parse", "HEAD"]).stdout.decode().strip() == repo.ref("refs/heads/main")


def test_a_repository_that_is_not_adopted_is_refused_with_the_command_that_adopts_it(tmp_path: Path) -> None:
    refused = refusal(RepositoryPaths("project", tmp_path, tmp_path / "state"))

    assert refused.code == "not_adopted"
    assert f"ops-gateway adopt {tmp_path}" in refused.hint


def test_a_git_directory_inside_the_work_tree_is_refused(repo: Adopted) -> None:
    inside = repo.tree / "state"
    shutil.move(repo.paths.root, inside)

    assert refusal(RepositoryPaths("project", repo.tree, inside)).code == "git_dir_writable"


def test_a_git_directory_inside_the_shared_directory_is_refused(repo: Adopted) -> None:
    assert refusal(repo.paths, shared_dir=repo.paths.root.parent).code == "git_dir_writable"


@pytest.mark.parametrize("part", ["root", "local", "transfer"])
def test_a_directory_that_others_can_write_is_refused_with_the_mend(repo: Adopted, part: str) -> None:
    directory: Path = getattr(repo.paths, part)
    directory.chmod(0o770)

    refused = refusal(repo.paths)

    assert refused.code == "git_dir_writable"
    assert f"chmod -R go-w {directory}" in refused.hint


@pytest.mark.needs("root")
@pytest.mark.parametrize("place", ["local.git", "local.git/config", "local.git/HEAD", "transfer.git/config"])
def test_c01_what_belongs_to_another_user_is_refused(repo: Adopted, place: str) -> None:
    os.chown(repo.paths.root / place, 1234, 1234)

    refused = refusal(repo.paths)

    assert refused.code == "repo_ownership"
    assert "1234" in refused.message
    assert "chown -R" in refused.hint


def test_a_git_directory_that_is_a_link_is_not_followed(repo: Adopted, tmp_path: Path) -> None:
    repo.paths.local.rename(tmp_path / "elsewhere")
    repo.paths.local.symlink_to(tmp_path / "elsewhere")

    assert refusal(repo.paths).code == "not_adopted"


def test_a_missing_work_tree_is_refused(repo: Adopted) -> None:
    repo.tree.rename(repo.tree.with_name("moved"))

    assert refusal(repo.paths).code == "work_tree_missing"


def test_a_work_tree_replaced_by_a_link_is_refused(repo: Adopted, tmp_path: Path) -> None:
    repo.tree.rename(tmp_path / "moved")
    repo.tree.symlink_to(tmp_path / "moved")

    assert refusal(repo.paths).code == "work_tree_replaced"


def test_a_link_above_the_work_tree_is_refused(repo: Adopted, tmp_path: Path) -> None:
    (tmp_path / "by-link").symlink_to(repo.tree.parent)
    paths = RepositoryPaths("project", tmp_path / "by-link" / repo.tree.name, repo.paths.root)

    assert refusal(paths).code == "work_tree_replaced"


def test_a_git_that_is_too_old_is_refused(repo: Adopted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "OLDEST_GIT", (99, 0))

    refused = refusal(repo.paths)

    assert refused.code == "git_version"
    assert "99.0" in refused.hint


def test_a_command_without_the_work_tree_cannot_be_held_up_by_a_fifo_in_it(repo: Adopted) -> None:
    for name in (".mailmap", ".gitattributes", ".gitignore"):
        os.mkfifo(repo.tree / name)

    done = repo.open().local(["log", "-p", "--no-ext-diff", "--no-textconv"], deadline=20)

    assert b"Commit 1" in done.stdout
