"""git_add on real repositories: literal paths, nothing but files, and a report of what is staged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, commit_file, plain_git, work_tree

from executor.git.actions import run_operation
from executor.outcome import Outcome, State
from executor.policy.model import AddParams, Operation, Request

pytestmark = pytest.mark.needs("git")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def add(repo: Adopted, *paths: str, submodules: bool = False) -> Outcome:
    git = repo.open()
    git.submodules = submodules
    return run_operation(git, Request(Operation.GIT_ADD, AddParams(paths or (".",))))


def index(repo: Adopted) -> str:
    return repo.plain("ls-files", "--stage")


def nested_repository(repo: Adopted, name: str = "nested") -> Path:
    """An embedded repository whose filter would run on whoever looks into it."""
    nested = work_tree(repo.tree / name)
    canary = repo.tree.parent / "canary"
    plain_git(nested, "config", "filter.x.clean", f"touch {canary}; cat")
    plain_git(nested, "config", "core.fsmonitor", f"touch {canary}; false")
    (nested / ".gitattributes").write_text("* filter=x\n")
    (nested / "file.txt").write_text("changed\n")
    return canary


def test_a_dot_stages_everything_and_says_what(repo: Adopted) -> None:
    repo.write("new.txt", "new\n")
    repo.write("file.txt", "changed\n")

    outcome = add(repo)

    assert outcome.state is State.SUCCEEDED
    assert "  M file.txt\n  A new.txt\n" in outcome.output
    assert outcome.verified == {"effect": True, "staged": 2}


def test_only_the_named_path_is_staged(repo: Adopted) -> None:
    repo.write("one.txt", "1\n")
    repo.write("two.txt", "2\n")

    add(repo, "one.txt")

    assert repo.plain("diff", "--cached", "--name-only") == "one.txt"


def test_a_path_is_literal_and_no_pattern(repo: Adopted) -> None:
    repo.write("a.txt", "a\n")
    repo.write("*.txt", "star\n")

    add(repo, "*.txt")

    assert repo.plain("diff", "--cached", "--name-only") == "*.txt"


@pytest.mark.parametrize("name", ['täst "q"\nnl.txt', "a -> b", " leading", "tab\there", "-dash"])
def test_c08_an_odd_file_name_is_staged_and_named(repo: Adopted, name: str) -> None:
    repo.write(name, "x\n")

    outcome = add(repo, name)

    assert repo.plain("diff", "--cached", "--name-only", "-z") == name + "\0"
    assert f"A {name}" in outcome.output


def test_c08_a_file_name_that_is_no_utf8_is_staged(repo: Adopted) -> None:
    (repo.tree / os.fsdecode(b"caf\xe9")).write_text("x\n")

    outcome = add(repo)

    assert outcome.verified["staged"] == 1
    assert repo.plain("ls-files", "-z", "caf*") == "caf\udce9\0"


def test_a_deleted_file_is_staged_as_deleted(repo: Adopted) -> None:
    (repo.tree / "file.txt").unlink()

    assert "  D file.txt" in add(repo, "file.txt").output


def test_staging_what_is_staged_already_says_that_nothing_changed(repo: Adopted) -> None:
    outcome = add(repo)

    assert outcome.state is State.SUCCEEDED
    assert outcome.verified["effect"] is False
    assert "no change to commit" in outcome.output


def test_a_path_that_does_not_exist_fails_and_stages_nothing(repo: Adopted) -> None:
    repo.write("there.txt", "x\n")
    before = index(repo)

    outcome = add(repo, "there.txt", "missing.txt")

    assert outcome.state is State.FAILED
    assert outcome.error is not None
    assert outcome.error.code == "path_not_found"
    assert index(repo) == before


def test_an_ignored_path_fails_with_the_way_to_stage_it(repo: Adopted) -> None:
    repo.commit(".gitignore", "*.log\n")
    repo.write("debug.log", "x\n")

    outcome = add(repo, "debug.log")

    assert outcome.error is not None
    assert outcome.error.code == "path_ignored"
    assert "add -f" in outcome.error.hint


def test_a_path_beyond_a_symbolic_link_is_not_staged(repo: Adopted, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("secret\n")
    (repo.tree / "link").symlink_to(secret)

    outcome = add(repo, "link/key")

    assert outcome.error is not None
    assert outcome.error.code == "path_outside"


def test_a_symbolic_link_is_staged_as_a_link(repo: Adopted, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret\n")
    (repo.tree / "link").symlink_to(tmp_path / "secret")

    add(repo)

    assert "120000" in index(repo)
    assert repo.plain("cat-file", "-p", ":link") == str(tmp_path / "secret")


def test_an_embedded_repository_is_refused_and_the_index_is_as_before(repo: Adopted) -> None:
    canary = nested_repository(repo)
    repo.write("other.txt", "x\n")
    before = index(repo)

    outcome = add(repo)

    assert outcome.state is State.REFUSED
    assert outcome.error is not None
    assert outcome.error.code == "embedded_repository"
    assert "nested" in outcome.error.message
    assert index(repo) == before
    assert not canary.exists()


def test_with_a_gitlink_in_the_index_nothing_is_staged_unless_the_host_allows_submodules(repo: Adopted) -> None:
    commit = repo.plain("rev-parse", "HEAD")
    repo.plain("update-index", "--add", "--cacheinfo", f"160000,{commit},vendored")
    (repo.tree / "vendored").mkdir()
    repo.write("other.txt", "x\n")

    refused = add(repo, "other.txt")
    allowed = add(repo, "other.txt", submodules=True)

    assert refused.error is not None
    assert refused.error.code == "embedded_repository"
    assert allowed.state is State.SUCCEEDED
    assert "other.txt" in index(repo)


def test_where_submodules_are_allowed_a_new_embedded_repository_is_still_refused(repo: Adopted) -> None:
    nested_repository(repo)

    outcome = add(repo, submodules=True)

    assert outcome.error is not None
    assert outcome.error.code == "embedded_repository"


def test_a_fifo_in_the_tree_does_not_hold_up_staging(repo: Adopted) -> None:
    os.mkfifo(repo.tree / "pipe")
    repo.write("real.txt", "x\n")

    outcome = add(repo)

    assert outcome.state is State.SUCCEEDED
    assert "pipe" not in index(repo)


def test_c20_a_file_marked_for_lfs_is_staged_as_it_is_with_a_warning(repo: Adopted) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12345\n"
    repo.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    repo.write("model.bin", pointer)

    outcome = add(repo)

    assert "Git LFS" in outcome.output
    assert "model.bin" in outcome.output
    assert repo.plain("cat-file", "-p", ":model.bin") + "\n" == pointer


def test_c07_messages_are_understood_whatever_the_language_of_the_host(
    repo: Adopted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    monkeypatch.setenv("LANGUAGE", "fr")

    outcome = add(repo, "missing.txt")

    assert outcome.error is not None
    assert outcome.error.code == "path_not_found"


def test_c06_git_variables_of_the_host_lead_nowhere_else(
    repo: Adopted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoy = work_tree(tmp_path / "decoy")
    monkeypatch.setenv("GIT_DIR", str(decoy / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(decoy / ".git/index"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.worktree=/nonexistent'")
    repo.write("mine.txt", "x\n")

    add(repo)

    assert "mine.txt" in index(repo)
    assert "mine.txt" not in plain_git(decoy, "ls-files")


def test_a_change_in_the_same_second_as_the_index_is_not_missed(repo: Adopted) -> None:
    """A copied index must keep its time, or git takes a file changed right after it for unchanged."""
    commit_file(repo.tree, "racy.txt", "aaaa\n")
    stamp = (repo.paths.local / "index").stat().st_mtime_ns
    repo.write("racy.txt", "bbbb\n")
    os.utime(repo.tree / "racy.txt", ns=(stamp, stamp))

    add(repo)

    assert repo.plain("cat-file", "-p", ":racy.txt") == "bbbb"
