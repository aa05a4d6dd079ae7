"""Masks secrets in every text that leaves the gateway: results, logs, the audit log, messages (C21, A25).

One function for all of them. It works on whole texts before they are encoded (a secret inside JSON is masked before
the JSON is made, so escapes cannot split it), keeps the lines as they are, and masking twice changes nothing more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from executor.record.secret_forms import FORMS, MASK, SECRET_NAME

LITERAL_MIN = 6  # characters; a shorter "secret" would mask ordinary words everywhere
_PASSES = 4  # masking one form can complete another (`://token=a/b&c@host`); in practice the second finds nothing

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# a line of a key as it stands in a file or in a diff: base64, or one of the few header lines of old formats
_KEY_LINE = re.compile(
    r"([+\- ]{0,4})(?:[A-Za-z0-9+/=]+|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\r\n]*)(?=[ \t]*\r?\n?\Z)"
)
_BLANK_LINE = re.compile(r"[+\- ]{0,4}\r?\n?\Z")
# a key on one line, its line ends written as `\n` or as blanks
_ONE_LINE_KEY = re.compile(
    r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)(?:\\[nr][A-Za-z0-9+/=]*|[ \t]+[A-Za-z0-9+/=]{40,})+"
)
# short words and object ids, most of what is masked: too short or too plain for any form (the shortest needs 22)
_PLAIN_WORD = re.compile(r"[a-z0-9_]{0,20}|[0-9a-f]{40}|[0-9a-f]{64}")
_ANY_NEEDLE = re.compile("|".join(sorted({re.escape(needle) for form in FORMS for needle in form.needles})))
_SECRET_OPTION = re.compile(r"--?[a-z0-9-]{0,64}\Z", re.I)


class Redactor:
    """Masks known forms of secrets, and the literal ones it was given.

    `literals` are secrets known at start (bot token, database password); those shorter than `LITERAL_MIN` characters
    are ignored. Each is also masked where it is percent-encoded (in an address) or escaped (inside JSON).
    """

    def __init__(self, literals: Iterable[str] = ()) -> None:
        written: set[str] = set()
        for literal in literals:
            if len(literal) >= LITERAL_MIN and literal.strip("*"):
                written |= {literal, quote(literal, safe=""), json.dumps(literal)[1:-1]}
        longest_first = sorted(written, key=lambda text: (-len(text), text))
        self._literals = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def __call__(self, text: str) -> str:
        return self.redact(text)

    def redact(self, text: str) -> str:
        """Given any text, return it with the secrets in it replaced by `***`. Never raises; linear in its length."""
        if self._literals is None and _PLAIN_WORD.fullmatch(text):
            return text
        for _ in range(_PASSES):
            masked = self._once(text)
            if masked == text:
                break
            text = masked
        return text

    def redact_data(self, data: object) -> object:
        """Given what JSON can hold, return it with every string masked; so are whole values under a telling name.

        In a list of words (an argv) the word after `--password` and its like is a value under a telling name too.
        """
        if isinstance(data, str):
            return self.redact(data)
        if isinstance(data, Mapping):
            return {self.redact(str(key)): self._named(str(key), value) for key, value in data.items()}
        if isinstance(data, list | tuple):
            return self._words(data)
        return data

    def _named(self, name: str, value: object) -> object:
        return MASK if isinstance(value, str) and value and SECRET_NAME.search(name) else self.redact_data(value)

    def _words(self, words: list[object] | tuple[object, ...]) -> list[object]:
        masked: list[object] = []
        before: object = None
        for word in words:
            is_value = (
                isinstance(before, str)
                and isinstance(word, str)
                and not word.startswith("-")
                and _SECRET_OPTION.match(before)
                and SECRET_NAME.search(before)
            )
            masked.append(MASK if is_value else self.redact_data(word))
            before = word
        return masked

    def _once(self, text: str) -> str:
        if self._literals is not None:
            text = self._literals.sub(MASK, text)
        if "PRIVATE KEY" in text:
            text = _mask_key_blocks(_ONE_LINE_KEY.sub(rf"\1{MASK}", text))
        return "\n".join(map(_mask_line, text.split("\n")))  # no other form goes over the end of a line


def _mask_line(line: str) -> str:
    lowered = line.lower()
    if _ANY_NEEDLE.search(lowered):
        for form in FORMS:
            if any(needle in lowered for needle in form.needles):
                line = form.pattern.sub(form.replacement, line)
    return line


def _mask_key_blocks(text: str) -> str:
    """Mask the lines of a private key after its first line, and before its last one when the first was cut away."""
    lines = text.splitlines(keepends=True)
    _mask_key_lines(lines, range(len(lines)), _BEGIN)
    _mask_key_lines(lines, range(len(lines) - 1, -1, -1), _END)
    return "".join(lines)


def _mask_key_lines(lines: list[str], order: range, start: re.Pattern[str]) -> None:
    inside = False
    for number in order:
        line = lines[number]
        if start.search(line):
            inside = True
        elif inside:
            if _KEY_LINE.match(line):
                lines[number] = _KEY_LINE.sub(rf"\g<1>{MASK}", line, count=1)
            inside = lines[number] != line or MASK in line or _BLANK_LINE.match(line) is not None


_PLAIN = Redactor()


def redact(text: str) -> str:
    """Mask the known forms of secrets in `text`; for the host's own literal secrets make a `Redactor`."""
    return _PLAIN.redact(text)
