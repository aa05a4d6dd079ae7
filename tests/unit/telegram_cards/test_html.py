"""What Telegram is given as HTML: foreign text stays text, whatever it holds."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from phone import read, text_of

from executor.record.redaction import Redactor
from gateway.telegram.html import Pen, cut, join, say

PEN = Pen(Redactor())
texts = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from("<>&;\"'`_*[]()/@#$. \n\t\u202e\u200b⟨⟩")), max_size=60
)


def test_a16_a_value_with_markup_of_every_kind_arrives_verbatim() -> None:
    value = "feature_x a<b>&c `tick` </pre> *x* _y_ [z](tg://user?id=1) &lt;"

    assert text_of(say("<pre>{}</pre>", PEN.text(value)).html) == value


def test_a17_the_bold_of_a_template_stays_bold_and_a_value_stays_literal() -> None:
    shown = say("<b>Denied</b> {}", PEN.value("*x* _y_ <b>z</b>"))

    assert shown.html == "<b>Denied</b> <code>*x* _y_ &lt;b&gt;z&lt;/b&gt;</code>"


@pytest.mark.parametrize("template", ["<a href='x'>{}</a>", "a < b", "&nbsp;", "<script>"])
def test_a_template_with_anything_but_the_known_tags_is_a_bug(template: str) -> None:
    with pytest.raises(ValueError, match="not a template"):
        say(template)


def test_a_brace_in_a_value_is_not_a_place_for_another_value() -> None:
    assert say("{} {}", PEN.text("{}{0}"), PEN.text("x")).plain == "{}{0} x"


@given(texts)
def test_whatever_is_written_is_read_back_as_the_plain_form(value: str) -> None:
    for markup in (PEN.value(value), PEN.prose(value), say("<pre>{}</pre>", PEN.command([value, "x"]))):
        assert text_of(markup.html) == markup.plain


@given(texts, texts)
@example("x\u030ay", "xy")
@example("a\u0333", "a")
@example("a\u033f", "a")
@example("a b", "a\tb")
@example("⟨U+000A⟩\n", "\n\n")
def test_two_different_commands_are_never_written_the_same(one: str, other: str) -> None:
    plain = Pen(Redactor())
    if one != other and not (plain.masks([one]) or plain.masks([other])):
        assert _as_telegram_keeps_it(PEN.command([one]).plain) != _as_telegram_keeps_it(PEN.command([other]).plain)


@given(st.lists(texts, max_size=4), st.lists(texts, max_size=4))
@example(["a b"], ["a", "b"])
@example([""], [])
def test_where_one_word_ends_and_the_next_begins_shows(one: list[str], other: list[str]) -> None:
    if one != other and not (PEN.masks(one) or PEN.masks(other)):
        assert PEN.command(one).plain != PEN.command(other).plain


def _as_telegram_keeps_it(text: str) -> str:
    """Leave out and replace what Telegram does with every text."""
    kept = (" " if character < " " and character != "\n" else character for character in text)
    return "".join(one for one in kept if one not in "\u030a\u0333\u033f" and not "\u2028" <= one <= "\u202e").strip()


@pytest.mark.parametrize(
    "word",
    ["@mallory", "evil.example", "https://evil.example/x", "/approve", "#tag", "$USD", "a@b.example", "tg://resolve",
     "(evil.example)", "'@mallory',", "x,@mallory", "4111111111111111"],
)  # fmt: skip
def test_what_telegram_would_make_a_link_of_is_code_in_a_sentence(word: str) -> None:
    reader = read(PEN.prose(f"there is no branch {word} here").html)

    loose = "".join(text for text, tags in reader.pieces if "code" not in tags)
    assert not any(sign in loose for sign in "@./#$")
    assert "4111" not in loose


def test_an_ordinary_sentence_is_not_code() -> None:
    assert PEN.prose("It was taken back, by an operator (twice): +133 -3 lines; done.").html.count("<code>") == 0


def test_a_list_of_paths_is_one_stretch_of_code() -> None:
    assert PEN.prose("changes a/b.php, c/d.php, e/f.php").html == "changes <code>a/b.php, c/d.php, e/f.php</code>"


def test_a_sentence_full_of_names_does_not_use_up_the_entities_of_a_message() -> None:
    assert PEN.prose(" and ".join(f"a/{number}" for number in range(40))).entities == 1


@given(texts)
def test_foreign_text_never_begins_a_line_of_ours(value: str) -> None:
    assert "\n" not in PEN.prose(value).plain
    assert "\n" not in PEN.value(value).plain


def test_a_secret_is_masked_before_anything_else_is_done_to_a_text() -> None:
    pen = Pen(Redactor(["123456:bot-token"]))

    assert "bot-token" not in pen.prose("it says 123456:bot-token here").html
    assert "bot-token" not in pen.command(["git", "log", "123456:bot-token"]).html
    assert "bot-token" not in pen.document("a\n123456:bot-token\n")
    assert pen.masks(["git", "log", "123456:bot-token"])
    assert not pen.masks(["git", "log"])


@pytest.mark.parametrize("units", [1, 2, 7, 40])
@given(text=st.text(alphabet="a😀é", max_size=60))
def test_a_cut_text_is_as_short_as_asked_for_and_says_that_it_is_cut(units: int, text: str) -> None:
    shown = cut(text, units)

    assert len(shown.encode("utf-16-le")) // 2 <= units
    assert shown == text or shown.endswith("…")


def test_joining_leaves_out_what_is_empty() -> None:
    assert join((PEN.value("a"), PEN.value(""), PEN.value("b")), " · ").plain == "a · b"
