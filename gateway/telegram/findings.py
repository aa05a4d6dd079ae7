"""What a request would change, as an approval holds it, in paragraphs for a card: risk first, lists last (pure).

The facts come as lines of text. A line with indented lines below it is the title of a list: the list is shortened
where room is short, everything else is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from executor.git.push_report import PushFacts, lines
from gateway.telegram.html import EMPTY, Markup, Pen, join, say
from gateway.telegram.text_budget import Block

_MARKS = {"! ": "❗", "* ": "⚠️", "- ": "·", "danger: ": "❗", "warning: ": "⚠️", "note: ": "·"}
_LEAKS = "! secret?"
_SECRETS_SHOWN = 4  # of a push at least; one is enough to say no
_STASH = re.compile(r"stash@\{\d+\}: ")
_STASHES_SHOWN = 2
_OBJECT_ID = re.compile(r"\b([0-9a-f]{10})[0-9a-f]{30}(?:[0-9a-f]{24})?\b")
_INDENT = "  "  # of an item of a list, below its title
_FIRST, _LAST = 1, 9  # ranks: what gets room first, and last

# Keys of what is shown: the title, and how many lines are shown at least (None: all of them).
_PARTS: Mapping[str, tuple[Markup, int | None]] = {
    "loses": (say("❗ <b>Loses</b>"), 8),
    "plan": (say("<b>Plan</b>"), None),
    "involves": (say("<b>Takes up</b>"), 4),
    "stages": (say("<b>Records</b>"), 4),
    "unseen": (say("❗ <b>Not known</b>"), None),
}


def consequences(pen: Pen, shown: Mapping[str, Any], paths: int | None) -> Iterator[Block]:
    """Yield what would change. `paths` bounds how many paths of one risk are named, None names all that are known."""
    for facts in _pushes(shown, paths):
        yield from _sections(pen, facts)
    for line in ([shown["more"]] if shown.get("more") else []) + list(shown.get("masked") or ()):
        yield Block((say("❗ {}", pen.prose(str(line))),))
    for name, (title, least) in _PARTS.items():
        if shown.get(name):
            most = None if paths is None else 80 * (paths + 1)
            yield from _sections(pen, shown[name], title, least, most)


def full_lines(shown: Mapping[str, Any]) -> Iterator[str]:
    """Yield all that is known of what would change, as plain lines."""
    for facts in _pushes(shown, None):
        yield from facts
        yield ""
    for name in ("more", "masked", *_PARTS):
        value = shown.get(name)
        if value:
            yield f"{name}:"
            yield from ([value] if isinstance(value, str) else value)
            yield ""


def bound(pen: Pen, depends_on: Sequence[str]) -> Block:
    """Return what the decision is bound to. Ids are shortened, and of many stash entries the first are named."""
    stashes = [line for line in depends_on if _STASH.match(line)]
    named = [line for line in depends_on if line not in stashes[_STASHES_SHOWN:]]
    listed = [pen.text(_OBJECT_ID.sub(r"\1", line)) for line in named]
    if len(stashes) > _STASHES_SHOWN:
        listed.append(say("… and {} more stash entries", len(stashes) - _STASHES_SHOWN))
    title = say("<b>Holds only while this stays so</b>") if listed else EMPTY
    return Block(tuple(listed), title=title, frame="folded code")


def _pushes(shown: Mapping[str, Any], paths: int | None) -> Iterator[tuple[str, ...]]:
    for data in shown.get("push") or ():
        facts = PushFacts.from_data(data)
        if paths is not None:
            risks = tuple(replace(risk, paths=risk.paths[:paths]) for risk in facts.risks)
            facts = replace(facts, risks=risks)
        yield lines(facts)


def _sections(
    pen: Pen, facts: Sequence[str], title: Markup = EMPTY, least: int | None = None, most: int | None = None
) -> Iterator[Block]:
    """Yield lines as paragraphs: what looks like secrets, what is said, then the lists one by one."""
    head, secrets, lists = _taken_apart(facts)
    if secrets:
        named = tuple(pen.prose(line.removeprefix(_LEAKS).strip()) for line in secrets)
        looks = say(
            "❗ <b>{}</b>", pen.text("This looks like a secret" if len(named) == 1 else "These look like secrets")
        )
        yield Block(named, title=looks, least=_SECRETS_SHOWN, rank=_FIRST)
    if head:
        said = tuple(_marked(pen, line, most) for line in head)
        yield Block(said, title=title, least=least, rank=_FIRST)
    for number, (name, items) in enumerate(lists):
        above = title if number == 0 and not head else EMPTY
        drops = name.startswith("Drops") or least == _PARTS["loses"][1]
        yield Block(
            tuple(map(pen.text, items)),
            title=join((above, pen.prose(name))),
            least=4 if drops else 0,
            frame="folded code",
            rank=_FIRST if drops else _LAST,
        )


def _taken_apart(facts: Sequence[str]) -> tuple[list[str], list[str], list[tuple[str, list[str]]]]:
    """Return what is said outright, what is said about secrets, and the lists with their titles."""
    head: list[str] = []
    secrets: list[str] = []
    lists: list[tuple[str, list[str]]] = []
    for line, following in zip(facts, [*facts[1:], ""], strict=True):
        if line.startswith(_INDENT) and lists:
            lists[-1][1].append(line.removeprefix(_INDENT))
        elif following.startswith(_INDENT):
            lists.append((line.rstrip(":"), []))
        else:
            (secrets if line.startswith(_LEAKS) else head).append(line)
    return head, secrets, lists


def _marked(pen: Pen, line: str, most: int | None) -> Markup:
    for sign, mark in _MARKS.items():
        if line.startswith(sign):
            return say(f"{mark} {{}}", pen.prose(line.removeprefix(sign), most))
    return pen.prose(line, most)
