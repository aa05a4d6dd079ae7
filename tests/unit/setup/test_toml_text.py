"""gateway.toml changed without losing what stands there."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.setup.toml_text import as_toml, merged

EXISTING = """\
# Ours.
shared_dir = "/old"  # was here
telegram_topic_id = 5

[[repositories]]
name = "blog"
path = "/srv/blog"
"""


def test_keys_are_changed_added_before_the_tables_and_taken_away() -> None:
    made = merged(EXISTING, {"shared_dir": "/new", "approve": ["git_push"], "telegram_topic_id": None},
                  {"approve": "What asks."})  # fmt: skip

    assert (
        made
        == """\
# Ours.
shared_dir = "/new"

# What asks.
approve = ["git_push"]

[[repositories]]
name = "blog"
path = "/srv/blog"
"""
    )


@given(st.one_of(st.text(st.characters(codec="utf-8", exclude_characters="\x7f")), st.integers(-(2**62), 2**62)))
def test_every_value_comes_back_as_it_was(value: str | int) -> None:
    assert tomllib.loads(f"x = {as_toml(value)}") == {"x": value}


def test_a_key_of_a_table_is_not_taken_for_one_of_ours() -> None:
    made = merged('[section]\nname = "x"\n', {"name": "y"}, {})

    assert tomllib.loads(made) == {"name": "y", "section": {"name": "x"}}


def test_a_value_over_several_lines_is_left_to_a_person() -> None:
    with pytest.raises(ValueError, match="line by line"):
        merged('approve = [\n  "git_push",\n]\n', {"approve": ["git_add"]}, {})
