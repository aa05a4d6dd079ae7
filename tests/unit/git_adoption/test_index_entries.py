"""An index is only as good as each of its entries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.errors import Refused
from executor.git.index_rebuild import IndexEntry, check_entries, parse_entries

OID = "0123456789abcdef0123456789abcdef01234567"


def entry(path: str, mode: str = "100644") -> IndexEntry:
    return IndexEntry(mode, OID, 0, path, skip_worktree=False, assume_unchanged=False)


def test_marks_stages_and_odd_names_are_read() -> None:
    listing = f'H 100644 {OID} 0\ta\nb"c\0S 100755 {OID} 0\tsparse\0h 120000 {OID} 0\tkept\0M 100644 {OID} 2\tboth\0'

    assert parse_entries(listing.encode()) == (
        IndexEntry("100644", OID, 0, 'a\nb"c', skip_worktree=False, assume_unchanged=False),
        IndexEntry("100755", OID, 0, "sparse", skip_worktree=True, assume_unchanged=False),
        IndexEntry("120000", OID, 0, "kept", skip_worktree=False, assume_unchanged=True),
        IndexEntry("100644", OID, 2, "both", skip_worktree=False, assume_unchanged=False),
    )


def test_c24_submodules_are_refused_by_name() -> None:
    with pytest.raises(Refused) as caught:
        check_entries([entry("a"), entry("vendor/lib", "160000")])

    assert caught.value.code == "submodules"
    assert "vendor/lib" in caught.value.message


@pytest.mark.parametrize(
    "path", ["../x", "a/../../x", "/etc/passwd", ".git/config", "a/.GIT/hooks/x", "a//b", "", "./a"]
)
def test_a_path_that_is_no_file_of_the_work_tree_is_refused(path: str) -> None:
    with pytest.raises(Refused) as caught:
        check_entries([entry(path)])

    assert caught.value.code == "index_path"


@given(st.binary(max_size=200))
def test_a_listing_is_understood_or_refused(listing: bytes) -> None:
    try:
        entries = parse_entries(listing)
    except Refused:
        return
    assert all(item.mode.isdigit() and item.path for item in entries)
