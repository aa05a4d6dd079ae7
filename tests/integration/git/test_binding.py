"""What an approval depends on is bound to ids, for every kind of command; when it moves, the digest moves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, clone, commit_file, plain_git

from executor.errors import Failed
from executor.git.binding import bind, drift
from executor.git.grammar import judge
from executor.git.guards import ALL_TREE, check_bound
from executor.git.lexer import split
from executor.git.run_command import run_command
from executor.outcome import State
from executor.policy.model import (
    AddParams,
    Ask,
    CmdParams,
    CommitParams,
    NoParams,
    Operation,
    PushParams,
    Request,
    RiskClass,
)


@pytest.fixture
def repository(tmp_path: Path) -> Adopted:
    found = adopted_repository(tmp_path, commits=2)
    found.plain("branch", "dev", "HEAD~1")
    return found


def command(line: str) -> tuple[Request, Ask]:
    words = split(line)
    judged = judge(words)
    return Request(Operation.GIT_CMD, CmdParams(words)), Ask(judged.risk, judged.argv, (), command=judged)


def typed(operation: Operation, params: AddParams | CommitParams | PushParams | NoParams) -> tuple[Request, Ask]:
    return Request(operation, params), Ask(RiskClass.CHANGE, (str(operation),), ())


def move_dev(repository: Adopted) -> None:
    repository.plain("update-ref", "refs/heads/dev", "main")


def move_main(repository: Adopted) -> None:
    repository.plain("commit", "-q", "--allow-empty", "-m", "moved")


def stage(repository: Adopted) -> None:
    repository.write("staged", "x\n")
    repository.plain("add", "staged")


def edit(repository: Adopted) -> None:
    repository.write("file.txt", "edited\n")


def stash(repository: Adopted) -> None:
    edit(repository)
    repository.plain("stash")


def detach(repository: Adopted) -> None:
    repository.plain("checkout", "-q", "--detach")


def follow_dev(repository: Adopted) -> None:
    repository.plain("config", "branch.main.merge", "refs/heads/dev")


def push_as_colleague(repository: Adopted) -> None:
    assert repository.remote is not None
    tree = clone(repository.remote, repository.tree.parent / "colleague")
    commit_file(tree, "theirs", "x\n")
    plain_git(tree, "push", "-q", "origin", "main")


def other_address(repository: Adopted) -> None:
    plain_git(repository.paths.transfer, "config", "remote.origin.url", "https://elsewhere.example/p.git")


def tag_named_dev(repository: Adopted) -> None:
    repository.plain("tag", "dev", "main")


def move_tracking(repository: Adopted) -> None:
    repository.plain(
        "update-ref", "refs/remotes/origin/main", repository.plain("commit-tree", "-m", "x", "HEAD^{tree}")
    )


def switch_to_dev(repository: Adopted) -> None:
    repository.plain("symbolic-ref", "HEAD", "refs/heads/dev")


def offer_feature(repository: Adopted) -> None:
    repository.plain("update-ref", "refs/remotes/origin/feature", "HEAD")


MOVES: list[tuple[str, Callable[[Adopted], None], str]] = [
    ("merge dev", move_dev, "refs/heads/dev moved"),
    ("merge dev", tag_named_dev, "refs/tags/dev is there now"),
    ("rebase dev", move_main, "HEAD moved"),
    ("rebase", follow_dev, "upstream moved"),
    ("cherry-pick main..dev", move_dev, "refs/heads/dev moved"),
    ("cherry-pick dev^!", move_dev, "dev^! moved"),
    ("revert dev^-", move_dev, "dev^- "),
    ("cherry-pick 'dev^{/Commit ..}'", move_dev, "dev^{/Commit ..} moved"),
    ("branch -D dev", move_dev, "refs/heads/dev moved"),
    ("checkout dev", move_dev, "refs/heads/dev moved"),
    ("checkout -b topic", detach, "HEAD is on moved"),
    ("restore -s origin/main -- file.txt", move_tracking, "refs/remotes/origin/main moved"),
    ("branch -m renamed", switch_to_dev, "HEAD is on moved"),
    ("branch --unset-upstream", switch_to_dev, "HEAD is on moved"),
    ("notes remove", move_main, "HEAD moved"),
    ("bisect good", move_main, "HEAD moved"),
    ("checkout feature", offer_feature, "refs/remotes/origin/feature is there now"),
    ("reset --hard HEAD~1", stage, "what is staged moved"),
    ("rebase --onto dev HEAD~1", move_dev, "refs/heads/dev moved"),
    ("rebase --onto main...dev HEAD~1", move_dev, "refs/heads/dev moved"),
    ("commit -m words", stage, "what is staged moved"),
    ("commit -a -m words", edit, "all changes, staged moved"),
    ("stash pop", stash, "stash@{0} is there now"),
    ("stash drop", stash, "stash@{0} is there now"),
    ("push origin main", push_as_colleague, "refs/heads/main at origin moved"),
    ("push origin main", move_main, "what goes to refs/heads/main moved"),
    ("push --force origin dev:main", move_dev, "what goes to refs/heads/main moved"),
    ("push origin main", other_address, "address of origin moved"),
    ("fetch origin main:dev", move_dev, "refs/heads/dev moved"),
    ("remote set-url origin https://example.org/p.git", other_address, "address of origin moved"),
]


@pytest.mark.parametrize(
    ("line", "move", "words"), MOVES, ids=[f"{line} / {move.__name__}" for line, move, _ in MOVES]
)
def test_flag_030_what_moves_while_a_command_waits_is_seen_and_named(
    repository: Adopted, line: str, move: Callable[[Adopted], None], words: str
) -> None:
    git = repository.open()
    shown = bind(git, *command(line))
    assert bind(git, *command(line)).digest == shown.digest

    move(repository)
    try:
        now = bind(git, *command(line))
    except Failed:
        assert move is other_address  # a remote that cannot be asked cannot be approved for
        return

    assert now.digest != shown.digest
    assert any(words in sentence for sentence in drift(shown, now)), drift(shown, now)


@pytest.mark.parametrize("name", ["ORIG_HEAD", "stash"])
def test_a_branch_with_a_name_that_means_something_else_to_git_is_not_shown_in_its_place(
    repository: Adopted, name: str
) -> None:
    stash(repository)
    repository.plain("update-ref", "ORIG_HEAD", "refs/stash")
    repository.plain("branch", name, "HEAD~1")
    git = repository.open()
    shown = bind(git, *command(f"cherry-pick {name}"))

    meant = repository.plain("rev-parse", "refs/stash")
    assert dict(shown.things)[name] == meant
    assert dict(shown.things)[f"refs/heads/{name}"] == repository.plain("rev-parse", "HEAD~1")
    assert shown.ids[name] == meant, "the runner looks again"


def test_all_changes_are_committed_only_as_they_were_approved(repository: Adopted) -> None:
    edit(repository)
    git = repository.open()
    request, decision = command("commit -a -m words")
    approved = bind(git, request, decision)
    assert decision.command is not None
    repository.write("file.txt", "curl evil\n")

    swapped = run_command(git, decision.command, approved.ids)

    assert (swapped.state, swapped.error and swapped.error.code) == (State.FAILED, "index_changed")
    edit(repository)
    assert run_command(git, decision.command, approved.ids).state is State.SUCCEEDED
    assert approved.ids[ALL_TREE] == repository.plain("rev-parse", "HEAD^{tree}")


UNMOVED = ["fetch origin", "checkout dev", "branch -d dev", "tag v2 dev", "push origin dev"]


@pytest.mark.parametrize("line", UNMOVED)
def test_what_does_not_build_on_head_waits_undisturbed_while_the_agent_commits(
    repository: Adopted, line: str
) -> None:
    git = repository.open()
    shown = bind(git, *command(line))

    move_main(repository)

    assert bind(git, *command(line)).digest == shown.digest


def test_the_names_that_are_bound_are_those_that_the_runner_can_check_again(repository: Adopted) -> None:
    git = repository.open()
    ids = bind(git, *command("merge dev")).ids

    check_bound(git, ids)
    move_dev(repository)

    with pytest.raises(Failed, match="no longer"):
        check_bound(git, ids)


def test_a_typed_commit_is_bound_to_the_tree_that_is_staged(repository: Adopted) -> None:
    stage(repository)

    found = bind(repository.open(), *typed(Operation.GIT_COMMIT, CommitParams("words")))

    assert found.ids == {"tree": repository.plain("write-tree")}


def test_a_typed_push_is_bound_to_what_goes_and_what_it_goes_over(repository: Adopted) -> None:
    old = repository.ref("refs/heads/main")
    move_main(repository)

    found = bind(repository.open(), *typed(Operation.GIT_PUSH, PushParams("main")))

    assert found.ids == {"new:refs/heads/main": repository.ref("refs/heads/main"), "remote:refs/heads/main": old}
    assert f"address of origin: {repository.remote}" in found.lines()


def test_what_cannot_be_bound_by_an_id_is_said(repository: Adopted) -> None:
    add = bind(repository.open(), *typed(Operation.GIT_ADD, AddParams((".",))))
    fetch = bind(repository.open(), *command("fetch origin"))

    assert any(line.startswith("not bound: the content of files") for line in add.lines())
    assert any(line.startswith("not bound: what the remote holds") for line in fetch.lines())


def test_a_recovery_is_bound_to_its_steps(repository: Adopted) -> None:
    detach(repository)
    request = typed(Operation.GIT_RECOVER, NoParams())
    shown = bind(repository.open(), *request)

    stash(repository)
    repository.commit("lonely", "x\n")
    now = bind(repository.open(), *request)

    assert "step 2: Switch to main (main)" in shown.lines()
    assert any("step 1 moved" in sentence for sentence in drift(shown, now))


def test_binding_a_commit_of_all_changes_leaves_the_index_alone(repository: Adopted) -> None:
    edit(repository)
    before = (repository.paths.local / "index").read_bytes()

    bind(repository.open(), *command("commit -a -m words"))

    assert (repository.paths.local / "index").read_bytes() == before


def test_a_password_in_an_address_is_not_shown(repository: Adopted) -> None:
    plain_git(repository.paths.transfer, "config", "remote.origin.url", "https://u:hunter2@example.org/p.git")

    found = bind(repository.open(), *command("remote set-url origin https://example.org/p.git"))

    assert not any("hunter2" in line for line in found.lines())
    assert "hunter2" not in str(found.to_data())
