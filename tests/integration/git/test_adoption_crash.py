"""Killed at any moment, adopting and releasing leave a repository that works, and the next run finishes or undoes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from adoption_scene import Scene, build_scene
from repos import plain_git

from executor.errors import Problem, Unavailable
from executor.git.repository import open_repository

VICTIM = Path(__file__).with_name("adoption_victim.py")


def victim(scene: Scene, what: str, moment: int, *more: str) -> list[str]:
    """Run the victim to be killed at `moment` (0: never), and return the moments it lived through."""
    argv = [sys.executable, str(VICTIM), what, str(scene.paths.root), str(scene.tree), str(moment), *more]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    lived = done.stdout.splitlines()
    # It may live through a few moments fewer than last time (a directory is there already) and so reach its end.
    assert done.returncode == (-signal.SIGKILL if moment else 0) or len(lived) in range(moment - 5, moment), (
        done.stderr
    )
    return lived


def chosen(moments: list[str]) -> list[int]:
    """Choose when to die: at each moment around the exchange, now and then while copying before and removing after.

    Moments are counted from 1; those around the exchange are the ones that touch the journal and its neighbours.
    """
    journal = [number for number, line in enumerate(moments, 1) if "adoption.journal" in line]
    near = {number + offset for number in journal for offset in range(-2, 6)}
    sampled = set(range(1, len(moments) + 1, max(1, len(moments) // 12)))
    return sorted(number for number in near | sampled if 1 <= number <= len(moments))


def again(action: Callable[[], object]) -> None:
    """Do what a person does after a crash: the same once more, and once more when told so."""
    try:
        action()
    except Unavailable as problem:
        assert problem.code == "plan_again"
        action()


class Copies:
    """The same starting point again and again: the scene is put back from a copy, inodes and times apart."""

    def __init__(self, scene: Scene, store: Path) -> None:
        self._scene, self._store = scene, store
        for place in (scene.tree, scene.paths.root):
            if place.exists():
                shutil.copytree(place, store / place.name, symlinks=True)

    def restore(self) -> None:
        for place in (self._scene.tree, self._scene.paths.root):
            shutil.rmtree(place, ignore_errors=True)
            if (self._store / place.name).exists():
                shutil.copytree(self._store / place.name, place, symlinks=True)


def usable(scene: Scene, before: dict[str, str]) -> None:
    """A person's git works and sees everything, and the gateway works on the same repository or on none."""
    now = scene.everything()
    for part in ("refs", "head", "stash", "stashed", "index", "files"):
        assert now[part] == before[part], part
    try:
        git = open_repository(scene.paths, scene.runner)
    except Problem as problem:
        assert problem.code == "not_adopted"
        return
    assert scene.git_dir.is_file()
    assert git.local(["rev-parse", "HEAD"]).stdout.decode() == plain_git(scene.tree, "rev-parse", "HEAD") + "\n"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return build_scene(tmp_path)


@pytest.mark.slow
def test_an_adoption_that_is_killed_leaves_the_old_or_the_new_and_is_finished_by_the_next(
    scene: Scene, tmp_path: Path
) -> None:
    before = scene.everything()
    copies = Copies(scene, tmp_path / "copies")
    moments = victim(scene, "adopt", 0)
    for moment in chosen(moments):
        copies.restore()
        victim(scene, "adopt", moment)
        usable(scene, before)

        again(scene.adopt)

        assert scene.git_dir.is_file(), moments[moment - 1]
        assert scene.leftovers() == [], moments[moment - 1]
        usable(scene, before)
        assert open_repository(scene.paths, scene.runner)


@pytest.mark.slow
def test_a_release_that_is_killed_leaves_the_old_or_the_new_and_is_finished_by_the_next(
    scene: Scene, tmp_path: Path
) -> None:
    scene.adopt()
    before = scene.everything()
    copies = Copies(scene, tmp_path / "copies")
    moments = victim(scene, "release", 0)
    for moment in chosen(moments):
        copies.restore()
        victim(scene, "release", moment)
        usable(scene, before)

        again_or_released(scene)

        assert scene.git_dir.is_dir(), moments[moment - 1]
        assert scene.leftovers() == [], moments[moment - 1]
        assert os.listdir(scene.paths.root) == ["adoption"]
        usable(scene, before)


def again_or_released(scene: Scene) -> None:
    try:
        scene.release()
    except Problem as problem:  # the last step had been done
        assert problem.code == "not_adopted"


@pytest.mark.slow
def test_where_names_cannot_be_exchanged_a_killed_adoption_is_mended_by_the_next(
    scene: Scene, tmp_path: Path
) -> None:
    before = scene.everything()
    copies = Copies(scene, tmp_path / "copies")
    moments = victim(scene, "adopt", 0, "three-steps")
    renames = [n for n, line in enumerate(moments, 1) if line.startswith("os.rename '.git")]
    assert len(renames) >= 3
    for moment in sorted({n + offset for n in renames for offset in (0, 1)}):
        copies.restore()
        victim(scene, "adopt", moment, "three-steps")

        again(scene.adopt)

        assert scene.leftovers() == [], moments[moment - 1]
        usable(scene, before)


def crashed_at(scene: Scene, store: Path, sign: str) -> None:
    """Kill an adoption just before the last moment that shows `sign`."""
    copies = Copies(scene, store)
    moments = victim(scene, "adopt", 0)
    copies.restore()
    victim(scene, "adopt", max(number for number, line in enumerate(moments, 1) if sign in line))


def test_a_commit_that_is_made_in_the_old_directory_after_a_crash_is_not_lost(scene: Scene, tmp_path: Path) -> None:
    crashed_at(scene, tmp_path / "copies", "incoming/transfer.git'")
    assert scene.git_dir.is_file()
    (old,) = scene.tree.glob(".git.adopting-*")
    late = plain_git(scene.tree, "--git-dir", str(old), "commit-tree", "-m", "late", "HEAD^{tree}")
    plain_git(scene.tree, "--git-dir", str(old), "update-ref", "refs/heads/late", late)

    again(scene.adopt)

    assert scene.plain("rev-parse", "late") == late
    assert scene.git_dir.is_file()
    assert scene.leftovers() == []


def test_an_agent_that_wrecks_both_after_a_crash_loses_nothing_of_the_repository(
    scene: Scene, tmp_path: Path
) -> None:
    refs = scene.plain("for-each-ref")
    crashed_at(scene, tmp_path / "copies", "os.remove 'packed-refs'")
    scene.script("rm -rf .git .git.adopting-*; git init -q .")

    scene.adopt()

    assert scene.plain("for-each-ref") == refs
    assert len(list(scene.tree.glob(".git.planted-*"))) == 1
