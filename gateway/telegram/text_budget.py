"""Fits a card into one message: what must be shown is, the rest as far as there is room (A18, A31).

A message is built of whole lines, so that nothing is ever cut inside a tag or an entity; it is measured as Telegram
does, in UTF-16 units of what remains when the markup is taken out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.telegram.html import EMPTY, Markup, join, say

# UTF-16 units after the markup is taken out: 4096 (Bot API, sendMessage) less what delivery may note below the text
LIMIT = 3900
ENTITIES = 95  # of the 100 of which Telegram keeps the markup; the rest is for the same notes

_FRAMES = {
    "": "{}",
    "pre": "<pre>{}</pre>",
    "quote": "<blockquote>{}</blockquote>",
    "folded": "<blockquote expandable>{}</blockquote>",  # three lines, the rest at a tap
    "folded code": "<blockquote expandable><code>{}</code></blockquote>",
}


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph: a title and lines. `least` of the lines, from the first, must be shown; None means all of them.

    What is left out is counted in a line of its own. `frame` is a key of the frames above; the lines of framed code
    are bare. Where room is short, a lower `rank` gets it first.
    """

    lines: tuple[Markup, ...]
    title: Markup = EMPTY
    least: int | None = None
    frame: str = ""
    rank: int = 0

    @property
    def is_list(self) -> bool:
        """Whether all of it may be left out."""
        return self.least == 0

    @property
    def needs(self) -> int:
        return len(self.lines) if self.least is None else min(self.least, len(self.lines))


@dataclass(frozen=True, slots=True)
class Fitted:
    """The text of a message, and how many lines there was no room for."""

    text: Markup
    left_out: int


def fit(blocks: Sequence[Block], limit: int = LIMIT) -> Fitted | None:
    """Return the blocks as one text within `limit`, or None when what must be shown is more than that."""
    given = [block for block in blocks if block.lines or block.title != EMPTY]
    counts = [block.needs for block in given]
    text = _text(given, counts)
    if not _within(text, limit):
        return None
    for number in sorted(range(len(given)), key=lambda index: given[index].rank):
        counts[number] = _most(given, counts, number, limit)
    return Fitted(_text(given, counts), sum(len(block.lines) for block in given) - sum(counts))


def _most(blocks: Sequence[Block], counts: Sequence[int], number: int, limit: int) -> int:
    """Return how many lines of one block fit, when the others show as many as `counts` says."""
    fits, too_many = counts[number], len(blocks[number].lines) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        tried = [*counts[:number], middle, *counts[number + 1 :]]
        if _within(_text(blocks, tried), limit):
            fits = middle
        else:
            too_many = middle
    return fits


def _within(text: Markup, limit: int) -> bool:
    return text.length <= limit and text.entities <= ENTITIES


def _text(blocks: Sequence[Block], counts: Sequence[int]) -> Markup:
    return join((_paragraph(block, count) for block, count in zip(blocks, counts, strict=True)), "\n\n")


def _paragraph(block: Block, count: int) -> Markup:
    shown = join_lines(block.lines[:count])
    framed = say(_FRAMES[block.frame], shown) if count else EMPTY
    left_out = len(block.lines) - count
    return join((block.title, framed, say("… and {} more", left_out) if left_out else EMPTY))


def join_lines(lines: Sequence[Markup]) -> Markup:
    """Return lines one below the other, empty ones too."""
    return Markup("\n".join(line.html for line in lines), "\n".join(line.plain for line in lines))


def ends_of(lines: Sequence[Markup], most: int) -> tuple[Markup, ...]:
    """Return the first and the last of the lines, `most` in all, with a line between that counts what is left out."""
    if len(lines) <= most:
        return tuple(lines)
    first = most // 2
    gap = say("… {} lines left out …", len(lines) - most)
    return (*lines[:first], gap, *lines[len(lines) - (most - first) :])
