"""A message within Telegram's limits: what must be shown is, the rest as far as there is room."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from phone import read, text_of

from executor.record.redaction import Redactor
from gateway.telegram.html import Pen, say
from gateway.telegram.text_budget import ENTITIES, LIMIT, Block, ends_of, fit

PEN = Pen(Redactor())
lines = st.lists(st.text(alphabet="ab<&😀 ", max_size=30), max_size=40)


def block(texts: list[str], least: int | None = None, rank: int = 0) -> Block:
    return Block(tuple(map(PEN.text, texts)), title=say("<b>T</b>"), least=least, frame="folded code", rank=rank)


def test_lines_that_do_not_fit_are_counted() -> None:
    fitted = fit([block(["x" * 50] * 10, least=0)], limit=200)

    assert fitted is not None
    assert fitted.text.plain.endswith("\n… and 7 more")
    assert fitted.left_out == 7


def test_what_must_be_shown_and_does_not_fit_gives_nothing_rather_than_a_part() -> None:
    assert fit([block(["x" * 50] * 10)], limit=200) is None


def test_the_first_rank_gets_its_room_before_the_others() -> None:
    fitted = fit([block(["later" * 9] * 20, least=0, rank=9), block(["first" * 9] * 3, least=0, rank=1)], limit=170)

    assert fitted is not None
    assert fitted.text.plain.split("\n") == ["T", "… and 20 more", "", "T", *["first" * 9] * 3]


def test_a_message_uses_no_more_entities_than_telegram_keeps() -> None:
    fitted = fit([Block(tuple(PEN.value(f"a{number}") for number in range(300)), least=0)])

    assert fitted is not None
    assert fitted.text.entities <= ENTITIES


def test_a18_a_long_log_with_an_entity_at_the_limit_is_never_cut_inside_it() -> None:
    for shift in range(8):
        log = "y" * shift + "x" * (LIMIT - 60) + "<&>" * 3_000
        fitted = fit(
            [Block(PEN.lines("\n".join(log[at : at + 97] for at in range(0, len(log), 97))), least=0, frame="pre")]
        )

        assert fitted is not None
        assert text_of(fitted.text.html) == fitted.text.plain


@settings(deadline=None)
@given(st.lists(st.tuples(lines, st.none() | st.integers(0, 5), st.integers(0, 9)), max_size=5), st.integers(30, 900))
def test_whatever_is_fitted_is_balanced_and_within_the_limit(
    parts: list[tuple[list[str], int | None, int]], limit: int
) -> None:
    blocks = [block(texts, least, rank) for texts, least, rank in parts]

    fitted = fit(blocks, limit)

    if fitted is not None:
        read(fitted.text.html)
        assert len(fitted.text.plain.encode("utf-16-le")) // 2 <= limit
        assert text_of(fitted.text.html) == fitted.text.plain


def test_of_a_long_text_both_ends_are_kept_and_the_gap_is_counted() -> None:
    shown = [line.plain for line in ends_of(PEN.lines("\n".join(map(str, range(100)))), most=4)]

    assert shown == ["0", "1", "… 96 lines left out …", "98", "99"]


def test_a_text_that_is_not_long_is_kept_whole() -> None:
    assert [line.plain for line in ends_of(PEN.lines("a\nb"), most=4)] == ["a", "b"]
