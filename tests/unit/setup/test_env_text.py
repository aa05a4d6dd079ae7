"""The env file that `init` writes: read alike by everybody, and changed without losing what stands there."""

from __future__ import annotations

from pathlib import Path

import pytest
from env_file_readers import READERS
from hypothesis import given
from hypothesis import strategies as st

from gateway.settings_reference import example
from gateway.setup.env_text import assignments, merged, problem

EXISTING = """\
# Ours.
GATEWAY_SHARED_DIR=/srv/old

# Operations that ask.
#GATEWAY_APPROVE=git_push,restart_queue
export GATEWAY_LOG_LEVEL=INFO
OTHER=kept
GATEWAY_SHARED_DIR=/srv/older
"""


@given(st.dictionaries(st.from_regex(r"GATEWAY_[A-Z]{1,8}", fullmatch=True), st.text(max_size=40), max_size=4))
def test_e07_what_is_accepted_is_read_alike_by_all_four_readers(values: dict[str, str]) -> None:
    accepted = {name: value for name, value in values.items() if problem(value) is None}

    text = merged("# A comment.\nGATEWAY_X=1\n", accepted, {})

    expected = {"GATEWAY_X": "1"} | accepted
    for reader in READERS:
        assert {name: value or "" for name, value in reader(text).items()} == expected, reader.__name__


@pytest.mark.parametrize(
    "value",
    ['"x"', "a'b", "$HOME/x", "a\\b", "`id`", "x #y", "#x", " x", "x ", "a\nb", "a\tb", "a\x00", "a\u2028b"],
)
def test_what_one_of_them_would_read_otherwise_is_refused(value: str) -> None:
    assert problem(value) is not None


@pytest.mark.parametrize(
    "value",
    ["", "/srv/shared", "git_push,restart_queue", "Mon-Fri 09:00-18:00; Sat 10:00-12:00", "a#b", "täst"],
)
def test_plain_values_are_accepted(value: str) -> None:
    assert problem(value) is None


def test_values_are_changed_in_their_place_and_everything_else_stays() -> None:
    made = merged(EXISTING, {"GATEWAY_SHARED_DIR": "/new", "GATEWAY_APPROVE": "*", "GATEWAY_HOST_NAME": "h"},
                  {"GATEWAY_HOST_NAME": "What it is called."})  # fmt: skip

    assert (
        made
        == """\
# Ours.

# Operations that ask.
#GATEWAY_APPROVE=git_push,restart_queue
GATEWAY_APPROVE=*
export GATEWAY_LOG_LEVEL=INFO
OTHER=kept
GATEWAY_SHARED_DIR=/new

# What it is called.
GATEWAY_HOST_NAME=h
"""
    )


@given(st.dictionaries(st.sampled_from(["GATEWAY_SHARED_DIR", "GATEWAY_APPROVE", "GATEWAY_B"]), st.just("v")))
def test_putting_the_same_in_again_changes_nothing(values: dict[str, str]) -> None:
    once = merged(EXISTING, values, {})

    assert merged(once, values, {}) == once
    assert assignments(once) == assignments(EXISTING) | values


def test_a_value_over_several_lines_is_left_to_a_person() -> None:
    with pytest.raises(ValueError, match="line by line"):
        merged('GATEWAY_A="one\ntwo"\n', {"GATEWAY_A": "x"}, {})


def test_the_example_can_be_filled_in_and_is_still_read_alike(tmp_path: Path) -> None:
    made = merged(example(), {"GATEWAY_STATE_DIR": "/var/lib/x", "GATEWAY_SHARED_DIR": "/srv/x"}, {})

    assert made.count("GATEWAY_STATE_DIR=") == 2, "the example line, and the value below it"
    assert all(reader(made)["GATEWAY_STATE_DIR"] == "/var/lib/x" for reader in READERS)
