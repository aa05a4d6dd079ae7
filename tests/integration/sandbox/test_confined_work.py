"""Ordinary git work goes on in confinement: on this kernel and on older ones, as root and as nobody special."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from confined_scene import GIT, build_scene, scratch_directory
from ordinary_work import work

from executor.policy.model import Contact
from executor.sandbox import landlock
from executor.sandbox.confinement import Confinement, Profile, Support

pytestmark = pytest.mark.needs("landlock", "git")


def test_a_day_of_work_is_denied_nothing(tmp_path: Path) -> None:
    work(build_scene(tmp_path))


@pytest.mark.parametrize("abi", range(1, landlock.LATEST_ABI))
def test_a_day_of_work_is_denied_nothing_by_an_older_landlock(tmp_path: Path, abi: int) -> None:
    if abi > Confinement().support.landlock_abi:
        pytest.skip(f"needs a kernel with Landlock ABI {abi}")
    work(build_scene(tmp_path, support=Support(abi, True, None)), across_directories=abi >= 2)


def test_what_the_oldest_landlock_is_said_to_break_is_what_it_breaks(tmp_path: Path) -> None:
    scene = build_scene(tmp_path, support=Support(1, True, None))
    (scene.tree / "docs").mkdir()

    assert b"Invalid cross-device link" in scene.git("mv", "file.txt", "docs/file.txt").stderr
    assert b"Invalid cross-device link" in scene.git("branch", "-m", "main", "other", contact=Contact.NONE).stderr
    assert any("`git mv`" in text and "branch" in text for text in landlock.missing(1))


@pytest.mark.needs("unprivileged-user")
def test_a_day_of_work_is_denied_nothing_as_an_unprivileged_user() -> None:
    program = Path(__file__).with_name("ordinary_work.py")
    with scratch_directory() as directory:
        done = subprocess.run(
            [sys.executable, program, directory, "4242"], capture_output=True, text=True, timeout=60, cwd="/"
        )
    assert (done.returncode, done.stdout) == (0, "worked\n"), done.stderr


def test_commits_carry_the_zone_of_the_host(tmp_path: Path) -> None:
    scene = build_scene(tmp_path)
    zone = subprocess.run(["/bin/date", "+%z"], capture_output=True, text=True, check=True, env={}).stdout.strip()
    assert scene.ok("log", "-1", "--format=%cd", contact=Contact.NONE).endswith(zone)


def test_a_push_to_a_local_path_works_where_the_shell_is_granted(tmp_path: Path) -> None:
    scene = build_scene(tmp_path)
    remote = tmp_path / "remote.git"
    subprocess.run([GIT, "init", "-q", "--bare", "-b", "main", remote], check=True, env={})
    bare = scene.profile(Contact.REMOTE, execute=[Path("/bin/sh")])
    granted = Profile(bare.contact, bare.read, (*bare.write, remote), bare.execute, links=bare.links)
    push = ("push", "-q", str(remote), "HEAD:refs/heads/main")
    file_only = {"GIT_ALLOW_PROTOCOL": "file", "config": [("protocol.file.allow", "always")]}

    denied = scene.git(*push, contact=Contact.REMOTE, **file_only)
    assert denied.exit_code != 0 and b"cannot exec" in denied.stderr
    scene.ok(*push, contact=Contact.REMOTE, profile=granted, **file_only)
    head = scene.ok("rev-parse", "HEAD", contact=Contact.NONE)
    there = subprocess.run([GIT, "-C", remote, "rev-parse", "main"], capture_output=True, text=True, check=True)
    assert there.stdout.strip() == head


def test_a_replaced_work_tree_gets_a_domain_of_its_own(tmp_path: Path) -> None:
    scene = build_scene(tmp_path)
    scene.ok("status", contact=Contact.READ)
    scene.tree.rename(tmp_path / "old")
    scene.tree.mkdir()
    (scene.tree / "file.txt").write_text("new\n")

    assert scene.ok("status", "--porcelain", contact=Contact.READ) == " M file.txt"
