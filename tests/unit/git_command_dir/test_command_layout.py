"""What a command on the work tree may change in its git directory, by names and content alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.git.command_layout import Contents, branch_of, changed_branches, intrusions, is_carried, is_expected

ONE, TWO = "1" * 40, "2" * 40
CONFIG = b'[core]\n\tbare = false\n[remote "origin"]\n\turl = https://none.invalid/\n'
BEFORE = Contents("ref: refs/heads/main", CONFIG, {"refs/heads/main": ONE, "refs/heads/other": ONE}, {})
LINE = f"{ONE} {TWO} A U Thor <a@example.org> 1700000000 +0000\tcheckout: moving\n".encode()


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (replace(BEFORE, refs={**BEFORE.refs, "refs/heads/main": TWO}), ["reset", "--hard", "HEAD~1"]),
        (replace(BEFORE, refs={**BEFORE.refs, "refs/heads/other": TWO}), ["rebase", "main", "other"]),
        (replace(BEFORE, refs={**BEFORE.refs, "refs/stash": TWO}), ["stash", "push"]),
        (replace(BEFORE, head=ONE), ["checkout", "--detach"]),
        (replace(BEFORE, files={"logs/HEAD": LINE, "MERGE_MSG": b"x"}), ["merge", "other"]),
        (replace(BEFORE, config=CONFIG + b'[branch "main"]\n\tremote = origin\n'), ["checkout", "-B", "main"]),
    ],
)
def test_what_commands_do_is_no_intrusion(after: Contents, words: list[str]) -> None:
    assert intrusions(BEFORE, after, words) == ()


@pytest.mark.parametrize(
    ("after", "name"),
    [
        (replace(BEFORE, refs={**BEFORE.refs, "refs/heads/other": TWO}), "refs/heads/other"),
        (replace(BEFORE, refs={"refs/heads/main": ONE}), "refs/heads/other"),
        (replace(BEFORE, refs={**BEFORE.refs, "refs/heads/main": "ref: refs/heads/other"}), "refs/heads/main"),
        (replace(BEFORE, refs={**BEFORE.refs, "refs/remotes/origin/main": TWO}), "refs/remotes/origin/main"),
        (replace(BEFORE, head="ref: refs/remotes/origin/main"), "HEAD"),
        (replace(BEFORE, files={"logs/refs/heads/other": LINE}), "logs/refs/heads/other"),
        (replace(BEFORE, files={"logs/HEAD": LINE + b"no line of a reflog\n"}), "logs/HEAD"),
        (replace(BEFORE, config=CONFIG + b'[branch "other"]\n\tremote = origin\n'), "config"),
        (replace(BEFORE, config=CONFIG + b"[core]\n\tfsmonitor = /tmp/evil\n"), "config"),
    ],
)
def test_what_no_word_of_the_command_names_is_an_intrusion(after: Contents, name: str) -> None:
    assert intrusions(BEFORE, after, ["checkout", "main"]) == (name,)


@pytest.mark.parametrize(
    "added",
    [
        b'[branch "x"]\n\tremote = origin\n\tfsmonitor = evil\n',
        b'[branch "x"]\n\tremote = origin \\\n[core]\n\tfsmonitor = evil\n',
        b'[branch "x"]\n\tremote = "origin\n[core]\n\tfsmonitor = evil\n',
        b'[branch "x"] fsmonitor = evil\n',
        b"\tfsmonitor = evil\n",
    ],
)
def test_a_section_about_a_branch_hides_no_other_setting(added: bytes) -> None:
    assert changed_branches(CONFIG, CONFIG + added) is None


def test_a_setting_does_not_change_its_section_unseen() -> None:
    moved = CONFIG.replace(b"\turl", b'[branch "x"]\n\turl')

    assert changed_branches(CONFIG, moved) is None


@given(st.lists(st.sampled_from([b"[core]", b'[branch "x"]', b"\tremote = a", b"\tbare = true", b'\tmerge = "'])))
def test_a_configuration_differs_from_itself_in_nothing(lines: list[bytes]) -> None:
    assert changed_branches(b"\n".join(lines), b"\n".join(lines)) == frozenset()


@given(st.text(max_size=60))
def test_head_says_what_git_writes_or_nothing_that_is_believed(text: str) -> None:
    branch = branch_of(text)

    assert branch is None or branch == "" or branch.startswith("refs/heads/")
    assert branch is None or ".." not in branch


@pytest.mark.parametrize(
    "name", ["hooks/pre-push", "commondir", "config.worktree", "info/attributes", "info/grafts", "gitdir", "evil",
             "objects/info/alternates", "objects/info/commit-graph", "objects/12/evil", "objects/pack/evil.pack"]
)  # fmt: skip
def test_names_that_would_redirect_git_are_neither_given_nor_expected(name: str) -> None:
    assert not is_carried(name)
    assert not is_expected(name, lfs=True)
