"""A rescue record says nothing that undo could be led out of the repository by."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.git.rescue_record import Rescue, from_json, is_kept_ref, is_note, to_json

OID = "0123456789abcdef0123456789abcdef01234567"
RECORD = Rescue(
    "r1", 3, 1_700_000_000, "refs/heads/main", OID, {"refs/heads/main": OID, "refs/stash": OID},
    config=(("branch.main.remote", "origin"),), index=OID, index_time=1, staged="0" * 64, tags=OID, tree=OID,
    notes={"MERGE_HEAD": OID, "rebase-merge/rewritten/x": "", "logs/refs/stash": "\xff"}, left_out=("a (why)",),
)  # fmt: skip


def changed(part: str, value: object) -> bytes:
    return json.dumps({**json.loads(to_json(RECORD)), part: value}).encode()


def test_a_record_is_read_as_it_was_written() -> None:
    assert from_json(to_json(RECORD)) == RECORD


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("notes", {"../../../../home/.ssh/authorized_keys": "x"}),
        ("notes", {"/etc/cron.d/x": "x"}),
        ("notes", {"rebase-merge/../../hooks/post-commit": "x"}),
        ("notes", {"rebase-merge": "x"}),
        ("notes", {"hooks/post-commit": "x"}),
        ("notes", {"config": "x"}),
        ("notes", {"MERGE_MSG": 1}),
        ("notes", {"MERGE_MSG": "\u0100"}),
        ("notes", {"MERGE_MSG": "x" * (8 * 1024 * 1024 + 1)}),
        ("notes", None),
        ("refs", {"refs/rescue/r1/record": OID}),
        ("refs", {"refs/heads/../../config": OID}),
        ("refs", {"refs/heads/main": "--stdin"}),
        ("refs", {"HEAD": OID}),
        ("refs", []),
        ("head", "--help"),
        ("head", "refs/heads/a\nb"),
        ("commit", "main"),
        ("tree", "-p"),
        ("index", "HEAD:file"),
        ("config", [["core.sshCommand", "x"]]),
        ("config", [["branch.x\n[core]\nfsmonitor", "x"]]),
        ("config", [["branch.main.remote"]]),
        ("sequence", True),
        ("sequence", -1),
        ("at", 10**30),
        ("index_time", "0"),
        ("staged", "x"),
        ("left_out", "abc"),
        ("embedded", [1]),
        ("format", 2),
        ("more", 1),
    ],
)
def test_a_record_with_anything_else_in_it_is_not_read(part: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(changed(part, value))


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"[" * 100_000, b"\xff", b"{}"])
def test_what_is_no_record_is_not_read(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(data)


@given(st.lists(st.sampled_from(["..", ".", "", "rebase-merge", "x", "refs", "heads", "stash", "\0", "hooks"])))
def test_no_name_that_is_accepted_leads_anywhere_else(parts: list[str]) -> None:
    name = "/".join(parts)
    if is_note(name):
        assert parts[0] == "rebase-merge"
    if is_kept_ref(name):
        assert parts[0] == "refs"
    if is_note(name) or is_kept_ref(name):
        assert not {"..", ".", "", "\0"}.intersection(parts)
