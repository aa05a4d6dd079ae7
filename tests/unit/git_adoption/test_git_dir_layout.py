"""Which files of a git directory are carried over, and what may be in them."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.git.git_dir_layout import (
    Treatment,
    clean_packed_refs,
    clean_ref,
    clean_reflog,
    clean_shallow,
    is_ref_name,
    operation_in_progress,
    treatment,
)

OID = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("HEAD", Treatment.HEAD),
        ("packed-refs", Treatment.PACKED_REFS),
        ("index", Treatment.INDEX),
        ("shallow", Treatment.SHALLOW),
        ("refs/heads/feature/x", Treatment.REF),
        ("refs/stash", Treatment.REF),
        ("refs/remotes/origin/main", Treatment.REF),
        ("refs/notes/commits", Treatment.REF),
        ("logs/HEAD", Treatment.REFLOG),
        ("logs/refs/stash", Treatment.REFLOG),
        (f"objects/01/{OID[2:]}", Treatment.OBJECT),
        (f"objects/pack/pack-{OID}.pack", Treatment.PACK),
        (f"objects/pack/pack-{OID}.idx", Treatment.DERIVED),
        ("objects/info/commit-graph", Treatment.DERIVED),
        ("hooks/pre-commit.sample", Treatment.DERIVED),
        ("info/exclude", Treatment.TEXT),
        ("config", Treatment.CONFIG),
    ],
)
def test_what_a_repository_is_made_of_is_carried(path: str, expected: Treatment) -> None:
    assert treatment(path) == (expected, "")


@pytest.mark.parametrize(
    "path",
    [
        "hooks/pre-commit", "hooks/evil.SAMPLE", "commondir", "objects/info/alternates",
        "objects/info/http-alternates", "info/grafts", "info/attributes", "refs/replace/" + OID, "modules/x/config",
        "worktrees/x/HEAD", "gitdir", "objects/01/short", "objects/pack/evil.pack", "objects/pack/pack-zz.pack",
        "refs/heads/main.lock", "refs/heads/a b", "refs/heads/.hidden", "refs/heads/-x", "logs/other",
        "config.lock", "lfs/objects/x", "anything", "refs/heads/\u202ex", "refs/rescue/7/record",
        "refs/rescue", "refs/stash/x", "refs/bisect/bad", "refs/gateway/x", "logs/refs/rescue/7/record",
        "logs/refs/replace/x", "objects/01/" + OID[2:] + "/x",
    ],
)  # fmt: skip
def test_everything_else_is_dropped_with_a_reason(path: str) -> None:
    what, why = treatment(path)

    assert what is Treatment.DROP
    assert why


@given(st.text(st.characters(min_codepoint=1, max_codepoint=0x250), max_size=12))
def test_no_ref_name_is_accepted_that_git_does_not_accept(tail: str) -> None:
    name = f"refs/heads/{tail}"
    if is_ref_name(name):
        assert subprocess.run(["git", "check-ref-format", name], check=False).returncode == 0


@pytest.mark.parametrize("name", ["main", "feature/x", "v1.0", "äöü", "a@b", "user/fix#12", "a-b_c+d"])
def test_ordinary_branch_names_are_accepted(name: str) -> None:
    assert is_ref_name(f"refs/heads/{name}")


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        (f"{OID}\n", "refs/heads/x", f"{OID}\n"),
        ("ref: refs/heads/main\n", "HEAD", "ref: refs/heads/main\n"),
        ("ref: refs/remotes/origin/main\n", "refs/remotes/origin/HEAD", "ref: refs/remotes/origin/main\n"),
        ("ref: refs/remotes/origin/main\n", "HEAD", None),
        ("ref: ../../etc/passwd\n", "refs/remotes/origin/HEAD", None),
        ("ref: HEAD\n", "refs/remotes/origin/HEAD", None),
        ("CANARY\n", "refs/heads/x", None),
        (f"{OID}\nmore", "refs/heads/x", None),
        ("\xff\xfe", "refs/heads/x", None),
        ("", "HEAD", None),
    ],
)
def test_a_ref_is_an_object_id_or_a_head_on_a_branch(content: str, name: str, expected: str | None) -> None:
    assert clean_ref(content.encode("latin-1"), name) == (None if expected is None else expected.encode())


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("refs/remotes/origin/zz", "refs/heads/main"),
        ("refs/remotes/origin/HEAD", "refs/heads/main"),
        ("refs/remotes/origin/HEAD", "refs/remotes/other/main"),
        ("refs/remotes/origin/HEAD", "refs/remotes/origin/HEAD"),
        ("refs/remotes/origin/deep/HEAD", "refs/remotes/origin/main"),
        ("refs/heads/alias", "refs/heads/main"),
        ("refs/tags/alias", "refs/heads/main"),
        ("refs/stash", "refs/heads/main"),
        ("ORIG_HEAD", "refs/heads/main"),
    ],
)
def test_an_alias_that_would_follow_later_commits_is_not_carried(name: str, target: str) -> None:
    assert clean_ref(f"ref: {target}\n".encode(), name) is None


def test_packed_refs_lose_their_claims_and_their_malformed_lines() -> None:
    content = (
        f"# pack-refs with: peeled fully-peeled sorted \n{OID} refs/tags/v1\n^{OID}\n"
        f"{OID} refs/rescue/r2/record\nCANARY-SECRET\n{OID} ../x\n"
    )

    assert clean_packed_refs(content.encode()) == (f"{OID} refs/tags/v1\n".encode(), 2, ("refs/rescue/r2/record",))


def test_a_reflog_keeps_its_entries_and_nothing_else() -> None:
    line = f"{OID} {OID} Ana <ana@example.org> 1700000000 +0100\tcommit: täst\n".encode()
    creation = f"{OID} {OID} Ana <ana@example.org> 1700000000 -0330\n".encode()

    assert clean_reflog(line + b"CANARY-SECRET\n" + creation) == (line + creation, 1)


def test_a_shallow_file_with_anything_but_ids_is_not_carried() -> None:
    assert clean_shallow(f"{OID}\n".encode()) == f"{OID}\n".encode()
    assert clean_shallow(f"{OID}\nCANARY-SECRET\n".encode()) is None


@pytest.mark.parametrize(
    ("name", "what"),
    [("rebase-merge", "rebase"), ("MERGE_HEAD", "merge"), ("BISECT_LOG", "bisect"), ("REVERT_HEAD", "revert")],
)
def test_an_unfinished_operation_is_seen(name: str, what: str) -> None:
    found = operation_in_progress({"HEAD", name})

    assert found is not None
    assert found[0] == what


def test_c13_a_rebase_head_that_was_left_behind_is_no_operation() -> None:
    assert operation_in_progress({"HEAD", "REBASE_HEAD", "ORIG_HEAD"}) is None
