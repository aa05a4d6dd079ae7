"""The lines that a patch adds are found with their place, whatever the lines look like."""

from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from executor.git.added_lines import AddedLine, added_lines

# lines of files that look like the parts of a patch
TRICKY = [
    "+++ b/other.txt",
    "--- a/other.txt",
    "@@ -1 +1 @@",
    "diff --git a/x b/x",
    "\\ No newline at end of file",
    "",
    "x",
]
LINES = st.lists(st.sampled_from(TRICKY) | st.text(st.characters(blacklist_categories=("Cs", "Cc"))), max_size=12)


@given(LINES, LINES)
def test_exactly_the_new_lines_are_found_each_at_its_number(old: list[str], new: list[str]) -> None:
    body = difflib.unified_diff(old, new, "a/file.txt", "b/file.txt", n=0, lineterm="")
    patch = "diff --git a/file.txt b/file.txt\n" + "".join(f"{line}\n" for line in body)
    blocks = difflib.SequenceMatcher(None, old, new).get_opcodes()
    expected = [
        AddedLine("file.txt", number + 1, new[number])
        for kind, _, _, first, end in blocks
        if kind != "equal"
        for number in range(first, end)
    ]

    assert list(added_lines(patch.encode())) == expected


@given(st.binary(max_size=400))
def test_what_is_no_patch_is_passed_over(data: bytes) -> None:
    list(added_lines(data))
    list(added_lines(b"+++ b/x\n@@ -1,3 +1,9 @@\n" + data))
    list(added_lines(b"+++ b/x\n@@@ -1,3 -2,2 +1,9 @@@\n" + data))


def test_of_a_merge_only_lines_that_no_parent_has_are_found() -> None:
    patch = b"""diff --cc both.txt
index 1111111,2222222..3333333
--- a/both.txt
+++ b/both.txt
@@@ -1,3 -1,2 +1,4 @@@
  kept
- ours
 -theirs
++of the merge alone
+ from theirs
 +from ours
"""
    assert list(added_lines(patch)) == [AddedLine("both.txt", 2, "of the merge alone")]


def test_a_path_that_git_quotes_is_read_back() -> None:
    heads = {
        b'+++ "b/sp\\303\\244t \\"x\\"\\n\\t\\\\.txt"': 'spät "x"\n\t\\.txt',
        b"+++ b/with blanks.txt\t": "with blanks.txt",
        b'+++ "b/\\377.txt"': "\udcff.txt",
        b"+++ b/b/nested": "b/nested",
    }
    for head, path in heads.items():
        assert [line.path for line in added_lines(head + b"\n@@ -0,0 +1 @@\n+text\n")] == [path]


def test_bytes_that_are_no_text_come_through_as_surrogates() -> None:
    found = list(added_lines(b"+++ b/x\n@@ -0,0 +1 @@\n+caf\xe9\n"))

    assert found[0].text.encode("utf-8", "surrogateescape") == b"caf\xe9"


def test_a_patch_that_was_cut_off_gives_what_is_there() -> None:
    assert [line.text for line in added_lines(b"+++ b/x\n@@ -0,0 +1,9 @@\n+one\n+tw")] == ["one", "tw"]
