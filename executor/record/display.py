"""Makes visible what a text hides: control, bidi and zero-width characters, odd spaces, look-alike letters.

What an operator reads must be what will run. Every character that does not show itself is written `⟨U+202E⟩`, and
the brackets themselves are escaped, so the notation cannot be forged: two different texts are never shown the same,
not even after Unicode normalisation. Text in any one script (größe, 函数, функция) stays as it is.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# Characters that are neither format nor space by category, and yet show nothing or are about to be mistaken:
_BLANK_LETTERS = (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x2D7F, 0x3164, 0xFFA0, 0xFFFC, 0x16FE4, 0x1D159)
_VARIATION_SELECTORS = (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
_BRACKETS = (0x27E8, 0x27E9, 0x2329, 0x232A, 0x3008, 0x3009, *range(0x276C, 0x2772), 0x29FC, 0x29FD, 0xFE3F, 0xFE40)
_ALWAYS_HIDDEN = frozenset((*_BLANK_LETTERS, *_VARIATION_SELECTORS, *_BRACKETS))
# control, format, surrogate, private use, unassigned, line and paragraph separators, spaces, enclosing marks
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs", "Me"})
MARKS_MAX = 3  # combining marks on one letter; living languages need up to three, floods use dozens


def visible(text: str, *, multiline: bool = False) -> str:
    """Given any text, return it with everything that hides written out as `⟨U+XXXX⟩`.

    With `multiline` line feeds and tabs stay as they are; otherwise they are written out too. Injective for each
    value of `multiline`; what is returned is in normal form NFC. The text is not redacted: do that first.
    """
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    cluster = ""  # the last letter shown with its marks, as long as a mark may follow it
    for character in text:
        if character in "\n\t" and multiline:
            shown.append(character)
            cluster = ""
        elif _stays(character, cluster):
            shown.append(character)
            cluster = cluster + character if _is_mark(character) else character
        else:
            shown.append(f"⟨U+{ord(character):04X}⟩")
            cluster = ""
    return "".join(shown)


def _stays(character: str, cluster: str) -> bool:
    if character < "\x7f":
        return character >= " "
    if _is_hidden(character):
        return False
    if _is_mark(character) and (not cluster or not cluster[0].isalpha() or len(cluster) > MARKS_MAX):
        return False
    # what would melt into the letter before it (e + U+0301) or into another character (K, the Kelvin sign) looks
    # exactly like that other text
    return unicodedata.is_normalized("NFC", cluster + character)


@lru_cache(maxsize=4096)
def _is_hidden(character: str) -> bool:
    return ord(character) in _ALWAYS_HIDDEN or unicodedata.category(character) in _HIDDEN_CATEGORIES


def _is_mark(character: str) -> bool:
    return character > "\u02ff" and unicodedata.category(character) in {"Mn", "Mc"}


def utf16_length(text: str) -> int:
    """Return the length of `text` in UTF-16 code units, the unit Telegram counts in."""
    return len(text) + sum(character > "\uffff" for character in text)


def fits_in_full(text: str, limit_utf16: int) -> bool:
    """Say whether the text as `visible` shows it fits into `limit_utf16` code units, so that nothing is cut (A31)."""
    return utf16_length(visible(text, multiline=True)) <= limit_utf16
