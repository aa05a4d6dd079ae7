"""What there is before an operation is kept, whatever state the repository is in, or the operation is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, plain_git
from repository_states import files_of, state_of

from executor.errors import Refused
from executor.git.rescue import SnapshotLimits, find, preserve, prune_rescues, rescued
from executor.git.undo import undo

DAY = 86_400


@pytest.fixture
def repository(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path, commits=2)


def conflict(repository: Adopted) -> None:
    """Leave a merge with a conflict in progress."""
    repository.plain("switch", "-q", "-c", "dev", "HEAD~1")
    repository.commit("file.txt", "theirs\n")
    repository.plain("switch", "-q", "main")
    with pytest.raises(AssertionError):
        repository.plain("merge", "dev")


def test_keeping_changes_no_branch_no_index_and_no_file(repository: Adopted) -> None:
    repository.write("file.txt", "changed\n")
    repository.write("new/file", "untracked\n")
    repository.plain("add", "new")
    before = state_of(repository)

    preserve(repository.open(), "r1", worktree=True)

    assert state_of(repository) == before


def test_a_clean_tree_needs_no_snapshot(repository: Adopted) -> None:
    rescue = preserve(repository.open(), "r1", worktree=True)

    assert rescue.snapshot is None
    assert repository.ref("refs/rescue/r1/worktree") is None
    assert repository.ref("refs/rescue/r1/HEAD") == repository.ref("refs/heads/main")


def test_a_person_finds_uncommitted_work_as_a_commit_on_head(repository: Adopted) -> None:
    repository.write("file.txt", "changed\n")
    repository.write("new", "untracked\n")

    preserve(repository.open(), "r1", worktree=True)

    assert repository.plain("show", "refs/rescue/r1/worktree:file.txt") == "changed"
    assert repository.plain("show", "refs/rescue/r1/worktree:new") == "untracked"
    assert repository.plain("rev-parse", "refs/rescue/r1/worktree^") == repository.ref("refs/heads/main")


def test_an_ignored_file_stays_out_and_a_tracked_one_that_is_also_ignored_is_kept(repository: Adopted) -> None:
    repository.write(".gitignore", "*.log\n")
    repository.write("tracked.log", "one\n")
    repository.plain("add", "-f", ".gitignore", "tracked.log")
    repository.write("tracked.log", "two\n")
    repository.write("ignored.log", "mine\n")

    preserve(repository.open(), "r1", worktree=True)

    kept = repository.plain("ls-tree", "-r", "--name-only", "refs/rescue/r1/worktree").splitlines()
    assert kept == [".gitignore", "file.txt", "tracked.log"]
    assert repository.plain("show", "refs/rescue/r1/worktree:tracked.log") == "two"


def test_bytes_are_kept_as_they_are_whatever_attributes_say_about_line_ends(repository: Adopted) -> None:
    repository.write(".gitattributes", "* text=auto eol=lf ident working-tree-encoding=UTF-16\n")
    repository.write("crlf.txt", b"a\r\nb\r\n$Id$\r\n")

    preserve(repository.open(), "r1", worktree=True)

    assert plain_git(repository.tree, "cat-file", "-s", "refs/rescue/r1/worktree:crlf.txt") == "12"


def test_names_that_git_holds_unsafe_on_other_systems_are_kept(repository: Adopted) -> None:
    names = ["git~1", "back\\slash", "aux", "line\nbreak", os.fsdecode(b"\xff\xfe"), "-dash", ":(top)x"]
    for name in names:
        repository.write(name, name.encode("utf-8", "surrogateescape"))
    git = repository.open()

    preserve(git, "r1", worktree=True)
    before = files_of(repository)
    repository.plain("clean", "-qfd")
    undo(git, "r1")

    assert files_of(repository) == before
    assert set(names) <= before.keys()


def test_a_merge_with_conflicts_is_kept_with_all_sides_of_the_conflict(repository: Adopted) -> None:
    conflict(repository)
    repository.write("file.txt", "half resolved\n")
    git = repository.open()
    before = state_of(repository)

    preserve(git, "r1", worktree=True)
    repository.plain("merge", "--abort")
    assert state_of(repository) != before
    undo(git, "r1")

    assert state_of(repository) == before
    assert "MERGE_HEAD" in before.unfinished


def test_a_repository_without_a_commit_is_kept_too(tmp_path: Path) -> None:
    repository = adopted_repository(tmp_path, commits=0)
    repository.write("first", "one\n")
    repository.plain("add", "first")
    git = repository.open()
    before = state_of(repository)

    preserve(git, "r1", worktree=True)
    repository.plain("commit", "-q", "-m", "first")
    repository.plain("rm", "-q", "first")
    undo(git, "r1")

    assert state_of(repository) == before


def test_what_only_the_rescue_still_holds_survives_a_collection_of_garbage(repository: Adopted) -> None:
    repository.plain("tag", "-a", "-m", "words", "v1")
    repository.write("file.txt", "stashed\n")
    repository.plain("stash")
    repository.write("staged", "only in the index\n")
    repository.plain("add", "staged")
    repository.write("staged", "only in the file\n")
    git = repository.open()
    before = state_of(repository)
    preserve(git, "r1", worktree=True)

    repository.plain("stash", "clear")
    repository.plain("tag", "-d", "v1")
    repository.plain("reset", "-q", "--hard", "HEAD~1")
    repository.plain("reflog", "expire", "--expire=now", "--all")
    repository.plain("gc", "-q", "--prune=now")
    undo(git, "r1")

    assert state_of(repository) == before
    assert repository.plain("stash", "show", "-p", "stash@{0}").endswith("+stashed")
    repository.plain("fsck", "--strict")


def test_a_file_too_large_to_keep_refuses_the_operation_by_name(repository: Adopted) -> None:
    repository.write("huge.bin", b"x" * 5000)

    with pytest.raises(Refused) as refused:
        preserve(repository.open(), "r1", worktree=True, limits=SnapshotLimits(file_bytes=1000))

    assert refused.value.code == "cannot_preserve"
    assert "huge.bin (5000 bytes)" in refused.value.message
    assert repository.ref("refs/rescue/r1/record") is None


def test_too_many_files_refuse_the_operation_and_committed_ones_do_not_count(repository: Adopted) -> None:
    for number in range(5):
        repository.write(f"committed/{number}", "x")
    repository.plain("add", "committed")
    repository.plain("commit", "-q", "-m", "many")
    git = repository.open()
    limits = SnapshotLimits(files=3)

    assert preserve(git, "r1", worktree=True, limits=limits).snapshot is None

    for number in range(4):
        repository.write(f"loose/{number}", "x")
    with pytest.raises(Refused, match="4 files"):
        preserve(git, "r2", worktree=True, limits=limits)


def test_a_large_file_that_is_ignored_or_committed_is_in_nobody_s_way(repository: Adopted) -> None:
    repository.commit("large.bin", b"x" * 5000)
    repository.commit(".gitignore", "ignored.bin\n")
    repository.write("ignored.bin", b"x" * 5000)

    rescue = preserve(repository.open(), "r1", worktree=True, limits=SnapshotLimits(file_bytes=1000))

    assert (rescue.snapshot, rescue.left_out) == (None, ())


def test_an_embedded_repository_is_named_and_never_entered_or_recorded(repository: Adopted) -> None:
    inner = repository.tree / "vendor" / "lib"
    inner.mkdir(parents=True)
    plain_git(inner, "init", "-q")
    (inner / "f").write_text("inner\n")
    plain_git(inner, "add", "f")
    plain_git(inner, "commit", "-q", "-m", "inner")
    repository.write("vendor/own", "ours\n")

    rescue = preserve(repository.open(), "r1", worktree=True)

    assert rescue.embedded == ("vendor/lib",)
    kept = repository.plain("ls-tree", "-r", "refs/rescue/r1/worktree")
    assert "vendor/own" in kept
    assert "160000" not in kept


def test_an_operation_that_could_remove_an_embedded_repository_is_refused(repository: Adopted) -> None:
    inner = repository.tree / "lib"
    inner.mkdir()
    plain_git(inner, "init", "-q")

    with pytest.raises(Refused, match="lib"):
        preserve(repository.open(), "r1", worktree=True, embedded=True)


def test_a_fifo_in_place_of_a_file_does_not_hang_the_snapshot(repository: Adopted) -> None:
    (repository.tree / "file.txt").unlink()
    os.mkfifo(repository.tree / "file.txt")
    os.mkfifo(repository.tree / "other")

    rescue = preserve(repository.open(), "r1", worktree=True)

    assert repository.plain("ls-tree", "-r", "--name-only", rescue.tree or "") == ""


def test_a_lock_that_was_left_behind_does_not_keep_anything_from_being_kept(repository: Adopted) -> None:
    (repository.paths.local / "index.lock").touch()
    repository.write("file.txt", "changed\n")

    assert preserve(repository.open(), "r1", worktree=True).snapshot is not None


@pytest.mark.parametrize("worktree", [False, True])
def test_an_id_that_was_used_before_does_not_pass_for_what_there_is_now(repository: Adopted, worktree: bool) -> None:
    git = repository.open()
    first = preserve(git, "r1", worktree=worktree)
    repository.commit("file.txt", "later\n")
    repository.write("file.txt", "uncommitted\n")

    with pytest.raises(Refused) as refused:
        preserve(git, "r1", worktree=True)

    assert refused.value.code == "cannot_preserve"
    assert "r1" in refused.value.message
    assert find(git, "r1") == first


def test_symbolic_head_is_kept_even_when_a_tag_has_the_branch_s_name(repository: Adopted) -> None:
    """C11: full ref names throughout."""
    repository.plain("tag", "main", "HEAD~1")

    rescue = preserve(repository.open(), "r1", worktree=False)

    assert (rescue.head, rescue.branch) == ("refs/heads/main", "main")
    assert rescue.commit == repository.ref("refs/heads/main")


def test_where_nothing_was_ever_kept_there_is_nothing_to_let_go(repository: Adopted) -> None:
    assert prune_rescues(repository.open(), keep_days=30, keep_count=10) == ()


def test_old_rescues_are_let_go_by_age_and_by_number(repository: Adopted) -> None:
    git = repository.open()
    for number in range(4):
        preserve(git, f"r{number}", worktree=False, now=number * DAY)

    assert prune_rescues(git, keep_days=2.5, keep_count=2, now=3 * DAY) == ("r0", "r1")

    assert [name for _, name in rescued(git)] == ["r2", "r3"]
    assert repository.plain("for-each-ref", "refs/rescue/r0", "refs/rescue/r1") == ""


def test_what_operators_agreed_to_can_be_undone_however_much_came_after_it(repository: Adopted) -> None:
    git = repository.open()
    repository.write("file.txt", "uncommitted\n")
    preserve(git, "agreed", worktree=True)
    repository.plain("reset", "-q", "--hard")
    for number in range(4):
        preserve(git, f"flood-{number}", worktree=False)
        repository.plain("branch", f"later-{number}")

    gone = prune_rescues(git, keep_days=30, keep_count=1, agreed={"agreed"})
    undo(git, "agreed")

    assert gone == ("flood-1", "flood-2")
    assert (repository.tree / "file.txt").read_text() == "uncommitted\n"
    assert repository.ref("refs/heads/later-0") is not None  # what came after it is not taken for its own


def test_what_operators_did_themselves_goes_by_age_alone(repository: Adopted) -> None:
    git = repository.open()
    for name in ("r1", "r2", "undo.r1.1", "r3", "r4", "r5"):
        preserve(git, name, worktree=False, now=10 * DAY)

    assert prune_rescues(git, keep_days=5, keep_count=1, now=12 * DAY) == ("r1", "r2", "r4")
    assert prune_rescues(git, keep_days=5, keep_count=9, now=16 * DAY) == ("r3", "r5", "undo.r1.1")


def planted(repository: Adopted, request_id: str, subject: str) -> str:
    """Give refs/rescue/<id>/record a commit that the gateway did not make, and return its id."""
    tree = repository.plain("write-tree")
    commit = repository.plain("commit-tree", "-m", subject, tree)
    repository.plain("update-ref", f"refs/rescue/{request_id}/record", commit)
    return commit


def test_a_planted_record_is_not_believed_and_the_work_is_kept_all_the_same(repository: Adopted) -> None:
    genuine = preserve(repository.open(), "genuine", worktree=True)
    stolen = repository.plain("rev-parse", "refs/rescue/genuine/record")
    repository.plain("update-ref", "refs/rescue/victim/record", stolen)
    repository.write("file.txt", "a day of uncommitted work\n")
    git = repository.open()

    assert find(git, "victim") is None
    rescue = preserve(git, "victim", worktree=True)

    assert rescue.tree != genuine.tree
    assert repository.plain("show", "refs/rescue/victim/worktree:file.txt") == "a day of uncommitted work"
    assert find(git, "victim") == rescue


def test_a_planted_record_over_a_genuine_one_changes_nothing(repository: Adopted) -> None:
    git = repository.open()
    rescue = preserve(git, "r1", worktree=True)
    planted(repository, "r1", "rescue 1 r1")

    assert find(git, "r1") == rescue


def test_a_planted_alias_does_not_lead_a_rescue_into_a_branch(repository: Adopted) -> None:
    repository.plain("symbolic-ref", "refs/rescue/r1/record", "refs/heads/main")
    tip = repository.ref("refs/heads/main")
    git = repository.open()

    rescue = preserve(git, "r1", worktree=True)

    assert repository.ref("refs/heads/main") == tip
    assert find(git, "r1") == rescue


def test_a_planted_rescue_with_any_subject_stops_nothing_and_is_not_listed(repository: Adopted) -> None:
    for number, subject in enumerate(("x", "rescue", "rescue x y", "rescue 99999999999999999999 z")):
        planted(repository, f"p{number}", subject)
    git = repository.open()

    preserve(git, "r1", worktree=True)

    assert [name for _, name in rescued(git)] == ["r1"]


def test_what_was_planted_among_the_rescues_goes_when_old_ones_are_let_go(repository: Adopted) -> None:
    git = repository.open()
    preserve(git, "r1", worktree=True)
    planted(repository, "p", "x")

    assert prune_rescues(git, keep_days=1, keep_count=10) == ()

    assert repository.ref("refs/rescue/p/record") is None
    assert repository.ref("refs/rescue/r1/record") is not None


def test_a_link_among_gits_own_notes_is_refused_and_not_read(repository: Adopted, tmp_path: Path) -> None:
    secret = tmp_path / "id_ed25519"
    secret.write_text("CANARY-PRIVATE-KEY\n")
    git = repository.open()
    stash = git.paths.local / "logs" / "refs" / "stash"
    for plant in (stash, git.paths.local / "MERGE_MSG"):
        plant.parent.mkdir(parents=True, exist_ok=True)
        plant.symlink_to(secret)

        with pytest.raises(Refused) as refused:
            preserve(git, "r1", worktree=True)

        assert refused.value.code == "git_dir_special"
        plant.unlink()
    assert "CANARY" not in plain_git(git.paths.local, "cat-file", "--batch", "--batch-all-objects")


@pytest.mark.parametrize("part", ["index", "HEAD"])
def test_an_index_or_head_with_a_second_name_is_refused(repository: Adopted, tmp_path: Path, part: str) -> None:
    git = repository.open()
    os.link(git.paths.local / part, tmp_path / "second")

    with pytest.raises(Refused) as refused:
        preserve(git, "r1", worktree=False)

    assert refused.value.code == "git_dir_special"


def test_a_link_where_the_copy_of_the_index_was_made_is_not_written_through(
    repository: Adopted, tmp_path: Path
) -> None:
    keys = tmp_path / "authorized_keys"
    keys.write_text("operator\n")
    git = repository.open()
    (git.paths.tmp / "rescue-index").symlink_to(keys)

    preserve(git, "r1", worktree=False)

    assert keys.read_text() == "operator\n"
    assert [path.name for path in git.paths.tmp.iterdir() if path.name.startswith("rescue-index.")] == []


def test_a_link_in_place_of_the_snapshot_directory_is_replaced_and_not_followed(
    repository: Adopted, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "info").mkdir(parents=True)
    (home / "HEAD").write_text("x")
    git = repository.open()
    (git.paths.tmp / "snapshot.git").symlink_to(home)
    repository.write("file.txt", "work\n")

    preserve(git, "r1", worktree=True)

    assert sorted(path.name for path in home.rglob("*")) == ["HEAD", "info"]
    assert repository.plain("show", "refs/rescue/r1/worktree:file.txt") == "work"


@pytest.mark.parametrize("name", ["info/exclude", "info/attributes", "HEAD", "config", "index", "index.lock"])
def test_no_file_of_the_snapshot_directory_is_written_through_a_link(
    repository: Adopted, tmp_path: Path, name: str
) -> None:
    keys = tmp_path / "authorized_keys"
    keys.write_text("operator\n")
    git = repository.open()
    preserve(git, "r1", worktree=True)
    plant = git.paths.tmp / "snapshot.git" / name
    plant.unlink(missing_ok=True)
    plant.symlink_to(keys)
    repository.write("file.txt", "work\n")

    preserve(git, "r2", worktree=True)

    assert keys.read_text() == "operator\n"
    assert repository.plain("show", "refs/rescue/r2/worktree:file.txt") == "work"


def test_a_snapshot_directory_that_somebody_else_wrote_in_is_made_anew(repository: Adopted) -> None:
    git = repository.open()
    preserve(git, "r1", worktree=True)
    place = git.paths.tmp / "snapshot.git"
    (place / "info" / "attributes").write_text("* ident\n")
    (place / "config").write_text("[core]\n\tworktree = /\n")
    (place / "commondir").write_text("/\n")
    repository.write("file.txt", "$Id$\n")

    preserve(git, "r2", worktree=True)

    assert not (place / "commondir").exists()
    assert "worktree" not in (place / "config").read_text()
    assert repository.plain("show", "refs/rescue/r2/worktree:file.txt") == "$Id$"


def test_an_index_of_the_snapshot_directory_that_was_exchanged_hides_no_work(repository: Adopted) -> None:
    git = repository.open()
    preserve(git, "r1", worktree=True)
    index = git.paths.tmp / "snapshot.git" / "index"
    repository.write("file.txt", "work\n")
    there = {"GIT_DIR": str(index.parent), "GIT_OBJECT_DIRECTORY": str(git.paths.objects), "GIT_WORK_TREE": "."}
    plain_git(repository.tree, "update-index", "--assume-unchanged", "file.txt", env=there)

    preserve(git, "r2", worktree=True)

    assert repository.plain("show", "refs/rescue/r2/worktree:file.txt") == "work"


def test_an_id_that_could_leave_its_place_is_refused(repository: Adopted) -> None:
    with pytest.raises(Refused):
        preserve(repository.open(), "../heads/main", worktree=False)
