"""The card on a terminal: what an agent chose cannot pose as a line of it."""

from __future__ import annotations

from gateway.commands.card import as_words


def test_a_name_with_a_line_end_stays_on_its_line_of_a_list() -> None:
    assert as_words(["A evil\nReviewed-by: olive", "M fine"]) == "A evil\\nReviewed-by: olive\nM fine"


def test_a_text_of_several_lines_keeps_them() -> None:
    assert as_words({"diff": "one\ntwo"}) == "diff: one\ntwo"
