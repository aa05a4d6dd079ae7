"""An agent cannot fill the audit log with what it says."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from executor.record.bounded import LIST_LIMIT, TEXT_LIMIT, bounded
from executor.record.schema import canonical_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner, max_size=5),
)


@given(JSON)
def test_what_is_short_is_kept_as_it_is(data: object) -> None:
    assert bounded(data) == data


def test_a_long_text_keeps_its_beginning_its_length_and_its_hash() -> None:
    text = "x y" * 20_000

    kept = bounded({"argv": ["git", "commit", "-m", text]})

    digest = hashlib.sha256(text.encode()).hexdigest()
    assert kept == {
        "argv": ["git", "commit", "-m", f"{text[:TEXT_LIMIT]} … [of 60000 characters with SHA-256 {digest}]"]
    }


def test_a_long_list_of_short_words_keeps_its_beginning_its_length_and_its_hash() -> None:
    argv = ["git", "add", "--", *map(str, range(30_000))]

    kept = bounded(argv)

    assert isinstance(kept, list)
    digest = hashlib.sha256(canonical_json(argv).encode()).hexdigest()
    assert kept[:5] == argv[:5]
    assert kept[-1] == f"… [of 30003 items with SHA-256 {digest}]"
    assert len(canonical_json(kept)) < LIST_LIMIT + 150


def test_half_a_character_pair_in_a_long_text_is_no_error() -> None:
    kept = bounded("\ud800" * (TEXT_LIMIT + 1))

    assert isinstance(kept, str)
    assert "of 2001 characters" in kept
