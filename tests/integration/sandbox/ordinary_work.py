"""A day's work with git in confinement; as a program, `ordinary_work.py DIRECTORY UID`, it is another user's day."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from confined_scene import Scene, build_scene, processes_of

from executor.policy.model import Contact


def work(scene: Scene, *, across_directories: bool = True) -> None:
    """Do what people do; every command must succeed without being denied anything."""
    tree = scene.tree
    (tree / "docs").mkdir()
    (tree / "docs/page.md").write_text("page\n")
    (tree / "link").symlink_to("file.txt")
    scene.ok("add", ".", contact=Contact.READ)
    scene.ok("commit", "-q", "-m", "Docs and a link", contact=Contact.READ)

    scene.ok("checkout", "-q", "-b", "dev", "HEAD~1")
    assert not (tree / "link").is_symlink()
    (tree / "file.txt").write_text("dev\n")
    scene.ok("commit", "-q", "-a", "-m", "On dev")
    scene.ok("rebase", "-q", "main")
    assert (tree / "link").is_symlink()

    (tree / "file.txt").write_text("unfinished\n")
    scene.ok("stash", "push")
    scene.ok("checkout", "-q", "main")
    scene.ok("merge", "-q", "--no-ff", "--no-edit", "dev")
    scene.ok("stash", "pop")
    assert (tree / "file.txt").read_text() == "unfinished\n"
    scene.ok("reset", "-q", "--hard")
    scene.ok("revert", "--no-edit", "-m", "1", "HEAD")
    scene.ok("cherry-pick", "-x", "dev")

    scene.ok("tag", "-a", "v1", "-m", "One", contact=Contact.NONE)
    if across_directories:
        scene.ok("mv", "docs/page.md", "page.md")
        scene.ok("commit", "-q", "-m", "Move the page")
        scene.ok("branch", "-m", "dev", "feature/dev", contact=Contact.NONE)
    scene.ok("gc", "-q", contact=Contact.NONE)
    scene.ok("fsck", contact=Contact.NONE)
    assert scene.ok("status", "--porcelain", contact=Contact.READ) == ""
    assert "Move the page" in scene.ok("log", "-1", contact=Contact.NONE) or not across_directories


def leave_daemons(scene: Scene) -> None:
    """Start daemons that leave the session; none may be left."""
    span = f"{os.getpid()}.2468"
    script = f"setsid env -i sleep {span} < /dev/null > /dev/null 2>&1 &"
    for _ in range(3):
        done = scene.runner.run(
            ("/bin/sh", "-c", script), env={"PATH": "/usr/bin:/bin"}, cwd=Path("/"), profile=None, deadline=20
        )
        assert done.exit_code == 0, done
        assert processes_of(span) == []


def _as_user(directory: Path, uid: int) -> None:
    os.chown(directory, uid, uid)
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    scene = build_scene(directory / "scene")
    work(scene)
    leave_daemons(scene)


if __name__ == "__main__":
    _as_user(Path(sys.argv[1]), int(sys.argv[2]))
    sys.stdout.write("worked\n")
