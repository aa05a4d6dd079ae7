"""Where the owner of the host allows submodules: what works, what is lost to nobody, and what still does not run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from command_scene import code
from repos import LOCAL_ACCESS, Adopted, commit_file, plain_git, process_runner, work_tree

from executor.errors import Refused
from executor.git.actions import run_operation
from executor.git.adoption import adopt, plan_adoption
from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.paths import RepositoryPaths
from executor.git.release import release
from executor.git.repository import Git, open_repository
from executor.git.rescue import preserve
from executor.git.run_command import run_command
from executor.git.undo import undo
from executor.outcome import Outcome, State
from executor.policy.model import AddParams, CommitParams, NoParams, Operation, Params, Request
from executor.sandbox.confinement import Confinement, Support
from executor.sandbox.process import ProcessRunner

pytestmark = [pytest.mark.needs("git"), pytest.mark.needs("landlock")]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with the submodule `lib`, whose git directory is where git puts it: in `.git/modules`."""
    library = work_tree(tmp_path / "library", commits=3)
    made = work_tree(tmp_path / "tree")
    for name, value in (("name", "Agent Smith"), ("email", "agent@example.org")):
        plain_git(made, "config", f"user.{name}", value)
    plain_git(made, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    plain_git(made, "commit", "-q", "-m", "Use a library")
    return made


def paths_of(tree: Path) -> RepositoryPaths:
    return RepositoryPaths("tree", tree.resolve(), tree.resolve().parent / "state" / "repos" / "tree")


@pytest.fixture
def repo(tree: Path) -> Adopted:
    runner = process_runner()
    adopt(plan_adoption(paths_of(tree), runner, submodules=True), runner)
    return Adopted(paths_of(tree), None)


def opened(repo: Adopted) -> Git:
    return repo.open(LOCAL_ACCESS, submodules=True)


def run(repo: Adopted, line: str) -> Outcome:
    return run_command(opened(repo), judge(split(line)))


def done(repo: Adopted, line: str) -> Outcome:
    outcome = run(repo, line)
    assert outcome.state is State.SUCCEEDED, outcome.error
    return outcome


def typed(repo: Adopted, operation: Operation, params: Params | None = None) -> Outcome:
    outcome = run_operation(opened(repo), Request(operation, params or NoParams()))
    assert outcome.state is State.SUCCEEDED, outcome.error
    return outcome


# --- adopting ------------------------------------------------------------------------------------------------


def test_a_repository_with_submodules_is_adopted_where_they_are_allowed_and_they_keep_their_commits(
    tree: Path,
) -> None:
    mine = commit_file(tree / "lib", "mine.txt", "not pushed anywhere\n")
    plan = plan_adoption(paths_of(tree), process_runner(), submodules=True)

    adopt(plan, process_runner())

    assert any("moves from .git/modules/lib to lib/.git" in line for line in plan.lines())
    assert (tree / "lib" / ".git").is_dir()
    assert plain_git(tree / "lib", "rev-parse", "HEAD") == mine
    assert plain_git(tree / "lib", "status", "--porcelain") == ""
    assert plain_git(tree, "status", "--porcelain").split() == ["M", "lib"]


def test_a_release_gives_the_repository_back_with_its_submodules(repo: Adopted) -> None:
    release(repo.paths, process_runner())

    assert (repo.tree / ".git").is_dir()
    assert plain_git(repo.tree, "status", "--porcelain") == ""
    assert plain_git(repo.tree / "lib", "log", "--format=%s", "-1") == "Commit 3"


def test_where_they_are_not_allowed_a_repository_with_submodules_is_refused_with_the_setting(tree: Path) -> None:
    with pytest.raises(Refused) as caught:
        plan_adoption(paths_of(tree), process_runner())

    assert caught.value.code == "submodules"
    assert "GATEWAY_ALLOW_SUBMODULES" in caught.value.hint


def test_a_git_directory_of_no_submodule_that_is_checked_out_is_not_taken_away(tree: Path) -> None:
    plain_git(tree, "rm", "-q", "--cached", "lib")

    with pytest.raises(Refused) as caught:
        plan_adoption(paths_of(tree), process_runner(), submodules=True)

    assert caught.value.code == "submodule_left"
    assert ".git/modules/lib" in caught.value.message


def test_what_a_crash_left_half_moved_is_not_taken_away_and_the_hint_mends_it(tree: Path) -> None:
    (tree / "lib" / ".git").unlink()

    with pytest.raises(Refused) as caught:
        plan_adoption(paths_of(tree), process_runner(), submodules=True)
    assert caught.value.code == "submodule_left"
    assert "git submodule update --init" in caught.value.hint
    plain_git(tree, "submodule", "--quiet", "update", "--init")
    adopt(plan_adoption(paths_of(tree), process_runner(), submodules=True), process_runner())

    assert plain_git(tree / "lib", "log", "--format=%s", "-1") == "Commit 3"


def test_a_submodule_of_a_submodule_is_named(tree: Path) -> None:
    plain_git(tree, "init", "-q", "--bare", ".git/modules/lib/modules/inner")

    with pytest.raises(Refused) as caught:
        plan_adoption(paths_of(tree), process_runner(), submodules=True)

    assert caught.value.code == "nested_submodules"


def test_a_gitfile_that_leads_out_of_the_repository_is_refused(tree: Path, tmp_path: Path) -> None:
    private = work_tree(tmp_path / "private")
    (tree / "lib" / ".git").write_text(f"gitdir: {private}/.git\n")

    with pytest.raises(Refused) as caught:
        plan_adoption(paths_of(tree), process_runner(), submodules=True)

    assert caught.value.code == "submodule_elsewhere"


def test_without_confinement_submodules_are_refused_whatever_else_is_allowed(repo: Adopted) -> None:
    unconfined = ProcessRunner(Confinement(Support(0, False, "the kernel has no Landlock"), unsafe=True))

    for attempt in (
        lambda: open_repository(repo.paths, unconfined, submodules=True),
        lambda: plan_adoption(repo.paths, unconfined, submodules=True),
    ):
        with pytest.raises(Refused) as caught:
            attempt()
        assert caught.value.code == "submodules_unconfined"
        assert "no Landlock" in caught.value.message


# --- working -------------------------------------------------------------------------------------------------


def test_everyday_work_goes_on_beside_a_submodule(repo: Adopted) -> None:
    repo.write("new.txt", "new\n")

    typed(repo, Operation.GIT_ADD, AddParams((".",)))
    typed(repo, Operation.GIT_COMMIT, CommitParams("Add a file"))
    for line in ("checkout -b topic", "commit --allow-empty -m Empty", "checkout main", "merge topic", "diff HEAD~1",
                 "reset --hard HEAD~1", "status"):  # fmt: skip
        done(repo, line)

    assert "160000" in repo.plain("ls-files", "--stage", "lib")
    assert (repo.tree / "lib" / "file.txt").read_text() == "3\n"


def test_c24_a_submodule_at_another_commit_is_told_apart_from_what_is_changed_and_can_be_recorded(
    repo: Adopted,
) -> None:
    assert "Submodules" not in typed(repo, Operation.GIT_STATUS).output
    moved = commit_file(repo.tree / "lib", "more.txt", "more\n")

    told = typed(repo, Operation.GIT_STATUS).output
    typed(repo, Operation.GIT_ADD, AddParams(("lib",)))
    typed(repo, Operation.GIT_COMMIT, CommitParams("Move the library"))

    assert "nothing to commit, working tree clean" in told
    assert told.endswith("Submodules at another commit than recorded (git add PATH records it):\n  lib\n")
    assert repo.plain("ls-tree", "HEAD", "lib").split()[2] == moved
    assert "Submodules" not in typed(repo, Operation.GIT_STATUS).output


@pytest.mark.parametrize(
    "line", ["checkout -f other", "reset --hard HEAD~1", "stash push", "checkout other", "rebase other",
             "commit -a -m All", "switch -c work"],
)  # fmt: skip
def test_c24_local_edits_inside_a_submodule_survive(repo: Adopted, line: str) -> None:
    repo.commit("on-main.txt", "x\n")
    repo.plain("branch", "other", "HEAD~2")  # where there was no submodule yet
    inside = repo.tree / "lib" / "file.txt"
    inside.write_text("local edit\n")
    preserve(opened(repo), "r1", worktree=True, embedded=True)

    run(repo, line)

    assert inside.read_text() == "local edit\n"
    undo(opened(repo), "r1")
    assert inside.read_text() == "local edit\n"


def test_a_submodule_is_never_replaced_by_something_else(repo: Adopted) -> None:
    repo.plain("checkout", "-q", "-b", "evil")
    repo.plain("rm", "-q", "--cached", "lib")
    blob = repo.plain("hash-object", "-w", "--stdin", stdin="theirs\n")
    repo.plain("update-index", "--add", "--cacheinfo", f"100644,{blob},lib/file.txt")
    repo.plain("commit", "-q", "-m", "A directory in its place")
    repo.plain("symbolic-ref", "HEAD", "refs/heads/main")
    repo.plain("reset", "-q")

    for line in ("checkout -f evil", "reset --hard evil", "merge evil", "cherry-pick evil", "cherry-pick main..evil"):
        assert code(run(repo, line)) == "submodule_in_the_way"
    assert (repo.tree / "lib" / "file.txt").read_text() == "3\n"


def test_removing_a_submodule_does_not_take_its_repository_along(repo: Adopted) -> None:
    assert code(run(repo, "rm -f lib")) == "submodule_in_the_way"
    done(repo, "rm --cached lib")

    assert (repo.tree / "lib" / ".git").is_dir()
    assert not (repo.paths.local / "modules").exists()


def test_a_repository_that_gitmodules_does_not_name_is_still_not_added(repo: Adopted) -> None:
    work_tree(repo.tree / "stray")

    outcome = run_operation(opened(repo), Request(Operation.GIT_ADD, AddParams((".",))))

    assert code(outcome) == "embedded_repository"
    assert "stray" not in repo.plain("ls-files")


def test_a_new_submodule_that_gitmodules_names_is_added(repo: Adopted) -> None:
    new = work_tree(repo.tree / "new")
    url = '[submodule "new"]\n\tpath = new\n\turl = https://example.com/new.git\n'
    repo.write(".gitmodules", (repo.tree / ".gitmodules").read_text() + url)

    typed(repo, Operation.GIT_ADD, AddParams((".",)))

    assert repo.plain("ls-files", "--stage", "new").split()[:2] == ["160000", plain_git(new, "rev-parse", "HEAD")]


# --- under attack --------------------------------------------------------------------------------------------


@pytest.fixture
def attacked(repo: Adopted) -> Adopted:
    """A submodule in which every setting that names a program names one that makes the canary sing."""
    canary = repo.tree.parent / "canary"
    script = repo.tree / "evil.sh"
    script.write_text(f"#!/bin/sh\necho sung >> {canary}\ncat\n")
    script.chmod(0o755)
    lib = repo.tree / "lib"
    for key in ("core.fsmonitor", "core.sshCommand", "filter.evil.clean", "filter.evil.smudge", "diff.external",
                "diff.evil.textconv", "core.pager", "gpg.program", "core.alternateRefsCommand"):  # fmt: skip
        plain_git(lib, "config", key, str(script))
    for hook in ("post-index-change", "post-checkout", "pre-commit", "reference-transaction"):
        (lib / ".git" / "hooks" / hook).write_text(script.read_text())
        (lib / ".git" / "hooks" / hook).chmod(0o755)
    (lib / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (lib / "file.txt").write_text("changed\n")
    os.utime(lib / "file.txt", (1, 1))
    canary.unlink(missing_ok=True)
    return repo


def sung(repo: Adopted) -> bool:
    return (repo.tree.parent / "canary").exists()


def test_the_attack_works_against_plain_git(attacked: Adopted) -> None:
    subprocess.run(["git", "status"], cwd=attacked.tree, check=False, capture_output=True)

    assert sung(attacked)


@pytest.mark.parametrize(
    "line",
    ["status", "status --ignore-submodules=all", "diff", "diff HEAD", "add .", "add -A", "add lib", "add -u",
     "commit -a -m All", "checkout -b topic", "checkout -f HEAD~1", "stash push", "stash push -u", "reset --hard",
     "describe --dirty --always", "diff-files -p", "diff-index -p HEAD", "grep -n changed", "rm --cached lib",
     "clean -fd", "merge HEAD~1", "rebase HEAD~1", "cherry-pick HEAD", "mv lib moved", "update-index --refresh",
     "ls-files -m", "switch --detach HEAD~1", "restore lib", "commit --allow-empty -m x lib"],
)  # fmt: skip
def test_no_program_that_a_submodule_names_is_started(attacked: Adopted, line: str) -> None:
    run(attacked, line)

    assert not sung(attacked)


def test_the_typed_operations_snapshot_and_undo_start_none_either(attacked: Adopted) -> None:
    git = opened(attacked)
    attacked.write("new.txt", "new\n")

    preserve(git, "r1", worktree=True, embedded=True)
    requests: tuple[tuple[Operation, Params], ...] = (
        (Operation.GIT_STATUS, NoParams()),
        (Operation.GIT_ADD, AddParams((".",))),
        (Operation.GIT_COMMIT, CommitParams("x")),
        (Operation.GIT_CHECK, NoParams()),
    )
    for operation, params in requests:
        run_operation(git, Request(operation, params))
    undo(git, "r1")

    assert not sung(attacked)


def test_adopting_starts_none_either(tree: Path) -> None:
    canary = tree.parent / "canary"
    plain_git(tree / "lib", "config", "core.fsmonitor", f"touch {canary}; false")
    plain_git(tree / "lib", "config", "filter.evil.clean", f"touch {canary}; cat")
    (tree / "lib" / ".gitattributes").write_text("* filter=evil\n")
    canary.unlink(missing_ok=True)

    adopt(plan_adoption(paths_of(tree), process_runner(), submodules=True), process_runner())

    assert not canary.exists()
