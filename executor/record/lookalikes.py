"""Names characters that pass for others: mixed scripts in a word, foreign letters that look like ASCII ones."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from executor.record.display import visible

SUSPICIONS_MAX = 10  # shown to a person; the first ten say enough

# Letters that most fonts draw like an ASCII letter. Hand-made; the pairs are foreign letter, ASCII letter.
_CYRILLIC = "аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ӏl ѵv ѡw АA ВB ЕE ЅS ІI ЈJ КK МM НH ОO РP СC ТT УY ХX ԌG ԚQ ԜW"
_GREEK = "αa ιi κk νv οo ρp υu χx γy ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX"
_OTHERS = "օo սu ցg հh ոn ѕs ɑa ɡg ɩi ʟL ıi ᴄc ᴏo ᴠv ᴡw ᴢz"
LOOKS_LIKE: dict[str, str] = {pair[0]: pair[1] for pair in f"{_CYRILLIC} {_GREEK} {_OTHERS}".split()}

_DASHES = frozenset("‐‑‒–—―−﹘﹣－")
_SLASHES_AND_DOTS = {"⁄": "/", "∕": "/", "⧸": "/", "／": "/", "․": ".", "。": ".", "．": ".", "＼": "\\", "∖": "\\"}
_TOGETHER = (  # scripts that are written in one word
    frozenset({"CJK", "HIRAGANA", "KATAKANA", "LATIN"}),
    frozenset({"CJK", "HANGUL", "LATIN"}),
    frozenset({"CJK", "BOPOMOFO", "LATIN"}),
)


def suspicions(text: str) -> tuple[str, ...]:
    """Given text a person will judge, return sentences that name what in it may be mistaken; () when nothing is.

    Words are what stands between spaces. Each sentence is safe to show; there are at most `SUSPICIONS_MAX`.
    """
    if text.isascii():
        return ()
    found: dict[str, None] = {}
    for word in re.split(r"\s+", text):
        if not word.isascii():
            for sentence in _of_word(word):
                found.setdefault(sentence)
                if len(found) == SUSPICIONS_MAX:
                    return tuple(found)
    return tuple(found)


def _of_word(word: str) -> Iterator[str]:
    shown = visible(word if len(word) <= 60 else word[:60] + "…")
    if len(word) > 1 and word[0] in _DASHES:
        yield f"{shown} starts with {_name(word[0])}, not with a hyphen"
    ascii_letters = any(c.isascii() and c.isalpha() for c in word)
    for character in dict.fromkeys(word):
        plain = _ascii_form(character)
        if plain:
            yield f"{shown} holds {_name(character)}, which reads as {plain}"
        elif ascii_letters and character in _SLASHES_AND_DOTS:
            yield f"{shown} holds {_name(character)}, which looks like {_SLASHES_AND_DOTS[character]}"
    for part in re.split(r"[^\w]+", word):
        yield from _of_part(part)


def _of_part(part: str) -> Iterator[str]:
    letters = [c for c in part if c.isalpha() and _ascii_form(c) is None]
    scripts = {_script(c) for c in letters}
    odd = [c for c in dict.fromkeys(letters) if not c.isascii()]
    if len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER):
        foreign = [c for c in odd if c in LOOKS_LIKE] or [c for c in odd if _script(c) != "LATIN"] or odd
        kinds = " and ".join(sorted(script.capitalize() for script in scripts))
        yield f"{visible(part[:60])} mixes {kinds}: {_listed(foreign)}"
    elif len(letters) > 2 and odd and all(c.isascii() or c in LOOKS_LIKE for c in letters):
        ascii_text = "".join(LOOKS_LIKE.get(c, c) for c in part[:60])
        yield f"{visible(part[:60])} only looks like {visible(ascii_text)}: {_listed(odd)}"


def _ascii_form(character: str) -> str | None:
    """Return the ASCII letter or digit that a full-width, mathematical or circled form stands for."""
    if character.isascii() or not (character.isalpha() or character.isdecimal()):
        return None
    plain = unicodedata.normalize("NFKC", character)
    return plain if plain.isascii() and plain != character else None


def _script(letter: str) -> str:
    """Return the script of a letter: the first word of its Unicode name (LATIN, CYRILLIC, CJK …)."""
    return unicodedata.name(letter, "UNNAMED").split()[0].split("-")[0]


def _listed(characters: list[str]) -> str:
    named = [_name(c) + (f" looks like {LOOKS_LIKE[c]}" if c in LOOKS_LIKE else "") for c in characters[:3]]
    return "; ".join(named) + ("; …" if len(characters) > 3 else "")


def _name(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, 'unnamed')}"
