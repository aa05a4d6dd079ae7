"""Nothing is lost: git writes over ignored files in silence, so they are kept first and an undo brings them back."""

from __future__ import annotations

from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, clone, commit_file, plain_git

from executor.config import Limits
from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.undo import undo
from executor.operations import Operations
from executor.outcome import Outcome, State
from executor.policy.model import CmdParams, Operation, Request, Run
from executor.record.store import Store

pytestmark = [pytest.mark.needs("git"), pytest.mark.needs("landlock")]
MINE = b"mine\r\n\x00 $Id$\n"


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    """main ignores what branch `other` tracks: app.log, a file `built` and a file below `conf`."""
    found = adopted_repository(tmp_path)
    found.commit(".gitignore", "*.log\nbuilt\nconf\n")
    found.plain("checkout", "-q", "-b", "other")
    for name in ("app.log", "built", "conf/x"):
        found.write(name, "theirs\n")
        found.plain("add", "-f", name)
    found.plain("commit", "-q", "-m", "Track what is ignored elsewhere")
    found.plain("checkout", "-q", "main")
    return found


def run(repo: Adopted, line: str, request_id: str = "r1") -> Outcome:
    """Run a command as the gateway does, keeping first what it could lose, under the id of the request."""
    command = judge(split(line))
    store = Store.open(f"sqlite:///{repo.tree.parent}/record.db", host="test-host", key=b"k" * 32)
    try:
        request = Request(Operation.GIT_CMD, CmdParams(tuple(split(line))))
        decision = Run(command.risk, command.argv, command)
        return Operations(store, Limits()).run(repo.open(), request_id, request, decision, {})
    finally:
        store.close()


@pytest.mark.parametrize(
    "line",
    ["checkout other", "switch other", "checkout -b new other", "merge other", "rebase other", "cherry-pick other",
     "cherry-pick main..other", "checkout other -- app.log", "restore --source=other app.log", "reset --hard other"],
)  # fmt: skip
def test_an_ignored_file_that_a_command_writes_over_comes_back_byte_for_byte(repo: Adopted, line: str) -> None:
    file = repo.write("app.log", MINE)

    assert run(repo, line).state is State.SUCCEEDED
    assert file.read_bytes() == b"theirs\n"
    undo(repo.open(), "r1")

    assert file.read_bytes() == MINE


@pytest.mark.parametrize(
    "line",
    ["switch --detach one...two", "restore --source=one...two app.log", "rebase --onto one...two main~1 main"],
)
def test_an_ignored_file_that_only_the_merge_base_of_two_branches_has_comes_back(repo: Adopted, line: str) -> None:
    for name in ("one", "two"):
        repo.plain("checkout", "-q", "-b", name, "other")
        repo.commit(f"{name}.txt", f"{name}\n")
    repo.plain("checkout", "-q", "main")
    file = repo.write("app.log", MINE)

    assert run(repo, line).state is State.SUCCEEDED
    assert file.read_bytes() == b"theirs\n"
    undo(repo.open(), "r1")

    assert file.read_bytes() == MINE


@pytest.mark.parametrize("line", ["stash -a", "stash push --all", "clean -fdx", "clean -fX"])
def test_ignored_files_that_a_command_takes_away_on_purpose_come_back(repo: Adopted, line: str) -> None:
    file = repo.write("app.log", MINE)
    (repo.tree / "built").symlink_to("/nowhere")

    assert run(repo, line).state is State.SUCCEEDED
    assert not file.exists()
    undo(repo.open(), "r1")

    assert file.read_bytes() == MINE
    assert (repo.tree / "built").readlink() == Path("/nowhere")


def test_of_much_that_is_cleaned_away_what_is_small_and_near_the_top_is_kept(
    repo: Adopted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("executor.git.ignored_losses.FILES", 2)
    monkeypatch.setattr("executor.git.ignored_losses.FILE_BYTES", 100)
    own = [repo.write(name, name) for name in ("app.log", "dir/own.log")]
    others = [repo.write(name, name) for name in ("dir/deep/other.log", "conf/a/b")]
    others.append(repo.write("large.log", "x" * 101))

    assert run(repo, "clean -fdx").state is State.SUCCEEDED
    undo(repo.open(), "r1")

    assert [file.exists() for file in own] == [True, True]
    assert [file.exists() for file in others] == [False, False, False]


def test_the_files_of_an_ignored_directory_that_a_file_takes_the_place_of_come_back(repo: Adopted) -> None:
    first, second = repo.write("built/a", MINE), repo.write("built/deep/b", MINE)

    assert run(repo, "checkout other").state is State.SUCCEEDED
    assert (repo.tree / "built").read_bytes() == b"theirs\n"
    undo(repo.open(), "r1")

    assert (first.read_bytes(), second.read_bytes()) == (MINE, MINE)


def test_an_ignored_file_that_a_directory_takes_the_place_of_comes_back(repo: Adopted) -> None:
    file = repo.write("conf", MINE)

    assert run(repo, "checkout other").state is State.SUCCEEDED
    assert (repo.tree / "conf" / "x").read_bytes() == b"theirs\n"
    undo(repo.open(), "r1")

    assert file.read_bytes() == MINE


def diverged(repo: Adopted) -> None:
    """`topic` adds app.log and takes it away again, as one does who committed a file by mistake; main went on."""
    repo.plain("checkout", "-q", "-b", "topic")
    repo.write("app.log", "by mistake\n")
    repo.plain("add", "-f", "app.log")
    repo.plain("commit", "-q", "-m", "Too much")
    repo.plain("rm", "-q", "app.log")
    repo.plain("commit", "-q", "-m", "Not that")
    repo.plain("checkout", "-q", "main")
    repo.commit("more.txt", "main went on\n")
    repo.plain("checkout", "-q", "topic")


@pytest.mark.parametrize("line", ["rebase main", "rebase --onto main other~1 topic", "rebase --root --onto main"])
def test_an_ignored_file_that_a_rebase_has_only_on_its_way_comes_back(repo: Adopted, line: str) -> None:
    diverged(repo)
    file = repo.write("app.log", MINE)

    assert run(repo, line).state is State.SUCCEEDED
    undo(repo.open(), "r1")

    assert file.read_bytes() == MINE


@pytest.mark.parametrize(
    "line",
    ["cherry-pick topic~1^!", "cherry-pick topic~1^-", "cherry-pick topic ^main",
     "revert --no-edit topic^!"],
)  # fmt: skip
def test_an_ignored_file_that_one_of_several_picked_commits_brings_comes_back(repo: Adopted, line: str) -> None:
    diverged(repo)
    repo.plain("checkout", "-q", "main")
    file = repo.write("app.log", MINE)

    assert run(repo, line).state is State.SUCCEEDED
    assert not file.exists() or file.read_bytes() != MINE
    undo(repo.open(), "r1")

    assert file.read_bytes() == MINE


@pytest.mark.parametrize("line", ["merge topic", "cherry-pick topic", "rebase topic", "checkout -m topic"])
def test_an_ignored_file_is_not_written_over_where_only_one_side_renamed_its_directory(
    repo: Adopted, line: str
) -> None:
    for number in range(3):
        repo.write(f"old/{number}", f"{number}\n" * 20)
    repo.plain("add", "old")
    repo.plain("commit", "-q", "-m", "A directory")
    repo.plain("checkout", "-q", "-b", "topic")
    repo.write("old/app.log", "theirs\n")
    repo.plain("add", "-f", "old/app.log")
    repo.plain("commit", "-q", "-m", "One more in it")
    repo.plain("checkout", "-q", "main")
    repo.plain("mv", "old", "new")
    repo.plain("commit", "-q", "-m", "Rename it")
    file = repo.write("new/app.log", MINE)

    run(repo, line)

    assert file.read_bytes() == MINE


@pytest.mark.parametrize("line", ["merge topic", "cherry-pick topic", "rebase topic"])
def test_an_ignored_file_with_the_name_that_a_conflict_gets_comes_back(repo: Adopted, line: str) -> None:
    repo.commit(".gitignore", "*~*\n")
    repo.commit("a", "a\n")
    repo.plain("checkout", "-q", "-b", "topic")
    repo.plain("rm", "-q", "a")
    repo.write("a/x", "a directory now\n")
    repo.plain("add", "a")
    repo.plain("commit", "-q", "-m", "A directory in place of a file")
    repo.plain("checkout", "-q", "main")
    repo.commit("a", "changed\n")
    subject = repo.plain("log", "-1", "--format=%h (%s)").strip()
    files = [repo.write(f"a~{name}", MINE) for name in ("HEAD", subject)]

    assert run(repo, line).state is State.FAILED
    assert {file.read_bytes() for file in files} != {MINE}
    undo(repo.open(), "r1")

    assert {file.read_bytes() for file in files} == {MINE}


def test_a_pull_that_would_have_an_ignored_file_only_on_its_way_is_named_too(repo: Adopted, tmp_path: Path) -> None:
    repo.plain("push", "-q", "origin", "main")
    diverged(repo)
    colleague = clone(repo.remote or "", tmp_path / "colleague")
    commit_file(colleague, "theirs.txt", "theirs\n")
    plain_git(colleague, "push", "-q", "origin", "main")
    repo.plain("branch", "-q", "--set-upstream-to=origin/main", "topic")
    file = repo.write("app.log", MINE)

    outcome = run(repo, "pull --rebase")

    assert outcome.error is not None
    assert outcome.error.code == "ignored_in_the_way"
    assert "rebase @{upstream}" in outcome.error.hint
    assert file.read_bytes() == MINE


def test_an_ignored_file_that_a_revert_brings_back_into_its_place_comes_back(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "other")
    repo.plain("rm", "-q", "app.log")
    repo.plain("commit", "-q", "-m", "Forget it")
    file = repo.write("app.log", MINE)

    assert run(repo, "revert HEAD").state is State.SUCCEEDED
    assert file.read_bytes() == b"theirs\n"
    undo(repo.open(), "r1")

    assert file.read_bytes() == MINE


def test_an_ignored_file_that_a_move_writes_over_comes_back(repo: Adopted) -> None:
    file = repo.write("app.log", MINE)

    assert run(repo, "mv -f file.txt app.log").state is State.SUCCEEDED
    assert file.read_bytes() != MINE
    undo(repo.open(), "r1")

    assert file.read_bytes() == MINE


def test_a_pull_that_would_write_over_an_ignored_file_is_named_and_merging_it_by_itself_keeps_it(
    repo: Adopted, tmp_path: Path
) -> None:
    repo.plain("push", "-q", "origin", "main")
    colleague = clone(repo.remote or "", tmp_path / "colleague")
    plain_git(colleague, "config", "core.excludesFile", "/nonexistent")
    (colleague / ".gitignore").write_text("")
    commit_file(colleague, "app.log", "theirs\n")
    plain_git(colleague, "push", "-q", "origin", "main")
    file = repo.write("app.log", MINE)

    outcome = run(repo, "pull")
    assert outcome.error is not None
    assert outcome.error.code == "ignored_in_the_way"
    assert "app.log" in outcome.error.message
    assert file.read_bytes() == MINE
    assert run(repo, "merge @{upstream}", "r2").state is State.SUCCEEDED
    undo(repo.open(), "r2")

    assert file.read_bytes() == MINE
