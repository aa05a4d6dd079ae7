"""Shows a card as a phone would, in plain text: wrapped to a narrow screen, folded quotes folded, buttons below."""

from __future__ import annotations

import textwrap
from html.parser import HTMLParser

from gateway.telegram.card_model import Card

COLUMNS = 46
FOLDED_LINES = 3
ALLOWED = {"b", "i", "code", "pre", "blockquote"}


class Reader(HTMLParser):
    """Reads Telegram's HTML strictly, as Telegram does: known tags only, balanced, only four named entities."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.open: list[str] = []
        self.pieces: list[tuple[str, frozenset[str]]] = []  # text, and the tags it stands in
        self.marked = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, f"<{tag}> is not a tag that Telegram knows"
        assert not attrs or (tag == "blockquote" and attrs == [("expandable", None)]), attrs
        assert not {"pre", "code"} & set(self.open), f"<{tag}> inside {self.open}"
        assert tag not in self.open, f"<{tag}> inside itself"
        if tag in ("pre", "code"):
            assert not {"b", "i"} & set(self.open), f"<{tag}> inside {self.open}: Telegram drops one of them"
        self.open.append("folded" if attrs else tag)
        self.marked += 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> ends nothing"
        assert self.open.pop() in (tag, "folded" if tag == "blockquote" else tag), f"</{tag}> ends another tag"

    def handle_data(self, data: str) -> None:
        assert "<" not in data
        assert "&" not in data
        self.pieces.append((data, frozenset(self.open)))

    def handle_entityref(self, name: str) -> None:
        self.pieces.append(({"amp": "&", "lt": "<", "gt": ">", "quot": '"'}[name], frozenset(self.open)))

    def handle_charref(self, name: str) -> None:
        raise AssertionError(f"&#{name};")

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")


def read(html: str) -> Reader:
    """Return what Telegram makes of `html`. Raises AssertionError where it would answer "can't parse entities"."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == [], f"never closed: {reader.open}"
    return reader


def text_of(html: str) -> str:
    return "".join(text for text, _ in read(html).pieces)


def screen(card: Card) -> str:
    """Return the card as it looks."""
    lines: list[str] = []
    for line, tags in _lines(read(card.html)):
        bar = "│ " if "pre" in tags else "▌ " if {"blockquote", "folded"} & tags else ""
        wrapped = textwrap.wrap(line, COLUMNS - len(bar), drop_whitespace=False, break_on_hyphens=False) or [""]
        lines += [(f"{bar}{part}".rstrip(), "folded" in tags) for part in wrapped]  # type: ignore[misc]
    shown = _folded(lines)  # type: ignore[arg-type]
    shown += [f"📎 {file.name} ({len(file.text.splitlines())} lines)" for file in card.attachments]
    shown += ["  ".join(f"[ {button.label} ]" for button in row) for row in card.buttons]
    return "\n".join(shown) + "\n"


def _lines(reader: Reader) -> list[tuple[str, frozenset[str]]]:
    found: list[tuple[str, frozenset[str]]] = [("", frozenset())]
    for text, tags in reader.pieces:
        first, *rest = text.split("\n")
        found[-1] = (found[-1][0] + first, found[-1][1] | (tags if first else frozenset()))
        found += [(line, tags) for line in rest]
    return found


def _folded(lines: list[tuple[str, bool]]) -> list[str]:
    shown: list[str] = []
    inside: list[str] = []
    for text, folded in [*lines, ("", False)]:
        if folded:
            inside.append(text)
            continue
        shown += inside[:FOLDED_LINES]
        if len(inside) > FOLDED_LINES:
            shown.append(f"▌ ⌄ {len(inside) - FOLDED_LINES} more at a tap")
        inside = []
        shown.append(text)
    return shown[:-1]
