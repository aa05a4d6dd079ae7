"""Judges the parameters of a call by the schema of the Bot API (schema.json): none unknown, missing or misshapen."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

_SCHEMA = json.loads((Path(__file__).parent / "schema.json").read_text())
METHODS: Mapping[str, Mapping[str, Mapping[str, Any]]] = _SCHEMA["methods"]
_TYPES: Mapping[str, Mapping[str, Mapping[str, Any]]] = _SCHEMA["types"]
_INTEGER = re.compile(r"-?[0-9]{1,19}\Z")
_LIMIT = re.compile(r"([0-9]+)-([0-9]+) (characters|bytes)")
_AFTER_PARSING = "after entities parsing"  # such a limit is for the text without its tags: markup.py


class BadCall(Exception):
    """The call breaks the schema: what a strict reader of the documentation would refuse."""


def decode(method: str, fields: Mapping[str, str], files: Collection[str]) -> dict[str, Any]:
    """Given the form fields and the names of the files of a call, return its parameters; raise BadCall."""
    known = METHODS[method]
    values: dict[str, Any] = {}
    for name, text in fields.items():
        if name not in known:
            raise BadCall(f"{method} has no parameter {name}")
        values[name] = _decoded(f"{method}.{name}", known[name], text, files)
    for name in files:
        if name in known and "InputFile" in known[name]["type"]:
            values[name] = f"attach://{name}"
        elif f"attach://{name}" not in values.values():
            raise BadCall(f"{method} was sent a file {name} that nothing names")
    _complete(method, known, values)
    return values


def _decoded(path: str, spec: Mapping[str, Any], text: str, files: Collection[str]) -> Any:
    if spec["type"] == "String":
        value: Any = text
    elif spec["type"] == "InputFile or String":
        if text.startswith("attach://") and text.removeprefix("attach://") not in files:
            raise BadCall(f"{path} names a file that was not sent")
        return text
    elif spec["type"] == "Integer or String":
        value = int(text) if _INTEGER.match(text) else text
    else:
        try:
            value = json.loads(text)
        except ValueError:
            raise BadCall(f"{path} is not JSON") from None
    _check(path, spec, value)
    return value


def _check(path: str, spec: Mapping[str, Any], value: Any) -> None:
    kinds = spec["type"].split(" or ")
    if len(kinds) > 1 and isinstance(value, dict):  # of several, the one that has all it needs
        kinds = [kind for kind in kinds if all(name in value for name in _required(kind))]
    if not any(_is(path, kind, value) for kind in kinds):
        raise BadCall(f"{path} is no {spec['type']}")
    limit = _LIMIT.match(spec.get("limit", ""))
    if limit and _AFTER_PARSING not in spec["limit"] and isinstance(value, str):
        size = len(value.encode()) if limit[3] == "bytes" else len(value)
        if not int(limit[1]) <= size <= int(limit[2]):
            raise BadCall(f"{path} is {size} {limit[3]}, not {spec['limit']}")


def _is(path: str, kind: str, value: Any) -> bool:
    if kind.startswith("Array of "):
        inner = {"type": kind.removeprefix("Array of ")}
        if not isinstance(value, list):
            return False
        for number, item in enumerate(value):
            _check(f"{path}[{number}]", inner, item)
        return True
    if kind in _TYPES:
        if not isinstance(value, dict):
            return False
        for name, item in value.items():
            if name not in _TYPES[kind]:
                raise BadCall(f"{path} has no field {name}")
            _check(f"{path}.{name}", _TYPES[kind][name], item)
        _complete(path, _TYPES[kind], value)
        return True
    if kind == "Integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, {"String": str, "Boolean": bool}.get(kind, ()))


def _required(kind: str) -> list[str]:
    return [name for name, spec in _TYPES.get(kind, {}).items() if spec["required"]]


def _complete(path: str, known: Mapping[str, Mapping[str, Any]], values: Mapping[str, Any]) -> None:
    for name, spec in known.items():
        if spec["required"] and name not in values:
            raise BadCall(f"{path} lacks {name}")
