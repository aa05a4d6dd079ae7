"""The answer to /health: what is bad first and with its mend, what is good folded away (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from executor.health.report import Finding, Level, Report, counts, title
from gateway.telegram import words
from gateway.telegram.card_model import Card, Place, card_of
from gateway.telegram.html import EMPTY, Markup, say
from gateway.telegram.text_budget import Block

MARK: Mapping[Level, str] = {Level.BAD: "🔴", Level.WARNING: "🟡", Level.UNKNOWN: "❔", Level.GOOD: "✅"}
_WORD: Mapping[Level, str] = {
    Level.BAD: "Not well",
    Level.WARNING: "Look at this",
    Level.UNKNOWN: "Not all is known",
    Level.GOOD: "All is well",
}
_TITLE_UNITS, _WHAT_UNITS, _MORE_UNITS = 80, 200, 260


def health(place: Place, told: Report) -> Card:
    """Return how the host is: each level in a paragraph, worst first."""
    second = say("{} · {}", words.where(place, ""), place.pen.text(counts(told)))
    blocks = [Block((words.heading(MARK[told.level], _WORD[told.level], EMPTY, second),))]
    for rank, level in enumerate(Level):
        found = [each for each in told.findings if each.level is level]
        lines = tuple(line for each in found for line in _lines(place, each))
        frame = "folded" if level is Level.GOOD else ""
        blocks.append(Block(lines, least=0, frame=frame, rank=rank))
    return card_of(blocks)


def _lines(place: Place, each: Finding) -> Iterator[Markup]:
    """Yield a finding in a line, and below it how the system said it and what to do."""
    pen = place.pen
    name, what = pen.text(title(each), _TITLE_UNITS), pen.prose(each.what, _WHAT_UNITS)
    if each.level is Level.GOOD:
        yield say("{}: {}", name, what)
        return
    yield say(f"{MARK[each.level]} <b>{{}}</b>: {{}}", name, what)
    if each.detail:
        yield say("    {}", pen.prose(each.detail, _MORE_UNITS))
    if each.mend:
        yield say("    → {}", pen.prose(each.mend, _MORE_UNITS))
