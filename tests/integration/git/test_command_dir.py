"""A command on the work tree that is led into its git directory reaches nothing that outlives it.

Such a command has a git directory of its own; these tests lead it there, also with the name that nobody can know.
"""

from __future__ import annotations

import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository

from executor.errors import Failed
from executor.git.command_dir import LOCK_MARK, command_dir
from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.run_command import run_command
from executor.git.taking_over import take_over
from executor.outcome import Outcome, State
from executor.policy.model import Contact
from executor.sandbox.confinement import Confinement, Support
from executor.sandbox.process import ProcessRunner

pytestmark = pytest.mark.needs("git", "landlock")

FILES = 1500
SECONDS = 90.0  # how long an attack is tried again before a test gives up

# Wait for the directory to be written, put a link into a git directory in its place, begin again. A target of `*`
# is what only the gateway's own user can find out: the directory of the command that is running.
SWAP = """
import glob, os, sys
tree, target = sys.argv[1:]
print("ready", flush=True)
number = 0
while True:
    try:
        if len(os.listdir(f"{tree}/payload")) > 5 and not os.path.islink(f"{tree}/payload"):
            found = glob.glob(target)
            if found:
                os.rename(f"{tree}/payload", f"{tree}/../aside{number}")
                os.symlink(found[0], f"{tree}/payload")
                number += 1
    except OSError:
        pass
"""


@pytest.fixture
def repository(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path)


def run(repository: Adopted, line: str, runner: ProcessRunner | None = None) -> Outcome:
    return run_command(repository.open(runner=runner), judge(split(line.removeprefix("git "))))


@contextmanager
def swapping(repository: Adopted, target: Path) -> Iterator[None]:
    agent = subprocess.Popen([sys.executable, "-c", SWAP, repository.tree, target], stdout=subprocess.PIPE, text=True)
    try:
        assert agent.stdout is not None
        assert agent.stdout.readline() == "ready\n"
        yield
    finally:
        agent.kill()
        agent.communicate()


def with_payload(repository: Adopted) -> Adopted:
    """Put a large directory on a branch of its own."""
    repository.plain("checkout", "-q", "-b", "evil")
    for number in range(FILES):
        repository.write(f"payload/planted{number}", f"evil {number}\n")
    repository.plain("add", ".")
    repository.plain("commit", "-q", "-m", "Payload")
    repository.plain("checkout", "-q", "main")
    return repository


def without_payload(repository: Adopted) -> None:
    payload = repository.tree / "payload"
    if payload.is_symlink():
        payload.unlink()
    repository.plain("checkout", "-q", "-f", "main")


def attacked(repository: Adopted, target: Path, enough: Callable[[Outcome], bool], runner: ProcessRunner) -> bool:
    """Check the payload out under attack until `enough` holds, and return whether it ever did."""
    give_up = time.monotonic() + SECONDS
    while time.monotonic() < give_up:
        with swapping(repository, target):
            outcome = run(repository, "git checkout evil", runner)
        if enough(outcome):
            return True
        without_payload(repository)
    return False


def planted(directory: Path) -> list[str]:
    return [path.name for path in directory.rglob("planted*")]


def test_a_checkout_whose_directory_becomes_a_link_to_the_git_directory_writes_nothing_there(
    repository: Adopted,
) -> None:
    with_payload(repository)
    runner = ProcessRunner(Confinement())

    for _ in range(3):
        with swapping(repository, repository.paths.local):
            run(repository, "git checkout evil", runner)
        assert planted(repository.paths.local) == []
        without_payload(repository)


def test_the_same_checkout_writes_into_the_git_directory_where_the_kernel_is_off(repository: Adopted) -> None:
    with_payload(repository)
    off = ProcessRunner(Confinement(Support(0, False, "switched off by the test"), unsafe=True))

    assert attacked(repository, repository.paths.local, lambda _: bool(planted(repository.paths.local)), off)


def test_a_checkout_that_is_led_into_its_own_git_directory_is_thrown_away_whole(repository: Adopted) -> None:
    with_payload(repository)
    runner = ProcessRunner(Confinement())
    tip = repository.ref("refs/heads/evil")
    ends: list[Outcome] = []

    def found_out(outcome: Outcome) -> bool:
        ends.append(outcome)
        return outcome.error is not None and outcome.error.code == "git_dir_tampered"

    assert attacked(repository, repository.paths.commands / "*/git", found_out, runner)
    assert "planted" in str(ends[-1].error)
    assert repository.plain("symbolic-ref", "HEAD") == "refs/heads/main"
    assert repository.ref("refs/heads/evil") == tip
    assert planted(repository.paths.local) == []
    assert list(repository.paths.commands.iterdir()) == []
    without_payload(repository)
    assert run(repository, "git checkout evil", runner).state is State.SUCCEEDED


def _written(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _false_object(git_dir: Path) -> None:
    name = sha1(b"blob 5\0right").hexdigest()
    path = git_dir / "objects" / name[:2] / name[2:]
    path.parent.mkdir()
    path.write_bytes(zlib.compress(b"blob 5\0wrong"))


EVIL = "1" * 40
PLANTED: dict[str, Callable[[Path], object]] = {
    "config": lambda git_dir: (git_dir / "config").write_text("[core]\n\tfsmonitor = /tmp/evil\n"),
    "config.worktree": lambda git_dir: _written(git_dir / "config.worktree", "[core]\n\tfsmonitor = /tmp/evil\n"),
    "hooks/pre-push": lambda git_dir: _written(git_dir / "hooks/pre-push", "evil"),
    "info/attributes": lambda git_dir: _written(git_dir / "info/attributes", "* filter=evil\n"),
    "info/grafts": lambda git_dir: _written(git_dir / "info/grafts", EVIL),
    "info/exclude": lambda git_dir: _written(git_dir / "info/exclude", "hidden\n"),
    "objects/info/alternates": lambda git_dir: _written(git_dir / "objects/info/alternates", "/srv/private\n"),
    "objects/": _false_object,
    "commondir": lambda git_dir: _written(git_dir / "commondir", "/srv/private\n"),
    "shallow": lambda git_dir: _written(git_dir / "shallow", EVIL),
    "refs/remotes/origin/zz": lambda git_dir: _written(git_dir / "refs/remotes/origin/zz", EVIL),
    "refs/heads/other": lambda git_dir: _written(git_dir / "refs/heads/other", EVIL),
    "refs/tags/v1": lambda git_dir: _written(git_dir / "packed-refs", f"{EVIL} refs/tags/v1\n"),
    "'refs/heads/main'": lambda git_dir: _written(git_dir / "refs/heads/main", "no ref at all"),
    "logs/refs/heads/other": lambda git_dir: _written(git_dir / "logs/refs/heads/other", "evil"),
    "logs/HEAD": lambda git_dir: _written(git_dir / "logs/HEAD", "no reflog\n"),
    "MERGE_MSG": lambda git_dir: (git_dir / "MERGE_MSG").symlink_to("/etc/passwd"),
    "MERGE_HEAD": lambda git_dir: (git_dir / "MERGE_HEAD").hardlink_to(git_dir / "config"),
    "HEAD": lambda git_dir: (git_dir / "HEAD").write_text("ref: refs/heads/../../config\n"),
    "index": lambda git_dir: (git_dir / "index").unlink(),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_no_command_makes_is_not_taken_over_and_neither_is_anything_else(repository: Adopted, name: str) -> None:
    paths, git = repository.paths, repository.open()
    before = {path: path.lstat().st_mtime_ns for path in paths.local.rglob("*") if path.is_file()}

    with pytest.raises(Failed, match="led from the work tree") as found, command_dir(paths, []) as made:
        PLANTED[name](made.git_dir)
        _written(made.git_dir / "ORIG_HEAD", EVIL)
        take_over(made, paths.local, ["checkout"], lambda words, fed: git.local(words, stdin=fed))

    assert name in found.value.message
    assert {path: path.lstat().st_mtime_ns for path in paths.local.rglob("*") if path.is_file()} == before


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


def test_a_day_of_ordinary_commands_is_taken_over_whole(tmp_path: Path) -> None:
    repository = adopted_repository(tmp_path, commits=3)
    repository.write("untracked.txt", "x\n")

    ends = [run(repository, line) for line in ORDINARY]

    assert [(end.state, end.error) for end in ends] == [(State.SUCCEEDED, None)] * len(ORDINARY)
    assert repository.plain("config", "branch.topic.merge") == "refs/heads/main"
    assert "checkout: moving from topic to main" in repository.plain("reflog", "HEAD")
    assert repository.plain("fsck", "--strict", "--no-dangling") == ""
    assert str(repository.paths.commands) not in "".join(end.output for end in ends)


def test_the_notes_of_an_unfinished_command_are_there_for_the_next_one(tmp_path: Path) -> None:
    repository = adopted_repository(tmp_path, commits=2)
    run(repository, "git checkout -b topic HEAD~1")
    repository.commit("file.txt", "another\n")
    repository.commit("more.txt", "more\n")

    stopped = run(repository, "git rebase main")
    repository.write("file.txt", "solved\n")
    repository.plain("add", "file.txt")
    goes_on = run(repository, "git rebase --continue")

    assert (stopped.state, goes_on.state) == (State.FAILED, State.SUCCEEDED)
    assert repository.plain("log", "--format=%s", "main..topic") == "A commit\nA commit"
    assert not (repository.paths.local / "rebase-merge").exists()


def test_a_file_that_git_packs_for_its_size_is_taken_over_as_a_pack(repository: Adopted) -> None:
    repository.write("large.bin", bytes(65 * 1024 * 1024))

    stashed = run(repository, "git stash push -u -m large")
    back = run(repository, "git stash pop")

    assert (stashed.state, back.state) == (State.SUCCEEDED, State.SUCCEEDED)
    assert list((repository.paths.objects / "pack").glob("*.pack"))
    assert (repository.tree / "large.bin").stat().st_size == 65 * 1024 * 1024


def test_rebasing_moves_the_branches_on_the_way_when_it_was_told_to(tmp_path: Path) -> None:
    repository = adopted_repository(tmp_path, commits=2)
    run(repository, "git checkout -b low HEAD~1")
    repository.commit("low.txt", "low\n")
    run(repository, "git checkout -b high")
    repository.commit("high.txt", "high\n")

    end = run(repository, "git rebase --update-refs main")

    assert end.state is State.SUCCEEDED, end.output
    assert repository.plain("rev-parse", "high~1") == repository.plain("rev-parse", "low")
    assert len(repository.plain("reflog", "low").splitlines()) > 1  # what was there before is still there


def test_a_person_who_works_in_the_index_is_waited_for_and_not_overwritten(repository: Adopted) -> None:
    lock = repository.paths.local / "index.lock"
    lock.touch()

    with pytest.raises(Failed) as found:
        repository.open().local(["reset", "--hard"], contact=Contact.WRITE)

    assert found.value.code == "index_locked"
    assert lock.exists()


def test_the_lock_of_a_command_whose_gateway_was_killed_stops_nobody(repository: Adopted) -> None:
    (repository.paths.local / "index.lock").write_bytes(LOCK_MARK)

    assert run(repository, "git reset --hard").state is State.SUCCEEDED


def test_a_file_is_not_moved_through_a_link_into_the_git_directory(repository: Adopted) -> None:
    repository.write("hook", "evil\n")
    repository.plain("add", "hook")
    (repository.tree / "notes").symlink_to(repository.paths.local)

    end = run(repository, "git mv hook notes/")

    assert (end.state, end.error and end.error.code) == (State.REFUSED, "beyond_a_link")
    assert not (repository.paths.local / "hook").exists()


def test_what_a_link_leads_to_outside_cannot_be_told_from_the_refusal(repository: Adopted, tmp_path: Path) -> None:
    repository.write("hook", "evil\n")
    repository.plain("add", "hook")
    said = []
    for target in (tmp_path, tmp_path / "nowhere"):
        (repository.tree / "notes").symlink_to(target)
        end = run(repository, "git mv hook notes/x")
        said.append((end.state, str(end.error), end.output))
        (repository.tree / "notes").unlink()

    assert said[0] == said[1]


def test_the_kernel_alone_lets_no_file_be_moved_into_the_git_directory(repository: Adopted) -> None:
    repository.write("hook", "evil\n")
    repository.plain("add", "hook")
    (repository.tree / "notes").symlink_to(repository.paths.local)

    done = repository.open().local(["mv", "hook", "notes/"], contact=Contact.WRITE, check=False)

    assert done.exit_code != 0
    assert not (repository.paths.local / "hook").exists()
