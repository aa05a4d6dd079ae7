"""Which added lines seem to hold a secret: detect-secrets' detectors, and what keeps them quiet on ordinary changes.

Two grades. A *token* carries its kind in itself (`ghp_…`, `AKIA…`, a private key): it counts in every file, unless it
says that it is an example or is made of a row of letters. A *likely* secret is a value under a telling name or a
random-looking string: it counts only where it looks random, and never in lock files, generated files and tests,
where hashes and made-up passwords are the rule.

No detector is asked to verify anything: only their patterns are used, which cannot reach a network. What is found is
told by kind and place, never by value. This is a net for accidents: who wants to hide a secret, can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from executor.git.added_lines import AddedLine
from executor.git.secret_signs import (
    KeyWatch,
    chunks,
    has_password_in_address,
    is_environment,
    is_example,
    is_generated,
    is_test,
    looks_random,
    may_hold_secret,
    named_values_in,
    row_of_characters,
    setting_in,
    token_forms_in,
)

if TYPE_CHECKING:
    from executor.git.secret_detectors import Detectors

BYTES_LIMIT = 4 * 1024 * 1024  # characters of added lines that are looked at
FINDINGS_LIMIT = 50
LINE_LIMIT = 1_000  # characters; in longer lines (minified, data) only tokens are looked for
INCOMPLETE = "not scanned in full"


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """Where a secret seems to be, and of what kind. `path` is empty for INCOMPLETE, `line` 0 where there are none."""

    path: str
    line: int
    kind: str

    def words(self) -> str:
        place = f" (line {self.line})" if self.line else ""
        return f"{self.kind} in {self.path}{place}" if self.path else self.kind


def secrets_in(
    lines: Iterable[AddedLine], limit: int = BYTES_LIMIT, *, pieces: Iterable[AddedLine] = ()
) -> tuple[SecretFinding, ...]:
    """Return the findings, tokens first, at most `FINDINGS_LIMIT` and one for each line.

    `pieces` are no lines of text (names, what is readable in a binary file): only tokens are looked for in them.
    Where there are more, or more than `limit` characters, the last finding is of kind INCOMPLETE.
    """
    tokens: dict[tuple[str, int], str] = {}
    likely: dict[tuple[str, int], str] = {}
    keys = KeyWatch()
    seen = 0
    for path, number, text in pieces:
        seen += len(text) + 1
        if seen <= limit and may_hold_secret(text) and (kind := next(_tokens_in(text), None)):
            tokens.setdefault((path, number), kind)
    complete = seen <= limit
    for path, number, text in lines:
        seen += len(text) + 1
        if seen > limit or len(tokens) >= FINDINGS_LIMIT:
            complete = False
            break
        if begun_at := keys.follow(path, number, text):
            tokens.setdefault((path, begun_at), "private key")
        if not may_hold_secret(text):
            continue
        if kind := next(_tokens_in(text), None):
            tokens.setdefault((path, number), kind)
        elif len(likely) <= FINDINGS_LIMIT and (kind := _likely_in(path, text)):
            likely.setdefault((path, number), kind)
    found = [SecretFinding(*place, kind) for place, kind in tokens.items()]
    found += [SecretFinding(*place, kind) for place, kind in likely.items() if place not in tokens]
    unfinished = [] if complete and len(found) <= FINDINGS_LIMIT else [SecretFinding("", 0, INCOMPLETE)]
    return (*found[:FINDINGS_LIMIT], *unfinished)


def _tokens_in(text: str) -> Iterator[str]:
    detectors = _detectors()
    for piece in chunks(text):
        for kind, value in detectors.tokens(piece):
            if not (is_example(value) or row_of_characters(value)):
                yield kind
        yield from token_forms_in(piece)


def _likely_in(path: str, text: str) -> str | None:
    if len(text) > LINE_LIMIT or is_generated(path) or is_test(path):
        return None
    if has_password_in_address(text):
        return "a password in an address"
    if is_environment(path) and (value := setting_in(text)) and not is_example(value):
        return "a value under a secret's name"
    detectors = _detectors()
    named = chain(detectors.named_values(path, text), named_values_in(text))
    if any(looks_random(value) and not is_example(value) for value in named):
        return "a value under a secret's name"
    if any(not is_example(value) for value in detectors.random_strings(text)):
        return "a random-looking string"
    return None


@cache
def _detectors() -> Detectors:
    # Imported here: it takes a tenth of a second and brings an HTTP client, which a push without news never needs.
    from executor.git.secret_detectors import Detectors

    return Detectors()
