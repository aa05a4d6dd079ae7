"""What text may come near git and an operator's eye: nothing hidden in it, no letters that pass for others (pure)."""

from __future__ import annotations

import re
import unicodedata

from executor.errors import Refused

# Categories that have no glyph of their own: control, format (bidi, zero width, tags), surrogates, line separators.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Drawn as nothing although their category says letter, mark or symbol: fillers, the grapheme joiner, blank Braille.
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_EMOJI_STYLE = frozenset("\ufe0e\ufe0f")
_JOINERS = frozenset("\u200c\u200d")
_JOINED_SCRIPTS_FROM = 0x0590  # scripts that need joiners, and all emoji, lie beyond Latin, Greek and Cyrillic
# Scripts that are written together, and whose letters do not pass for Latin ones.
_EAST_ASIAN = frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"})
# Latin letters of phonetic alphabets (script g, small capitals, clicks): of use in no name, alike to plain ones.
_PHONETIC = re.compile("[\u01c0-\u01c3\u0250-\u02af\u1d00-\u1dbf\ua720-\ua7ff]")
# Letters of other scripts that a reader takes for Latin ones; a name made only of these is a disguise. Small letters
# that look like capitals (в, м, н, т) are not among them: `тест` is a word.
_DISGUISES = frozenset("аеіѕјкорсԁухһԛԝӏԍᴦАВЕЅІЈКМНОРСТУХԌԚԜαιονρυϲϳκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")


def hidden_character(text: str, *, lines: bool = False) -> str | None:
    """Return the first character of `text` that a reader would not see, or None.

    With `lines` the text is prose (a message): newlines, tabs, and the invisible parts of emoji and of scripts that
    need joiners belong to it. Unassigned and private characters are not hidden: they are drawn as a box.
    """
    if text.isascii() and text.isprintable():
        return None
    for index, character in enumerate(text):
        if _is_hidden(character) and not (lines and _belongs(text, index)):
            return character
    return None


def _is_hidden(character: str) -> bool:
    point = ord(character)
    return (
        unicodedata.category(character) in _HIDDEN_CATEGORIES
        or character in _BLANKS
        or 0xFE00 <= point <= 0xFE0F  # variation selectors can carry a message of their own
        or 0xFFF0 <= point <= 0xFFF8  # ignorable, not assigned
        or 0xE0000 <= point <= 0xE0FFF
        or point & 0xFFFE == 0xFFFE  # noncharacters
    )


def _belongs(text: str, index: int) -> bool:
    """Whether an invisible character of prose has an honest use where it stands."""
    character = text[index]
    if character in "\n\t":
        return True
    before = text[index - 1] if index else ""
    after = text[index + 1 : index + 2]
    if character in _EMOJI_STYLE:
        return bool(before) and not before.isspace() and not (before.isascii() and before.isalpha())
    if character in _JOINERS:
        return all(side and ord(side) >= _JOINED_SCRIPTS_FROM and side not in _JOINERS for side in (before, after))
    return False


def describe_character(character: str) -> str:
    """Return the name by which a person can look it up: `U+200B ZERO WIDTH SPACE`."""
    return f"U+{ord(character):04X} {unicodedata.name(character, '(no name)')}"


def require_visible(text: str, what: str, *, lines: bool = False) -> None:
    """Raise Refused("hidden_characters") if `text`, called `what` in the message, holds any."""
    found = hidden_character(text, lines=lines)
    if found is not None:
        raise Refused(
            "hidden_characters",
            f"{what} holds a character that cannot be seen: {describe_character(found)}",
            "write it with visible characters only",
        )


def disguise(name: str) -> str | None:
    """Return why `name` (of a branch, tag or remote) could be read as another one, or None.

    A name wholly in one script is fine, whatever the script: `größe`, `функция`, `機能/ログイン`.
    """
    if name.isascii():
        return None
    if unicodedata.normalize("NFKC", name) != name:
        return "it is written with look-alike or decomposed characters"
    for character in name:
        if not character.isascii() and unicodedata.category(character)[0] not in "LMNC":
            if unicodedata.category(character) in {"So", "Sk"}:
                continue
            return f"{describe_character(character)} passes for another character"
    if _PHONETIC.search(name):
        return f"{describe_character(_PHONETIC.search(name)[0])} passes for another letter"  # type: ignore[index]
    return next((why for why in map(_disguised_run, _letter_runs(name)) if why), None)


def _letter_runs(name: str) -> list[str]:
    """Return the stretches of letters in `name`; `feature/функция-x` has three."""
    marked = "".join(c if unicodedata.category(c)[0] in "LM" else " " for c in name)
    return marked.split()


def _disguised_run(run: str) -> str | None:
    scripts = {_script(c) for c in run if unicodedata.category(c)[0] == "L"}
    if len(scripts) > 1 and not scripts <= _EAST_ASIAN:
        return f"{run!r} mixes {' and '.join(sorted(s.capitalize() for s in scripts))} letters"
    if not run.isascii() and set(run) <= _DISGUISES:
        return f"{run!r} consists of {scripts.pop().capitalize()} letters that look like Latin ones"
    return None


def _script(letter: str) -> str:
    """Return the script of a letter, read from its Unicode name (the standard library has no script property)."""
    first = re.split("[ -]", unicodedata.name(letter, "UNKNOWN"), maxsplit=1)[0]
    return "CJK" if first == "IDEOGRAPHIC" else first
