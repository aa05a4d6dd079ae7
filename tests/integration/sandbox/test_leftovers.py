"""A git that outlives a killed gateway is ended by the next one; everybody else's goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from confined_scene import until
from repos import Adopted, adopted_repository

from executor.sandbox.descendants import Descendants
from executor.sandbox.leftovers import end_leftovers

pytestmark = pytest.mark.needs("git", "landlock")

# A gateway in the middle of a command that hangs.
GATEWAY = """
import sys
from pathlib import Path
from executor.git.paths import RepositoryPaths
from executor.git.repository import open_repository
from executor.policy.model import Contact
from executor.sandbox.confinement import Confinement
from executor.sandbox.process import ProcessRunner
tree, root = map(Path, sys.argv[1:])
git = open_repository(RepositoryPaths("project", tree, root), ProcessRunner(Confinement()))
git.local(["status"], contact=Contact.READ, deadline=600)
"""


@pytest.fixture
def repository(tmp_path: Path) -> Adopted:
    adopted = adopted_repository(tmp_path)
    os.mkfifo(adopted.tree / ".gitignore")
    return adopted


def hanging_gits(root: Path) -> list[int]:
    """The `git status` below `root`; what the gateway asks git before it is answered at once, and no sign of it."""
    sign = f"GIT_DIR={root}/".encode()
    found = []
    for name in os.listdir("/proc"):
        try:
            process = Path("/proc") / name
            words = (process / "cmdline").read_bytes().split(b"\0") if name.isdigit() else []
            if b"status" in words and sign in (process / "environ").read_bytes():
                found.append(int(name))
        except OSError:
            continue
    return found


def test_a_git_of_a_killed_gateway_is_ended(repository: Adopted) -> None:
    root = repository.paths.root
    with subprocess.Popen([sys.executable, "-c", GATEWAY, repository.tree, root]) as gateway:
        assert until(lambda: bool(hanging_gits(root)), 60)
        gateway.send_signal(signal.SIGKILL)
    assert hanging_gits(root)

    ended = end_leftovers(root)

    assert ended == ("git",)
    assert until(lambda: not hanging_gits(root), 60)


def test_a_program_of_a_gateway_that_was_killed_right_after_starting_it_is_ended(repository: Adopted) -> None:
    environment = {"GIT_DIR": str(repository.paths.local)}
    with Descendants().marked():
        program = subprocess.Popen(["/bin/sleep", "300"], env=environment)
    with program:
        try:
            assert end_leftovers(repository.paths.root) == ("sleep",)
        finally:
            program.kill()


def test_a_persons_program_on_the_same_git_directory_goes_on(repository: Adopted) -> None:
    environment = {"GIT_DIR": str(repository.paths.local)}
    with subprocess.Popen(["/bin/sleep", "300"], env=environment) as person:
        try:
            assert end_leftovers(repository.paths.root) == ()
            assert person.poll() is None
        finally:
            person.kill()
