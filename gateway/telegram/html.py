"""Markup for Telegram: the one place that escapes, and the one through which every value goes that is shown.

A template is trusted and holds the tags; a value is foreign and becomes text, whatever it holds (A16, A17). Each
piece of markup carries its plain form along, for the phone's preview, for measuring and for sending without markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from executor.git.lexer import quote
from executor.record.display import utf16_length, visible
from executor.record.redaction import Redactor

_TAG = re.compile(r"</?(?:b|i|code|pre|blockquote|blockquote expandable)>")
_SPECIAL = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# Telegram takes these combining marks out of every text, so that what differs by one would be shown the same
# (clean_input_string in td/telegram/misc.cpp of TDLib).
_TAKEN_OUT = {mark: f"⟨U+{mark:04X}⟩" for mark in (0x030A, 0x0333, 0x033F)}
_LINE_END = "⟨U+000A⟩"
_TAB = 4  # columns; Telegram would show one blank

# Telegram makes links, mentions, commands and hashtags of ordinary text by itself, which must not happen to what an
# agent wrote; in `code` it does not. Names, paths and ids are better read that way too.
_BEFORE, _AFTER = "([{'\"‘“", ")]}'\"’”,;!?.:"
_RUNS = 4  # stretches of code in one sentence; beyond, all of it is code, as Telegram bounds how many there are
_TECHNICAL = re.compile(r"[./@#$:_=\\|<>{}*^~`]|^--?[A-Za-z]|^[0-9a-f]{7,}$|^\d{13,}$")


@dataclass(frozen=True, slots=True)
class Markup:
    """Text with markup, and the same without. Made by `say`, `join` and a `Pen`, never of foreign text directly."""

    html: str
    plain: str

    @property
    def length(self) -> int:
        """In UTF-16 units and after the markup is taken out, which is what Telegram's limits are about."""
        return utf16_length(self.plain)

    @property
    def entities(self) -> int:
        """How many stretches are marked up."""
        return self.html.count("</")


EMPTY = Markup("", "")


def say(template: str, *values: Markup | int) -> Markup:
    """Given a trusted template with a `{}` for each value, return it filled in.

    Raises ValueError for a template with anything of markup but the tags that are used here: that is a bug.
    """
    bare = _TAG.sub("", template)
    if any(character in bare for character in "<>&"):
        raise ValueError(f"not a template: {template}")
    html = template.format(*(value.html if isinstance(value, Markup) else value for value in values))
    plain = bare.format(*(value.plain if isinstance(value, Markup) else value for value in values))
    return Markup(html, plain)


def join(parts: Iterable[Markup], between: str = "\n") -> Markup:
    """Return the parts one after the other; `between` is trusted and plain."""
    given = [part for part in parts if part != EMPTY]
    return Markup(between.join(part.html for part in given), between.join(part.plain for part in given))


class Pen:
    """Writes foreign values: secrets masked, hidden characters made visible, cut to `most`, markup escaped, in that
    order. `most` is in UTF-16 units, None for as long as it is.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def text(self, value: object, most: int | None = None) -> Markup:
        """Return a value as one line of bare text, to stand inside `pre`, `code` or a sentence of ours."""
        return _escaped(cut(_shown(self._redactor(str(value))), most))

    def value(self, value: object, most: int | None = None) -> Markup:
        """Return a name, an id, a path, as one line."""
        return say("<code>{}</code>", self.text(value, most)) if value != "" else EMPTY

    def lines(self, value: str, most: int | None = None) -> tuple[Markup, ...]:
        """Return the lines of a text, bare, to stand inside `pre` or `code`; each is cut to `most`."""
        shown = _shown(self._redactor(value), multiline=True).expandtabs(_TAB)
        return tuple(_escaped(cut(line, most)) for line in shown.split("\n"))

    def prose(self, sentence: str, most: int | None = None) -> Markup:
        """Return a sentence that may quote foreign text, as one line.

        What Telegram might make a link of becomes `code`.
        """
        shown = cut(_shown(self._redactor(sentence)), most)
        words = shown.split(" ")
        parts: list[Markup] = []
        run: list[str] = []  # neighbours of a kind: one stretch of code is enough for a list of paths
        for word in (*words, ""):
            if _core(word):
                run.append(word)
                continue
            if run:
                parts.append(_code(" ".join(run)))
                run = []
            parts.append(_escaped(word))
        told = _spaced(parts[:-1])
        return told if told.entities <= _RUNS else say("<code>{}</code>", _escaped(shown))

    def document(self, text: str) -> str:
        """Return a text for a file: masked as a whole, hidden characters made visible, nothing else changed."""
        return visible(self._redactor(text), multiline=True)

    def command(self, argv: Sequence[str]) -> Markup:
        """Return a command exactly, quoted so that no two look the same; see `masks` for the one exception.

        A line end within is written out and also breaks the line, so that a long commit message can be read.
        """
        words = [str(word) for word in self._words(argv)]
        return _escaped(_shown(self._redactor(quote(words))).replace(_LINE_END, f"{_LINE_END}\n"))

    def command_lines(self, argv: Sequence[str], most: int) -> tuple[Markup, ...]:
        """Return a command's lines, each cut to `most`, for when nothing is decided any more."""
        return tuple(_escaped(cut(line, most)) for line in self.command(argv).plain.split("\n"))

    def command_title(self, argv: Sequence[str], most: int) -> Markup:
        """Return the beginning of a command on one line, for a title; the whole of it must stand elsewhere."""
        words = [str(word) for word in self._words(argv)]
        shown = _shown(self._redactor(quote(words))).replace(_LINE_END, "⏎")
        return say("<code>{}</code>", _escaped(cut(shown, most)))

    def masks(self, argv: Sequence[str]) -> bool:
        """Return whether a part of the command looks like a secret, so that `command` does not show all of it."""
        words = self._words(argv)
        return words != list(argv) or self._redactor(quote(argv)) != quote(argv)

    def _words(self, argv: Sequence[str]) -> list[str]:
        masked = self._redactor.redact_data(list(argv))
        return masked if isinstance(masked, list) else []


def cut(text: str, units: int | None) -> str:
    """Return `text`, or its beginning and "…", in no more than `units` UTF-16 units."""
    if units is None or utf16_length(text) <= units:
        return text
    kept = text[:units]
    while utf16_length(kept) > units - 1:
        kept = kept[:-1]
    return f"{kept}…"


def _spaced(parts: Sequence[Markup]) -> Markup:
    return Markup(" ".join(part.html for part in parts), " ".join(part.plain for part in parts))


def _escaped(shown: str) -> Markup:
    return Markup(shown.translate(_SPECIAL), shown)


def _shown(text: str, *, multiline: bool = False) -> str:
    return visible(text, multiline=multiline).translate(_TAKEN_OUT)


def _core(word: str) -> str:
    """Return what of a word is technical: the word without the punctuation around it, or "" for an ordinary one."""
    core = word.lstrip(_BEFORE).rstrip(_AFTER)
    return core if core and _TECHNICAL.search(core) else ""


def _code(run: str) -> Markup:
    inner = run.lstrip(_BEFORE)
    before, core = run[: len(run) - len(inner)], inner.rstrip(_AFTER)
    after = inner[len(core) :]
    return join((_escaped(before), say("<code>{}</code>", _escaped(core)), _escaped(after)), "")
