"""Undo brings back what one request changed, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository
from repository_states import state_of

from executor.errors import Failed, Refused
from executor.git.rescue import preserve
from executor.git.undo import undo
from executor.outcome import State
from executor.protocol.names import NAME_PATTERN


@pytest.fixture
def repository(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path, commits=3)


def test_a_deleted_branch_comes_back_with_what_it_follows(repository: Adopted) -> None:
    repository.plain("branch", "topic", "HEAD~1")
    repository.plain("branch", "-q", "--set-upstream-to=origin/main", "topic")
    git = repository.open()
    before = state_of(repository)
    preserve(git, "r1", worktree=False)
    repository.plain("branch", "-D", "topic")

    outcome = undo(git, "r1")

    assert state_of(repository) == before
    assert outcome.verified["effect"] is True
    assert "refs/heads/topic is at" in outcome.output


def test_an_undo_can_be_undone(repository: Adopted) -> None:
    git = repository.open()
    repository.write("file.txt", "uncommitted\n")
    preserve(git, "r1", worktree=True)
    repository.plain("reset", "-q", "--hard", "HEAD~2")
    after = state_of(repository)

    outcome = undo(git, "r1")
    undo(git, str(outcome.verified["undo_id"]))

    assert state_of(repository) == after


@pytest.mark.parametrize("request_id", ["r1", "lock", "a" * 64])
def test_no_request_can_have_the_id_of_an_undo(repository: Adopted, request_id: str) -> None:
    """With it an agent could make `ops-gateway undo` take its own request for the undo that is to be taken back."""
    git = repository.open()
    repository.write("file.txt", "uncommitted\n")
    preserve(git, request_id, worktree=True)
    repository.plain("reset", "-q", "--hard")

    undo_id = str(undo(git, request_id).verified["undo_id"])
    undo(git, undo_id)

    assert re.fullmatch(NAME_PATTERN, undo_id) is None
    assert (repository.tree / "file.txt").read_text() != "uncommitted\n"


def test_what_a_later_request_moved_is_not_overwritten_and_is_named(repository: Adopted) -> None:
    git = repository.open()
    preserve(git, "r1", worktree=True)
    repository.commit("file.txt", "first request\n")
    preserve(git, "r2", worktree=True)
    repository.commit("file.txt", "second request\n")
    now = state_of(repository)

    with pytest.raises(Refused) as refused:
        undo(git, "r1")

    assert refused.value.code == "undo_conflict"
    assert "refs/heads/main" in refused.value.message
    assert "file.txt" in refused.value.message
    assert state_of(repository) == now


def test_an_operator_can_force_an_undo_and_what_it_overwrites_is_kept(repository: Adopted) -> None:
    git = repository.open()
    before = state_of(repository)
    preserve(git, "r1", worktree=True)
    repository.commit("file.txt", "first request\n")
    preserve(git, "r2", worktree=True)
    latest = repository.commit("file.txt", "second request\n")

    outcome = undo(git, "r1", force=True)

    assert state_of(repository) == before
    assert repository.ref(f"refs/rescue/{outcome.verified['undo_id']}/HEAD") == latest


def test_later_requests_on_other_branches_and_files_stay(repository: Adopted) -> None:
    git = repository.open()
    preserve(git, "r1", worktree=True)
    repository.write("first", "made by the first request\n")
    preserve(git, "r2", worktree=True)
    repository.plain("branch", "later")
    repository.write("second", "made by the second request\n")

    undo(git, "r1")

    assert not (repository.tree / "first").exists()
    assert (repository.tree / "second").read_text() == "made by the second request\n"
    assert repository.ref("refs/heads/later") is not None


def test_only_the_index_comes_back_when_only_the_index_was_changed(repository: Adopted) -> None:
    git = repository.open()
    repository.write("file.txt", "work\n")
    before = state_of(repository)
    preserve(git, "r1", worktree=False)
    repository.plain("add", "file.txt")

    undo(git, "r1")

    assert state_of(repository) == before


def test_a_branch_comes_back_where_another_took_its_room(repository: Adopted) -> None:
    repository.plain("branch", "a")
    git = repository.open()
    before = state_of(repository)
    preserve(git, "r1", worktree=False)
    repository.plain("branch", "-D", "a")
    repository.plain("branch", "a/b")

    undo(git, "r1")

    assert state_of(repository) == before


def test_a_file_that_became_a_directory_and_a_directory_that_became_a_file_come_back(repository: Adopted) -> None:
    repository.write("thing", "a file\n")
    repository.write("place/inner", "in a directory\n")
    git = repository.open()
    before = state_of(repository)
    preserve(git, "r1", worktree=True)
    (repository.tree / "thing").unlink()
    repository.write("thing/inside", "x\n")
    (repository.tree / "place" / "inner").unlink()
    (repository.tree / "place").rmdir()
    repository.write("place", "x\n")

    undo(git, "r1")

    assert state_of(repository) == before


def test_an_ignored_file_in_the_way_of_a_directory_is_named_and_left(repository: Adopted) -> None:
    repository.commit(".gitignore", "*.log\n")
    repository.write("thing", "a file\n")
    git = repository.open()
    preserve(git, "r1", worktree=True)
    (repository.tree / "thing").unlink()
    repository.write("thing/precious.log", "mine\n")

    with pytest.raises(Failed) as failed:
        undo(git, "r1")

    assert failed.value.code == "ignored_in_the_way"
    assert (repository.tree / "thing" / "precious.log").read_text() == "mine\n"


@pytest.mark.parametrize("ignored", [True, False])
@pytest.mark.parametrize("force", [True, False])
def test_an_undo_looks_and_writes_through_no_link(
    repository: Adopted, tmp_path: Path, ignored: bool, force: bool
) -> None:
    repository.write(".gitignore", "/a\n" if ignored else "*.log\n")
    repository.write("a/etc", "then\n")
    repository.plain("add", "-f", ".")
    repository.plain("commit", "-qm", "A directory")
    git = repository.open()
    preserve(git, "r1", worktree=True)
    repository.plain("checkout", "-q", "--detach", "HEAD~1")
    home = tmp_path / "home"
    (home / "etc").mkdir(parents=True)
    (home / "etc" / "TOP-SECRET-NAME").write_text("x")
    (repository.tree / "a").symlink_to(home)
    if ignored:
        repository.write(".gitignore", "/a\n")

    try:
        said = undo(git, "r1", force=force).output
    except (Failed, Refused) as problem:
        said = f"{problem.message} {problem.hint}"

    assert "SECRET" not in said
    assert [path.name for path in home.rglob("*")] == ["etc", "TOP-SECRET-NAME"]
    assert (home / "etc" / "TOP-SECRET-NAME").read_text() == "x"


def test_a_file_that_git_began_to_ignore_comes_back_and_its_present_content_is_kept(repository: Adopted) -> None:
    repository.write("notes", "then\n")
    git = repository.open()
    before = state_of(repository)
    preserve(git, "r1", worktree=True)
    repository.write(".gitignore", "notes\n")
    repository.write("notes", "now\n")

    outcome = undo(git, "r1")

    assert state_of(repository) == before
    assert repository.plain("show", f"refs/rescue/{outcome.verified['undo_id']}/worktree:notes") == "now"


def test_a_file_that_was_ignored_before_is_left_alone_though_it_is_not_ignored_now(repository: Adopted) -> None:
    repository.commit(".gitignore", "local.env\n")
    repository.write("local.env", "mine\n")
    git = repository.open()
    preserve(git, "r1", worktree=True)
    repository.plain("rm", "-q", ".gitignore")
    repository.plain("add", "local.env")
    repository.plain("commit", "-q", "-m", "expose")

    undo(git, "r1")

    assert (repository.tree / "local.env").read_text() == "mine\n"
    assert (repository.tree / ".gitignore").read_text() == "local.env\n"


def test_a_request_that_kept_nothing_cannot_be_undone(repository: Adopted) -> None:
    with pytest.raises(Refused, match="no_such"):
        undo(repository.open(), "no_such")


def test_an_undo_under_an_id_that_was_used_is_refused(repository: Adopted) -> None:
    git = repository.open()
    preserve(git, "r1", worktree=False)
    undo(git, "r1", undo_id="u1")

    with pytest.raises(Refused) as refused:
        undo(git, "r1", undo_id="u1")

    assert refused.value.code == "undo_repeated"


def test_undoing_a_request_that_changed_nothing_changes_nothing(repository: Adopted) -> None:
    git = repository.open()
    before = state_of(repository)
    preserve(git, "r1", worktree=True)

    outcome = undo(git, "r1")

    assert outcome.state is State.SUCCEEDED
    assert state_of(repository) == before
    assert "changed nothing" in outcome.output


def test_an_index_that_another_git_holds_is_not_replaced(repository: Adopted) -> None:
    git = repository.open()
    preserve(git, "r1", worktree=True)
    repository.write("new", "x\n")
    repository.plain("add", "new")
    (repository.paths.local / "index.lock").touch()

    with pytest.raises(Failed) as failed:
        undo(git, "r1")

    assert failed.value.code == "index_locked"
    assert "undo.r1.1" in failed.value.hint


def test_an_undo_does_not_write_its_notes_through_a_link(repository: Adopted, tmp_path: Path) -> None:
    repository.write("file.txt", "stashed\n")
    repository.plain("stash")
    git = repository.open()
    preserve(git, "r1", worktree=False)
    repository.plain("stash", "clear")
    outside = tmp_path / "outside"
    outside.mkdir()
    stash = git.paths.local / "logs" / "refs" / "stash"
    stash.parent.rename(tmp_path / "moved")
    stash.parent.symlink_to(outside)

    with pytest.raises(Refused) as refused:
        undo(git, "r1")

    assert refused.value.code == "git_dir_special"
    assert list(outside.iterdir()) == []
