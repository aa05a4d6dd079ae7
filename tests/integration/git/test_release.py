"""Releasing gives the repository back as it is now, and the gateway forgets it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from adoption_scene import Scene, build_scene
from repos import commit_file, plain_git

from executor.errors import Failed, Refused, Unavailable
from executor.git.gitfile import repository_lock
from executor.git.repository import open_repository
from executor.git.rescue import find, preserve
from executor.git.undo import undo
from executor.outcome import State


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    built = build_scene(tmp_path)
    built.adopt()
    return built


def test_refs_index_stash_and_remotes_are_as_they_were(scene: Scene) -> None:
    before = scene.everything()

    scene.release()

    assert scene.git_dir.is_dir()
    assert scene.everything() == before
    assert scene.plain("remote", "get-url", "origin") == str(scene.remote)
    assert scene.leftovers() == []
    commit_file(scene.tree, "after.txt", "x")
    scene.plain("push", "-q")


@pytest.mark.needs("root")
def test_the_owner_of_the_work_tree_is_told_how_to_get_the_git_directory(scene: Scene) -> None:
    os.chown(scene.tree, 65534, 65534)

    [mend] = [note.partition("as root: ")[2] for note in scene.release().notes if "as root: " in note]

    subprocess.run(["/bin/sh", "-euc", mend], check=True)
    assert scene.git_dir.stat().st_uid == (scene.git_dir / "HEAD").stat().st_uid == 65534


def test_our_own_settings_are_gone_and_a_persons_stay(scene: Scene) -> None:
    scene.plain("config", "alias.graph", 'log --graph "--format=%h\t%s"')

    scene.release()

    listed = scene.plain("config", "--list", "--local")
    assert str(scene.paths.root) not in listed
    assert ".invalid" not in listed
    assert "core.worktree" not in listed
    assert scene.plain("config", "alias.graph") == 'log --graph "--format=%h\t%s"'


def test_only_what_was_left_out_remains_in_the_state_directory(scene: Scene) -> None:
    report = scene.release()

    assert os.listdir(scene.paths.root) == ["adoption"]
    assert any("adoption" in note for note in report.notes)
    with pytest.raises(Refused, match="has not been adopted"):
        open_repository(scene.paths, scene.runner)


def test_what_was_kept_before_a_request_can_be_brought_back_after_a_release_and_another_adoption(
    scene: Scene,
) -> None:
    git = open_repository(scene.paths, scene.runner)
    (scene.tree / "new.txt").write_text("uncommitted\n")
    preserve(git, "r1", worktree=True)
    (scene.tree / "new.txt").unlink()

    scene.release()
    scene.plain("update-ref", "refs/rescue/r1/record", "HEAD")  # an agent's word for it counts for nothing
    scene.adopt()
    again = open_repository(scene.paths, scene.runner)
    again.local(["reflog", "expire", "--expire=now", "--all"])
    again.local(["gc", "--quiet", "--prune=now"])

    assert undo(again, "r1").state is State.SUCCEEDED
    assert (scene.tree / "new.txt").read_text() == "uncommitted\n"


def test_what_somebody_removed_from_a_released_repository_is_said_to_be_gone(scene: Scene) -> None:
    git = open_repository(scene.paths, scene.runner)
    (scene.tree / "new.txt").write_text("uncommitted\n")
    preserve(git, "r1", worktree=True)
    kept = git.local(["hash-object", "--stdin"], stdin=b"uncommitted\n").stdout.decode().strip()

    scene.release()
    (scene.git_dir / "objects" / kept[:2] / kept[2:]).unlink()
    report = scene.adopt()

    assert any("r1" in note and "no longer" in note for note in report.notes)
    assert find(open_repository(scene.paths, scene.runner), "r1") is None
    assert scene.plain("fsck", "--connectivity-only", "--no-dangling") == ""


def test_a_released_repository_can_be_adopted_again(scene: Scene) -> None:
    before = scene.everything()

    scene.release()
    scene.adopt()

    assert scene.everything() == before
    assert sorted(os.listdir(scene.paths.root / "adoption")) == ["1", "2"]


def test_it_is_refused_while_something_runs(scene: Scene) -> None:
    with repository_lock(scene.paths), pytest.raises(Unavailable) as caught:
        scene.release()
    assert caught.value.code == "repository_busy"

    (scene.paths.local / "index.lock").touch()
    with pytest.raises(Refused) as refused:
        scene.release()
    assert refused.value.code == "index_locked"
    assert scene.git_dir.is_file()


def test_what_is_not_adopted_cannot_be_released(tmp_path: Path, scene: Scene) -> None:
    scene.release()
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            scene.release()
        assert caught.value.code == "not_adopted"
    assert scene.plain("rev-parse", "HEAD")


def test_a_directory_that_the_agent_planted_meanwhile_is_moved_aside(scene: Scene) -> None:
    refs = scene.plain("for-each-ref")
    scene.script("rm .git; git init -q .")

    report = scene.release()

    assert any("was moved to" in note for note in report.notes)
    assert scene.plain("for-each-ref") == refs


def test_an_agent_that_replaces_the_copy_cannot_have_anything_written_elsewhere(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    from executor.git import foreign_copy, release

    canary = scene.canary_digest()
    copy_tree_into = foreign_copy.copy_tree_into

    def replaced(source: Path, within: int, name: str) -> None:
        (scene.tree / name).symlink_to(scene.canary)
        copy_tree_into(source, within, name)

    monkeypatch.setattr(release, "copy_tree_into", replaced)
    with pytest.raises(Failed) as caught:
        scene.release()

    assert caught.value.code == "release_failed"
    assert scene.canary_digest() == canary
    assert plain_git(scene.tree, "rev-parse", "HEAD")
    assert open_repository(scene.paths, scene.runner)
