"""What a push would do is found out from the objects, and nothing that an agent writes hides a part of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository, bare_remote, clone, commit_file, plain_git, take_over, work_tree

from executor.git.push_facts import COMMITS_SHOWN, FILES_SHOWN, PushFacts, PushKind, full_diff, lines, push_facts
from executor.git.transfer import fetch

MAIN = "refs/heads/main"


@pytest.fixture
def repository(tmp_path: Path) -> Adopted:
    return adopted_repository(tmp_path, commits=2)


def facts_of(repository: Adopted, ref: str = MAIN, *, old: str | None = "") -> PushFacts:
    """The facts of pushing the local ref of the same name, over what the remote has (or over `old`)."""
    there = repository.remote_ref(ref) if old == "" else old
    return push_facts(repository.open(), "origin", ref, repository.ref(ref), there)


def kinds(facts: PushFacts) -> set[str]:
    return {risk.kind for risk in facts.risks}


def test_a_push_that_only_adds_is_a_fast_forward_with_its_commits_and_files(repository: Adopted) -> None:
    first = repository.commit("src/app.py", "one\ntwo\n", "Add the app\n\nWith a body.")
    second = repository.commit("file.txt", "changed\n", "Change the file")
    facts = facts_of(repository)

    assert (facts.kind, facts.commits_total, facts.dropped_total) == (PushKind.FAST_FORWARD, 2, 0)
    assert [(commit.id, commit.subject) for commit in facts.commits] == [
        (second, "Change the file"),
        (first, "Add the app"),
    ]
    assert facts.commits[0].email == "person@example.org"
    assert [(file.path, file.status, file.added, file.deleted) for file in facts.files] == [
        ("file.txt", "M", 1, 1),
        ("src/app.py", "A", 2, 0),
    ]
    assert (facts.commits_total, facts.files_total, facts.added_total, facts.deleted_total) == (2, 2, 3, 1)
    assert (facts.dropped, facts.dropped_total) == ((), 0)


def test_what_is_there_already_is_nothing_to_push(repository: Adopted) -> None:
    facts = facts_of(repository)

    assert (facts.kind, facts.commits_total, facts.files_total, facts.base) == (PushKind.UP_TO_DATE, 0, 0, None)


def test_a_rewrite_names_the_commits_that_it_drops(repository: Adopted) -> None:
    dropped = repository.remote_ref(MAIN)
    repository.plain("reset", "--hard", "-q", "HEAD~1")
    repository.commit("other.txt", "x\n", "Instead")
    facts = facts_of(repository)

    assert (facts.kind, facts.commits_total, facts.dropped_total) == (PushKind.REWRITE, 1, 1)
    assert [commit.id for commit in facts.dropped] == [dropped]
    assert [commit.subject for commit in facts.commits] == ["Instead"]
    assert "shared-branch" in kinds(facts)


def test_a_remote_that_has_what_is_not_here_cannot_be_told_what_is_dropped(
    repository: Adopted, tmp_path: Path
) -> None:
    assert repository.remote is not None
    colleague = clone(repository.remote, tmp_path / "colleague")
    theirs = commit_file(colleague, "theirs.txt", "x\n")
    plain_git(colleague, "push", "-q", "origin", "main")
    repository.commit("ours.txt", "x\n", "Ours")
    facts = facts_of(repository)

    assert (facts.kind, facts.old) == (PushKind.REWRITE, theirs)
    assert facts.dropped_total is None
    assert [commit.subject for commit in facts.commits] == ["Ours"]
    assert any("cannot be listed" in line for line in lines(facts))

    fetch(repository.open(), "origin")
    assert [commit.id for commit in facts_of(repository).dropped] == [theirs]


def test_c23_where_history_is_cut_the_facts_say_so(tmp_path: Path) -> None:
    bare = bare_remote(tmp_path / "remotes" / "project.git")
    origin = work_tree(tmp_path / "origin", commits=5)
    plain_git(origin, "push", "-q", str(bare), "main")
    tree = clone(f"file://{bare}", tmp_path / "tree", "--depth", "1")
    repository = Adopted(take_over(tmp_path / "state" / "repos" / "project", tree, str(bare)), bare)
    base = repository.ref(MAIN)
    repository.commit("new.txt", "x\n", "New")
    forward = facts_of(repository)

    assert forward.kind is PushKind.FAST_FORWARD
    assert [commit.subject for commit in forward.commits] == ["New"]
    assert any("shallow" in note for note in forward.notes)

    commit_file(origin, "later.txt", "x\n")
    plain_git(origin, "push", "-q", str(bare), "main")
    unknown = facts_of(repository)
    assert unknown.kind is PushKind.UNKNOWN
    assert unknown.old != base
    assert unknown.dropped_total is None


def test_a_new_branch_is_compared_with_where_it_left_the_default_branch(repository: Adopted) -> None:
    left = repository.ref(MAIN)
    repository.plain("switch", "-q", "-c", "topic/one")
    repository.commit("topic.txt", "x\n", "On the topic")
    repository.plain("switch", "-q", "main")
    repository.commit("main.txt", "x\n", "On main")
    repository.plain("push", "-q", "origin", "main")
    facts = facts_of(repository, "refs/heads/topic/one")

    assert (facts.kind, facts.base) == (PushKind.NEW_BRANCH, left)
    assert [file.path for file in facts.files] == ["topic.txt"]
    assert [commit.subject for commit in facts.commits] == ["On the topic"]


def test_a_planted_tracking_branch_takes_no_commit_off_the_card_of_a_new_branch(repository: Adopted) -> None:
    repository.plain("switch", "-q", "-c", "topic/one")
    commit = repository.commit("topic.txt", "x\n", "On the topic")
    repository.plain("symbolic-ref", "refs/remotes/origin/zz", "refs/heads/topic/one")
    repository.plain("update-ref", "refs/remotes/origin/main", commit)
    facts = facts_of(repository, "refs/heads/topic/one")

    assert [one.subject for one in facts.commits] == ["On the topic"]
    assert [file.path for file in facts.files] == ["topic.txt"]


def test_the_first_push_to_an_empty_remote_publishes_everything(tmp_path: Path) -> None:
    facts = facts_of(adopted_repository(tmp_path, commits=3, pushed=False))

    assert (facts.kind, facts.commits_total) == (PushKind.NEW_BRANCH, 3)
    assert [(file.path, file.status) for file in facts.files] == [("file.txt", "A")]


def test_a_branch_that_the_remote_lost_is_published_anew_although_a_tracking_ref_remembers_it(
    repository: Adopted,
) -> None:
    repository.plain("switch", "-q", "-c", "topic")
    repository.commit("topic.txt", "x\n", "On the topic")
    repository.plain("push", "-q", "origin", "topic")
    assert repository.remote is not None
    plain_git(repository.remote, "update-ref", "-d", "refs/heads/topic")
    facts = facts_of(repository, "refs/heads/topic")

    assert (facts.kind, facts.commits_total) == (PushKind.NEW_BRANCH, 1)
    assert [file.path for file in facts.files] == ["topic.txt"]


def test_a_deletion_names_the_commits_that_no_other_branch_of_the_remote_has(repository: Adopted) -> None:
    repository.plain("switch", "-q", "-c", "topic")
    only_there = repository.commit("topic.txt", "x\n", "Only there")
    repository.plain("push", "-q", "origin", "topic")
    facts = push_facts(repository.open(), "origin", "refs/heads/topic", None, only_there)

    assert (facts.kind, facts.new, facts.files_total) == (PushKind.DELETION, None, 0)
    assert [commit.id for commit in facts.dropped] == [only_there]
    assert "shared-branch" not in kinds(facts)


def test_tags_are_told_as_tags_and_moving_one_is_a_danger(repository: Adopted) -> None:
    repository.plain("tag", "-a", "-m", "One", "v1")
    repository.plain("push", "-q", "origin", "v1")
    old = repository.remote_ref("refs/tags/v1")
    repository.commit("more.txt", "x\n", "More")
    repository.plain("tag", "-f", "-a", "-m", "Moved", "v1")
    new_tag = facts_of(repository, "refs/tags/v1", old=None)
    moved = facts_of(repository, "refs/tags/v1", old=old)

    assert (new_tag.kind, new_tag.commits_total, kinds(new_tag) & {"moved-tag"}) == (PushKind.TAG, 1, set())
    assert (moved.kind, moved.old) == (PushKind.TAG, old)
    assert "moved-tag" in kinds(moved)


def test_what_a_tag_says_is_shown_and_looked_at_for_secrets(repository: Adopted) -> None:
    repository.plain("tag", "-a", "-m", f"Version one\n\nkey {'AKIA' + 'Q7Z3HT5K9WPLMNO2'}", "inner")
    repository.plain("tag", "-a", "-m", "Outside", "outer", "inner")
    facts = facts_of(repository, "refs/tags/outer", old=None)

    assert facts.notes == ("The tag outer says: Outside", "The tag inner says: Version one (and 2 more lines)")
    assert [one.words() for one in facts.secrets] == ["an AWS key in the message of the tag (line 3)"]
    assert any("Version one" in line for line in lines(facts))


def test_more_tags_of_tags_than_are_looked_into_are_said(repository: Adopted) -> None:
    repository.plain("tag", "-a", "-m", "0", "t0")
    for number in range(1, 7):
        repository.plain("tag", "-a", "-m", str(number), f"t{number}", f"t{number - 1}")

    facts = facts_of(repository, "refs/tags/t6", old=None)
    assert [one.kind for one in facts.secrets] == ["not scanned in full"]


def test_c11_a_tag_named_like_the_branch_is_not_taken_for_it(repository: Adopted) -> None:
    repository.plain("tag", "main", "HEAD~1")
    repository.commit("new.txt", "x\n", "New")
    facts = facts_of(repository)

    assert [commit.subject for commit in facts.commits] == ["New"]
    assert facts.new == repository.ref(MAIN)


def test_what_makes_a_change_risky_is_told(repository: Adopted) -> None:
    repository.write(".github/workflows/ci.yml", "on: push\n")
    repository.write(".env", "APP_NAME=x\n")
    repository.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    repository.write("blob.bin", b"\0" * 2_000_000)
    (repository.tree / "passwd").symlink_to("/etc/passwd")
    repository.plain("add", "-A")
    repository.plain("rm", "-q", "--cached", "file.txt")
    repository.plain("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendored")
    repository.plain("commit", "-q", "-m", "All at once [skip ci]")
    facts = facts_of(repository)
    told = {risk.kind: risk.paths for risk in facts.risks}

    assert told == {
        "ci": (".github/workflows/ci.yml",),
        "environment": (".env",),
        "links-outside": ("passwd -> /etc/passwd",),
        "submodules": ("vendored",),
        "executable": ("run.sh",),
        "large": ("blob.bin",),
        "binary": ("blob.bin",),
        "deletions": ("file.txt",),
        "strangers": ("person@example.org",),
        "ci-words": (facts.commits[0].id[:10],),
    }


def test_a_rename_is_one_change_with_both_names(repository: Adopted) -> None:
    repository.plain("mv", "file.txt", "with spáce\nand line.txt")
    repository.plain("commit", "-q", "-m", "Rename")

    assert [(f.status, f.old_path, f.path) for f in facts_of(repository).files] == [
        ("R", "file.txt", "with spáce\nand line.txt")
    ]


def test_c08_names_that_are_no_text_come_through(repository: Adopted) -> None:
    name = b"caf\xe9.txt".decode("utf-8", "surrogateescape")
    repository.commit(name, "x\n")
    facts = facts_of(repository)

    assert [file.path for file in facts.files] == [name]
    assert PushFacts.from_data(json.loads(json.dumps(facts.to_data()))) == facts


@pytest.mark.parametrize("where", ["work tree", "index", "commit"])
def test_attributes_of_the_agent_hide_no_line_from_the_diff(repository: Adopted, where: str) -> None:
    if where == "commit":
        repository.commit(".gitattributes", "*.py -diff\n")
    repository.commit("app.py", "visible = 1\n")
    if where != "commit":
        repository.write(".gitattributes", "*.py -diff\n")
    if where == "index":
        repository.plain("add", ".gitattributes")
    facts = facts_of(repository)
    patch, cut = full_diff(repository.open(), facts, 100_000)

    assert ("app.py", 1) in [(file.path, file.added) for file in facts.files]
    assert b"+visible = 1\n" in patch
    assert not cut


def test_settings_of_the_repository_do_not_change_the_diff(repository: Adopted, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    repository.commit("app.py", "x = 1\n")
    for key, value in {
        "diff.external": f"touch {marker}",
        "diff.noprefix": "true",
        "diff.ignoreSubmodules": "all",
        "color.diff": "always",
        "diff.context": "0",
    }.items():
        repository.plain("config", key, value)
    patch, _ = full_diff(repository.open(), facts_of(repository), 100_000)

    assert b"+++ b/app.py\n" in patch
    assert not marker.exists()


def test_a_long_diff_is_cut_by_whole_lines_and_that_is_said(repository: Adopted) -> None:
    repository.commit("big.txt", "a line of text\n" * 1000)
    patch, cut = full_diff(repository.open(), facts_of(repository), 5_000)

    assert cut
    assert len(patch) <= 5_000
    assert patch.endswith(b"\n")


def test_long_lists_are_cut_and_their_totals_are_not(repository: Adopted) -> None:
    for number in range(FILES_SHOWN + 20):
        repository.write(f"many/{number}.txt", "x\n")
    repository.plain("add", "-A")
    repository.plain("commit", "-q", "-m", "Many files")
    tip, tree = repository.plain("rev-parse", "HEAD"), repository.plain("rev-parse", "HEAD^{tree}")
    for number in range(COMMITS_SHOWN + 10):
        tip = repository.plain("commit-tree", tree, "-p", tip, "-m", f"Empty {number}")
    repository.plain("update-ref", MAIN, tip)
    facts = facts_of(repository)

    assert (len(facts.files), facts.files_total) == (FILES_SHOWN, FILES_SHOWN + 20)
    assert (len(facts.commits), facts.commits_total) == (COMMITS_SHOWN, COMMITS_SHOWN + 11)


def test_the_address_is_shown_without_its_password(repository: Adopted) -> None:
    plain_git(repository.paths.transfer, "config", "remote.origin.url", "https://bot:hunter2@example.org/x.git")

    facts = push_facts(repository.open(), "origin", MAIN, repository.ref(MAIN), None, listing={})

    assert facts.url == "https://***@example.org/x.git"


def test_secrets_in_the_commits_are_told_with_their_place(repository: Adopted) -> None:
    repository.commit("config.yml", "name: x\npassword: hunter2hunter2\n")
    repository.commit("config.yml", "name: x\n", "Take it away again")

    assert [(found.path, found.line) for found in facts_of(repository).secrets] == [("config.yml", 2)]
