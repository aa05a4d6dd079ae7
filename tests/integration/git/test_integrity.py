"""A command on the work tree that was led into the git directory is found out, and it was the last one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository

from executor.errors import Failed, Refused
from executor.git.grammar import judge
from executor.git.integrity import sealed
from executor.git.lexer import split
from executor.git.run_command import run_command
from executor.outcome import Outcome, State
from executor.policy.model import Contact

pytestmark = pytest.mark.needs("git", "landlock")


@pytest.fixture
def repository(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def run(repository: Adopted, line: str) -> Outcome:
    return run_command(repository.open(), judge(split(line.removeprefix("git "))))


def _written(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


PLANTED: dict[str, Callable[[Path], object]] = {
    "config": lambda git_dir: (git_dir / "config").write_text("[core]\n\tfsmonitor = /tmp/evil\n"),
    "hooks/pre-push": lambda git_dir: _written(git_dir / "hooks/pre-push", "evil"),
    "info/attributes": lambda git_dir: (git_dir / "info/attributes").write_text("* filter=evil\n"),
    "objects/info/alternates": lambda git_dir: (git_dir / "objects/info/alternates").write_text("/srv/private\n"),
    "commondir": lambda git_dir: (git_dir / "commondir").write_text("/srv/private\n"),
    "refs/remotes/origin/zz": lambda git_dir: (git_dir / "refs/remotes/origin/zz").write_text("0" * 40),
    "refs/heads/other": lambda git_dir: (git_dir / "refs/heads/other").write_text("0" * 40),
    "refs/rescue/x": lambda git_dir: _written(git_dir / "refs/rescue/x", "0" * 40),
    "packed-refs": lambda git_dir: (git_dir / "packed-refs").write_text(f"{'1' * 40} refs/remotes/origin/zz\n"),
    "MERGE_MSG": lambda git_dir: (git_dir / "MERGE_MSG").symlink_to("/etc/passwd"),
    "HEAD": lambda git_dir: (git_dir / "HEAD").unlink(),
    "logs/refs/stash": lambda git_dir: (git_dir / "logs/refs/stash").symlink_to("/etc/passwd"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_no_command_writes_is_found_in_the_git_directory_and_closes_the_repository(
    repository: Adopted, name: str
) -> None:
    paths = repository.paths
    (paths.local / "info").mkdir(exist_ok=True)
    (paths.local / "refs/remotes/origin").mkdir(parents=True, exist_ok=True)
    config = (paths.local / "config").read_bytes()

    with pytest.raises(Failed, match="led from the work tree") as found, sealed(paths):
        PLANTED[name](paths.local)

    assert name in found.value.message
    assert (paths.local / "config").read_bytes() == config
    with pytest.raises(Refused, match="written to from the work tree"):
        repository.open()


ORDINARY = [
    "git checkout -b topic origin/main",
    "git checkout -",
    "git stash push -u -m wip",
    "git stash pop",
    "git reset --hard HEAD~1",
    "git merge --ff-only origin/main",
    "git rebase HEAD~1",
    "git mv file.txt renamed.txt",
    "git rm --cached renamed.txt",
    "git clean -fd",
]


def test_a_day_of_ordinary_commands_breaks_no_seal(tmp_path: Path) -> None:
    repository = adopted_repository(tmp_path, commits=3)
    repository.write("untracked.txt", "x\n")

    ends = [run(repository, line) for line in ORDINARY]

    assert [(end.state, end.error) for end in ends] == [(State.SUCCEEDED, None)] * len(ORDINARY)


def test_a_file_is_not_moved_through_a_link_into_the_git_directory(repository: Adopted) -> None:
    repository.write("hook", "evil\n")
    repository.plain("add", "hook")
    (repository.tree / "notes").symlink_to(repository.paths.local)

    end = run(repository, "git mv hook notes/")

    assert (end.state, end.error and end.error.code) == (State.REFUSED, "beyond_a_link")
    assert not (repository.paths.local / "hook").exists()


def test_the_kernel_alone_lets_no_file_be_moved_into_the_git_directory(repository: Adopted) -> None:
    repository.write("hook", "evil\n")
    repository.plain("add", "hook")
    (repository.tree / "notes").symlink_to(repository.paths.local)

    done = repository.open().local(["mv", "hook", "notes/"], contact=Contact.WRITE, check=False)

    assert done.exit_code != 0
    assert not (repository.paths.local / "hook").exists()
