"""What is shown hides nothing, cannot be forged, and leaves honest text readable."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.record.display import fits_in_full, utf16_length, visible

_ANY = st.text(st.characters(codec=None, exclude_categories=[]), max_size=30)
_TRICKY = st.lists(
    st.sampled_from(list("aeK한가각ᄀ\u1161\u11a8\u0301\u0308\u0338⟨⟩U+20\u202e\u200d\ufe0f\u212a\u2126é \n\t\x1b"))
    | st.characters(),
    max_size=12,
).map("".join)


@pytest.mark.parametrize(
    "text",
    [
        "git push origin main",
        "größe",
        "函数",
        "функция",
        "λόγος",
        "🚀 deploy",
        "日本語の変更",
        "한국어",
        "naïve café",
        "हिन्दी",
        "ไทยที่",
    ],
)
def test_plain_text_in_any_script_stays_readable(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),  # right-to-left override
        ("a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"),
        ("ma\u200bin", "ma⟨U+200B⟩in"),
        ("\ufeffx", "⟨U+FEFF⟩x"),
        ("x\U000e0041", "x⟨U+E0041⟩"),  # tag character
        ("x\ufe0f", "x⟨U+FE0F⟩"),
        ("x\U000e0101", "x⟨U+E0101⟩"),
        ("\x1b[2K\x00\x7f\x9b\r", "⟨U+001B⟩[2K⟨U+0000⟩⟨U+007F⟩⟨U+009B⟩⟨U+000D⟩"),
        ("a\u2028b\u2029", "a⟨U+2028⟩b⟨U+2029⟩"),
        ("a\u00a0b\u3000c\u2003", "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2003⟩"),
        ("\u3164\u2800", "⟨U+3164⟩⟨U+2800⟩"),  # letters and signs that are blank
        ("e\u0301", "e⟨U+0301⟩"),  # would look like é
        ("\u212a", "⟨U+212A⟩"),  # the Kelvin sign
        ("-\u0338", "-⟨U+0338⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟨U+27E9⟩"),  # the notation itself
        ("a\nb\tc", "a⟨U+000A⟩b⟨U+0009⟩c"),
    ],
)
def test_what_hides_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_lines_and_tabs_stay_in_a_text_of_several_lines_but_carriage_returns_do_not() -> None:
    assert visible("a\n\tb\r\n", multiline=True) == "a\n\tb⟨U+000D⟩\n"


def test_a_flood_of_combining_marks_is_written_out_after_the_third() -> None:
    shown = visible("q" + "\u0323\u0307\u0310" + "\u0311" * 50)

    assert shown == "q\u0323\u0307\u0310" + "⟨U+0311⟩" * 50


def _read_back(shown: str) -> str:
    return re.sub(r"⟨U\+([0-9A-F]{4,6})⟩", lambda match: chr(int(match.group(1), 16)), shown)


@given(_ANY | _TRICKY, st.booleans())
def test_the_text_can_be_read_back_so_two_texts_are_never_shown_the_same(text: str, multiline: bool) -> None:
    assert _read_back(visible(text, multiline=multiline)) == text


@given(_ANY | _TRICKY, st.booleans())
def test_what_is_shown_is_normal_so_two_texts_do_not_even_look_the_same(text: str, multiline: bool) -> None:
    assert unicodedata.is_normalized("NFC", visible(text, multiline=multiline))


@given(_ANY | _TRICKY)
def test_nothing_shown_is_a_control_format_or_blank_character(text: str) -> None:
    kinds = {unicodedata.category(character) for character in visible(text) if character != " "}

    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs", "Me"}


@given(_ANY)
def test_length_is_counted_as_telegram_counts_it(text: str) -> None:
    assert utf16_length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


def test_a31_what_does_not_fit_once_it_is_made_visible_does_not_fit() -> None:
    assert fits_in_full("x" * 100, 100)
    assert not fits_in_full("x" * 101, 100)
    assert not fits_in_full("x" * 95 + "\u202e", 100)
    assert not fits_in_full("🚀" * 51, 100)
