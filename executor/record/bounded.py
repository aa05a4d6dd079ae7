"""How much of a value an audit event holds. The log is never cut, so what an agent can put into it is. Pure.

The request's own row has the whole text until retention; the hash in the event proves what it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from executor.record.schema import canonical_json

TEXT_LIMIT = 2_000  # characters kept of one string
LIST_LIMIT = 8_000  # characters kept of one list, as JSON


def bounded(data: object) -> object:
    """Given what JSON can hold, return it with long strings and lists cut short.

    What was cut says so at its end, with the length and the SHA-256 of the whole (of a string's UTF-8, of a list's
    canonical JSON).
    """
    if isinstance(data, str):
        return data if len(data) <= TEXT_LIMIT else data[:TEXT_LIMIT] + _rest(data, len(data), "characters")
    if isinstance(data, Mapping):
        return {key: bounded(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return _bounded_list(data)
    return data


def _bounded_list(items: list[object] | tuple[object, ...]) -> list[object]:
    kept: list[object] = []
    left = LIST_LIMIT
    for item in map(bounded, items):
        left -= len(canonical_json(item)) + 1
        if left < 0:
            return [*kept, _rest(canonical_json(items), len(items), "items").lstrip()]
        kept.append(item)
    return kept


def _rest(whole: str, count: int, unit: str) -> str:
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
    return f" … [of {count} {unit} with SHA-256 {digest}]"
