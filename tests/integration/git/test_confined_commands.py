"""Every sub-command of the table really runs where git is confined: an adopted repository, no shell, no socket."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from everyday_lines import EVERYDAY, OTHERWISE
from repos import LOCAL_ACCESS, Adopted, bare_remote, commit_file, plain_git, process_runner, work_tree

from executor.errors import Refused
from executor.git.adoption import adopt, plan_adoption
from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.paths import RepositoryPaths
from executor.git.repository import open_repository
from executor.git.run_command import run_command
from executor.git.table import load
from executor.outcome import Outcome, State

pytestmark = [pytest.mark.needs("git"), pytest.mark.needs("landlock")]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return where the scene lies, and a copy of it to put back there for each test."""
    root = tmp_path_factory.mktemp("confined") / "scene"
    tree = work_tree(root / "tree", commits=2)
    plain_git(tree, "config", "user.name", "Agent Smith")
    plain_git(tree, "config", "user.email", "agent@example.org")
    commit_file(tree, "dir/a.txt", "a\n")
    plain_git(tree, "checkout", "-q", "-b", "topic")
    commit_file(tree, "topic.txt", "topic\n")
    commit_file(tree, "topic.txt", "topic, better\n")
    plain_git(tree, "checkout", "-q", "main")
    plain_git(tree, "tag", "-a", "-m", "One", "v1.0")
    commit_file(tree, ".gitignore", "*.log\n")
    commit_file(tree, "file.txt", "one\ntwo\nthree\nfour\n")
    plain_git(tree, "notes", "add", "-m", "A note")
    plain_git(tree, "remote", "add", "origin", str(bare_remote(root / "remotes" / "origin.git")))
    plain_git(tree, "push", "-q", "-u", "origin", "main")
    (tree / "dir" / "a.txt").write_text("stashed\n")
    plain_git(tree, "stash", "push", "-q")
    paths = RepositoryPaths("tree", tree.resolve(), root.resolve() / "state" / "repos" / "tree")
    adopt(plan_adoption(paths, process_runner(), allow_local_remote=True), process_runner())
    for name in ("new.txt", "x.log"):
        (tree / name).write_text("new\n")
    (tree / "fix.patch").write_text("--- a/dir/a.txt\n+++ b/dir/a.txt\n@@ -1 +1 @@\n-a\n+fixed\n")
    copy = root.with_name("copy")
    shutil.copytree(root, copy, symlinks=True)
    return root, copy


@pytest.fixture
def repo(kept: tuple[Path, Path]) -> Adopted:
    root, copy = kept
    shutil.rmtree(root)
    shutil.copytree(copy, root, symlinks=True)
    paths = RepositoryPaths("tree", (root / "tree").resolve(), root.resolve() / "state" / "repos" / "tree")
    return Adopted(paths, root / "remotes" / "origin.git")


def play(repo: Adopted, lines: Sequence[str]) -> Outcome:
    """Run the lines one after the other, each of which must succeed, and return how the last one ended."""
    for line in lines:
        git = open_repository(repo.paths, process_runner(), LOCAL_ACCESS)
        outcome = run_command(git, judge(split(line)))
        assert outcome.state is State.SUCCEEDED, (line, outcome.error, outcome.output)
        assert "cannot exec" not in outcome.output
        assert "cannot run" not in outcome.output
    return outcome


def test_there_is_an_everyday_line_for_every_sub_command_of_the_table() -> None:
    assert sorted(EVERYDAY) == sorted(load().commands)


@pytest.mark.parametrize("subcommand", EVERYDAY)
def test_every_sub_command_runs_without_a_shell(repo: Adopted, subcommand: str) -> None:
    lines = EVERYDAY[subcommand]
    assert judge(split(lines[-1])).subcommand == subcommand

    play(repo, lines)


@pytest.mark.parametrize("lines", OTHERWISE, ids=" · ".join)
def test_what_starts_other_programs_of_git_runs_too(repo: Adopted, lines: Sequence[str]) -> None:
    play(repo, lines)


def code(repo: Adopted, line: str) -> str:
    git = open_repository(repo.paths, process_runner(), LOCAL_ACCESS)
    outcome = run_command(git, judge(split(line)))
    assert outcome.error is not None, outcome.output
    return outcome.error.code


@pytest.mark.parametrize(
    "line", ["merge -s resolve topic", "merge -X ours -s octopus topic", "merge topic v1.0",
             "rebase -s resolve topic", "cherry-pick --strategy=resolve topic", "pull -s octopus --no-rebase"],
)  # fmt: skip
def test_a_merge_that_is_a_shell_script_is_refused_by_name_before_anybody_is_asked(line: str) -> None:
    with pytest.raises(Refused) as found:
        judge(split(line))

    assert found.value.code == "strategy_is_a_script"


def test_a_bisection_finds_the_commit_and_ends_on_the_branch_where_it_began(repo: Adopted) -> None:
    culprit = repo.plain("rev-parse", "HEAD~1")

    play(repo, ["bisect start HEAD~1 HEAD~3", "bisect good"])
    found = play(repo, ["bisect log"]).output
    ended = play(repo, ["bisect reset"])

    assert f"first bad commit: [{culprit}]" in found
    assert (ended.verified["branch"], "in_progress" in ended.verified) == ("main", False)


def test_without_a_bisection_in_progress_its_commands_say_so(repo: Adopted) -> None:
    assert code(repo, "bisect good") == "not_bisecting"
    assert code(repo, "bisect log") == "not_bisecting"


@pytest.mark.parametrize("command", ["merge", "rebase", "cherry-pick", "revert"])
@pytest.mark.parametrize("option", ["--abort", "--continue"])
def test_what_is_not_in_progress_is_not_called_unfinished(repo: Adopted, command: str, option: str) -> None:
    assert code(repo, f"{command} {option}") == "not_in_progress"


def test_a_bisection_is_refused_where_it_could_check_out_an_embedded_repository(repo: Adopted) -> None:
    first = repo.plain("rev-parse", "HEAD")
    repo.plain("update-index", "--add", "--cacheinfo", f"160000,{first},nested")
    repo.plain("commit", "-q", "-m", "Embed")
    repo.plain("rm", "-q", "--cached", "nested")
    repo.plain("commit", "-q", "-m", "Take it out again")
    for number in range(3):
        repo.plain("commit", "-q", "--allow-empty", "-m", f"Commit {number}")

    assert code(repo, f"bisect start HEAD {first}") == "embedded_repository"
    play(repo, ["bisect start HEAD HEAD~3", "bisect reset"])
