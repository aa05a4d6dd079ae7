"""Reads HTML as Telegram does: a few tags, strictly nested, four named entities; anything else is an error."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

TAGS = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
    "s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler",
    "span": "spoiler", "a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote",
}  # fmt: skip
_TOKEN = re.compile(r"<(/?)([a-zA-Z0-9-]*)([^<>]*)>|&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(lt|gt|amp|quot));|<")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_ATTRIBUTES = {
    "a": re.compile(r' href="[^"]*"\Z'),
    "span": re.compile(r' class="tg-spoiler"\Z'),
    "code": re.compile(r'(?: class="language-[^"]*")?\Z'),
    "blockquote": re.compile(r"(?: expandable)?\Z"),
}
_NO_ATTRIBUTES = re.compile(r"\s*\Z")


class ParseError(Exception):
    """The text cannot be read; the message is the description that Telegram gives."""


@dataclass
class Parsed:
    """The text that is shown, and where it is bold, code and so on: (kind, offset, length) in UTF-16 units."""

    text: str = ""
    entities: list[tuple[str, int, int]] = field(default_factory=list)


def utf16(text: str) -> int:
    """Return the length of `text` in the unit that Telegram counts in."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def parse(html: str) -> Parsed:
    """Given HTML, return what is shown; raise ParseError as Telegram would refuse it."""
    parsed, open_tags, position = Parsed(), list[tuple[str, int]](), 0
    for token in _TOKEN.finditer(html):
        parsed.text += html[position : token.start()]
        position = token.end()
        closing, tag, rest, decimal, hexadecimal, named = token.groups()
        if named or decimal or hexadecimal:
            parsed.text += _NAMED[named] if named else chr(int(decimal) if decimal else int(hexadecimal, 16))
        else:
            _tag(html, token.start(), parsed, open_tags, closing or "", (tag or "").lower(), rest)
    if open_tags:
        raise _error(f'Can\'t find end tag corresponding to start tag "{open_tags[-1][0]}"')
    parsed.text += html[position:]
    return parsed


def _tag(
    html: str, start: int, parsed: Parsed, open_tags: list[tuple[str, int]], closing: str, tag: str, rest: str | None
) -> None:
    offset = len(html[:start].encode())
    if rest is None:
        raise _error(f"Unclosed start tag at byte offset {offset}")
    if closing:
        if not open_tags or (tag and open_tags[-1][0] != tag):
            raise _error(f"Unmatched end tag at byte offset {offset}")
        name, begin = open_tags.pop()
        length = utf16(parsed.text) - begin
        if length:
            parsed.entities.append((TAGS[name], begin, length))
        return
    if tag not in TAGS or not _ATTRIBUTES.get(tag, _NO_ATTRIBUTES).match(rest):
        raise _error(f'Unsupported start tag "{tag}" at byte offset {offset}')
    open_tags.append((tag, utf16(parsed.text)))


def _error(what: str) -> ParseError:
    return ParseError(f"Bad Request: can't parse entities: {what}")
