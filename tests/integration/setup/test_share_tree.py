"""deploy/share_tree.py, which root runs on a tree that somebody else writes at the same time."""

from __future__ import annotations

import grp
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SHARE_TREE = Path(__file__).resolve().parents[3] / "deploy" / "share_tree.py"
GROUP = "nogroup"  # on every Debian, and nobody's main group here
# What an agent does meanwhile: directories become links to what is the host's, and directories again.
SWAPPING = """
import os, sys, time
tree, *names = sys.argv[1:]
aside = f"{tree}.aside"
os.mkdir(aside)
while True:
    for target in ("program", "directory"):
        for name in names:
            os.rename(f"{tree}/{name}", f"{aside}/{name}")
            os.symlink(f"{tree}.host/{target}", f"{tree}/{name}")
        time.sleep(0.01)
        for name in names:
            os.unlink(f"{tree}/{name}")
            os.rename(f"{aside}/{name}", f"{tree}/{name}")
        time.sleep(0.01)
"""


def shared(tree: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", str(SHARE_TREE), GROUP, str(tree)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def swapping(tree: Path, *names: str) -> Iterator[None]:
    agent = subprocess.Popen([sys.executable, "-c", SWAPPING, str(tree), *names])
    try:
        yield
        assert agent.poll() is None, "the agent was at work all the time"
    finally:
        agent.kill()
        agent.wait()


def acl(path: Path) -> str:
    return subprocess.run(["getfacl", "-cp", str(path)], capture_output=True, text=True, check=True).stdout


@pytest.mark.needs("root", "acl")
def test_the_group_may_read_and_write_everything_and_what_is_made_later(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep" / "er").mkdir(parents=True)
    (tree / "deep" / "note").write_text("x")
    (tree / "deep" / "program").write_text("x")
    os.chmod(tree / "deep" / "note", 0o600)
    os.chmod(tree / "deep" / "program", 0o4700)
    subprocess.run(["setfacl", "-m", "default:user:daemon:rx", str(tree / "deep")], check=True)
    shared(tree)
    group = grp.getgrnam(GROUP).gr_gid
    for path, mode in ((tree / "deep" / "note", 0o660), (tree / "deep" / "program", 0o770)):
        assert (stat.S_IMODE(path.stat().st_mode), path.stat().st_gid) == (mode, group)
    for directory in (tree, tree / "deep", tree / "deep" / "er"):
        assert directory.stat().st_gid == group
        assert directory.stat().st_mode & 0o2070 == 0o2070
        assert f"default:group:{GROUP}:rwx" in acl(directory)
    assert "default:user:daemon:r-x" in acl(tree / "deep"), "what others were given there stays"


@pytest.mark.needs("root", "acl")
def test_the_tree_itself_is_given_last_for_by_it_the_installer_knows_that_all_of_it_is(tmp_path: Path) -> None:
    tree, programs = tmp_path / "tree", tmp_path / "programs"
    for number in range(250):  # more than one setfacl is given
        (tree / str(number)).mkdir(parents=True)
    programs.mkdir()
    setfacl = programs / "setfacl"
    setfacl.write_text('#!/bin/sh\n/usr/bin/setfacl "$@"\nkill -KILL $PPID\n')
    setfacl.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-I", str(SHARE_TREE), GROUP, str(tree)], env={"PATH": f"{programs}:/usr/bin:/bin"}
    )
    assert done.returncode == -signal.SIGKILL
    assert "default:group" not in acl(tree)
    shared(tree)
    assert all(f"default:group:{GROUP}:rwx" in acl(directory) for directory in (tree, *tree.iterdir()))


@pytest.mark.needs("root", "acl")
def test_links_are_not_followed_and_nothing_is_opened_that_blocks(tmp_path: Path) -> None:
    tree, host = tmp_path / "tree", tmp_path / "host"
    tree.mkdir()
    host.mkdir(mode=0o700)
    (host / "key").write_text("x")
    os.chmod(host / "key", 0o600)
    (tree / "file").symlink_to(host / "key")
    (tree / "directory").symlink_to(host)
    os.mkfifo(tree / "fifo")
    shared(tree)
    assert stat.S_IMODE((host / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE(host.stat().st_mode) == 0o700
    assert {path.stat().st_gid for path in (host, host / "key")} == {0}


@pytest.mark.needs("root", "acl")
def test_what_becomes_a_link_to_the_hosts_own_while_root_goes_through_the_tree_changes_nothing_there(
    tmp_path: Path,
) -> None:
    tree, host = tmp_path / "tree", tmp_path / "tree.host"
    names = [f"d{number}" for number in range(3000)]
    for name in names:
        (tree / name).mkdir(parents=True)
    (host / "directory").mkdir(parents=True, mode=0o755)
    program = host / "program"
    program.write_text("#!/bin/sh\n")
    os.chmod(program, 0o755)
    before = acl(host / "directory"), stat.S_IMODE(program.stat().st_mode), program.stat().st_gid
    with swapping(tree, *names[::60]):
        for _ in range(10):
            shared(tree)
            assert (acl(host / "directory"), stat.S_IMODE(program.stat().st_mode), program.stat().st_gid) == before
