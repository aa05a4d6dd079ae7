"""How the text of a setting becomes a value, by chance."""

from __future__ import annotations

import json
import string
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.spans import age
from gateway.commands.terminal import paragraph
from gateway.settings_values import per_class, plain, split_list

WORDS = st.lists(st.text(string.ascii_letters + string.digits + "_-./*:@", min_size=1, max_size=12), max_size=6)


@given(WORDS)
def test_g06_every_spelling_of_a_list_is_the_same_list(words: list[str]) -> None:
    for text in (",".join(words), " ".join(words), " , ".join(words), json.dumps(words)):
        assert split_list(text) == tuple(words)


@given(st.text())
def test_g07_no_text_makes_a_list_or_a_number_by_class_fail_with_anything_but_a_message_without_it(text: str) -> None:
    for reader in (plain, split_list, per_class):
        try:
            reader(text)
        except ValueError as error:
            assert len(text) < 8 or text not in str(error)


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        (0, "0 s ago"),
        (-119, "119 s ago"),
        (-120, "2 min ago"),
        (-7200, "2 h ago"),
        (-172_800, "2 days ago"),
        (3600, "in 1 h"),
    ],
)
def test_an_age_is_told_in_one_unit(ahead: int, said: str) -> None:
    now = datetime(2026, 1, 31, tzinfo=UTC)
    assert age(now + timedelta(seconds=ahead), now) == said


@given(st.text())
def test_what_is_shown_on_a_terminal_has_no_control_characters_and_fits(text: str) -> None:
    shown = paragraph("why", text)
    assert all(line.isprintable() or not line for line in shown.split("\n"))
    assert max(map(len, shown.split("\n"))) <= 80
