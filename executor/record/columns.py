"""How values stand in the columns of the record: JSON as text, results masked, text that every database can hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from executor.record.redaction import Redactor
from executor.record.schema import canonical_json

_AS_GIVEN = ("argv", "decision", "binding")  # what runs is what was given, so nothing in it is masked
_MASKED = ("result",)


def encoded(values: Mapping[str, object], redactor: Redactor) -> dict[str, object]:
    """Given values of a request by column, return them as they are written. None stays None."""
    written = dict(values)
    for name, value in values.items():
        if value is None:
            continue
        if name in _AS_GIVEN:
            written[name] = canonical_json(value)
        elif name in _MASKED:
            written[name] = canonical_json(redactor.redact_data(value))
        elif name == "output":
            written[name] = storable(redactor(str(value)))
        elif name == "reason":
            written[name] = storable(str(value))
    return written


def decoded(written: Mapping[str, Any]) -> dict[str, Any]:
    """Given a request's columns as they were read, return the values; the reverse of `encoded`."""
    values = dict(written)
    for name in (*_AS_GIVEN, *_MASKED):
        if values[name] is not None:
            values[name] = json.loads(values[name])
    values["argv"] = tuple(values["argv"])
    return values


def storable(text: str) -> str:
    """Return `text` as every database can hold it: lone surrogates and NUL are replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
