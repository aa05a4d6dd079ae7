"""Every card as it stands in the chat. `GOLDEN_CARDS=write` writes the files anew; look at them before committing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from golden_cards import CARDS
from phone import screen, text_of

GOLDEN = Path(__file__).parent / "golden"


def _written(name: str, suffix: str, text: str) -> str:
    path = GOLDEN / f"{name}{suffix}"
    if os.environ.get("GOLDEN_CARDS") == "write":
        path.write_text(text)
    return path.read_text()


@pytest.mark.parametrize("name", CARDS)
def test_a_card_is_the_one_that_was_looked_at(name: str) -> None:
    card = CARDS[name]()

    assert _written(name, ".html", card.html + "\n") == card.html + "\n"
    assert _written(name, ".txt", screen(card)) == screen(card)


@pytest.mark.parametrize("name", CARDS)
def test_the_plain_form_of_a_card_is_its_text_without_markup(name: str) -> None:
    card = CARDS[name]()

    assert card.plain == text_of(card.html)


def test_every_golden_file_belongs_to_a_card() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CARDS)
