"""Characters that pass for others are named; honest words are not accused."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.record.display import visible
from executor.record.lookalikes import LOOKS_LIKE, SUSPICIONS_MAX, suspicions


@pytest.mark.parametrize(
    "text",
    [
        "git push origin main", "größe naïve", "Исправить функцию входа", "函数", "日本語のテスト", "Windowsの設定",
        "λόγος", "🚀 ok", "2019–2020", "a — b", "修复：登录", "x² ½ ™",
    ],
)  # fmt: skip
def test_honest_text_is_not_accused(text: str) -> None:
    assert suspicions(text) == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("git push origin m\u0430in", "U+0430 CYRILLIC SMALL LETTER A looks like a"),
        ("rel\u03bfase", "U+03BF GREEK SMALL LETTER OMICRON looks like o"),
        ("\u0441\u043e\u0440\u0443", "only looks like copy"),
        ("ｍain", "U+FF4D FULLWIDTH LATIN SMALL LETTER M, which reads as m"),
        ("𝐦ain", "which reads as m"),
        ("git clean \u2013force", "starts with U+2013 EN DASH"),
        ("src\u2215app", "U+2215 DIVISION SLASH, which looks like /"),
        ("ma\u0131n", "U+0131 LATIN SMALL LETTER DOTLESS I looks like i"),
    ],
)
def test_a_look_alike_is_named_with_its_code_and_what_it_looks_like(text: str, named: str) -> None:
    assert any(named in sentence for sentence in suspicions(text)), suspicions(text)


@given(st.text(max_size=40))
def test_every_sentence_is_safe_to_show_and_there_are_few(text: str) -> None:
    found = suspicions(text)

    assert len(found) <= SUSPICIONS_MAX
    plain = [re.sub(r"⟨U\+[0-9A-F]{4,6}⟩", "", sentence) for sentence in found]
    assert plain == [visible(sentence) for sentence in plain]


def test_the_table_maps_single_foreign_letters_to_ascii_letters() -> None:
    assert all(len(k) == 1 and not k.isascii() and v.isascii() and len(v) == 1 for k, v in LOOKS_LIKE.items())
