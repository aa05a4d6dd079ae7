"""Each wall stands without the others: even with hostile configuration in the local repository nothing runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from repos import LOCAL_ACCESS, Adopted, adopted_repository

from executor.git.actions import run_operation
from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.run_command import run_command
from executor.policy.model import AddParams, CommitParams, NoParams, Operation, Params, PushParams, Request

pytestmark = [pytest.mark.needs("git"), pytest.mark.needs("landlock")]
OPERATIONS: tuple[tuple[Operation, Params], ...] = (
    (Operation.GIT_STATUS, NoParams()),
    (Operation.GIT_ADD, AddParams((".",))),
    (Operation.GIT_COMMIT, CommitParams("A message")),
    (Operation.GIT_PUSH, PushParams("main")),
    (Operation.GIT_CHECK, NoParams()),
)
COMMANDS = ("diff", "log -p", "checkout -b other", "stash push", "fetch origin", "pull", "merge HEAD~1", "grep x")


@pytest.fixture
def repo(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path, commits=2)


def use(repo: Adopted) -> None:
    git = repo.open(LOCAL_ACCESS)
    for operation, params in OPERATIONS:
        repo.write("file.txt", f"changed for {operation}\n")
        run_operation(git, Request(operation, params))
    for line in COMMANDS:
        repo.write("file.txt", f"changed for {line}\n")
        run_command(git, judge(split(line)))


@pytest.mark.parametrize(
    "key",
    ["core.fsmonitor", "core.hooksPath", "core.sshCommand", "core.gitProxy", "core.pager", "core.editor",
     "core.alternateRefsCommand", "filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.x.textconv",
     "diff.x.command", "diff.external", "merge.x.driver", "gpg.program", "credential.helper", "alias.status",
     "remote.origin.uploadpack", "remote.origin.receivepack", "uploadpack.packObjectsHook"],
)  # fmt: skip
def test_c15_no_setting_of_the_local_repository_starts_a_program(repo: Adopted, key: str) -> None:
    canary = repo.tree.parent / "canary"
    script = repo.tree / "evil"
    script.write_text(f"#!/bin/sh\ntouch {canary}\n")
    script.chmod(0o755)
    repo.write(".gitattributes", "* filter=x diff=x merge=x\n")
    repo.paths.local.joinpath("config").write_text(
        repo.paths.local.joinpath("config").read_text()
        + f'[{_section(key)}]\n\t{key.rpartition(".")[2]} = "{script}"\n'
    )

    use(repo)

    assert not canary.exists()


def _section(key: str) -> str:
    section, _, name = key.rpartition(".")[0].partition(".")
    return f'{section} "{name}"' if name else section


def test_a_file_outside_the_work_tree_is_not_read_through_a_parent_that_became_a_link(
    repo: Adopted, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "key").write_text("secret\n")
    repo.commit("dir/key", "harmless\n")
    (repo.tree / "dir" / "key").unlink()
    (repo.tree / "dir").rmdir()
    (repo.tree / "dir").symlink_to(outside)

    run_operation(repo.open(LOCAL_ACCESS), Request(Operation.GIT_ADD, AddParams((".",))))

    objects = repo.plain("cat-file", "--batch-check", "--batch-all-objects").splitlines()
    contents = [repo.plain("cat-file", "blob", line.split()[0]) for line in objects if " blob " in line]
    assert "secret" not in contents


def test_nothing_that_git_was_told_to_use_lies_in_the_work_tree(repo: Adopted) -> None:
    use(repo)

    assert sorted(name for name in os.listdir(repo.tree) if name.startswith(".git")) == [".git"]
    assert os.listdir(repo.paths.home) == []
    assert repo.paths.empty_config.read_bytes() == b""
