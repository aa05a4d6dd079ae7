"""The text of gateway.toml: how settings are put into one that is there (pure)."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping

TomlValue = str | int | list[str] | list[int]
_TABLE = re.compile(r"^[ \t]*\[")


def merged(text: str, values: Mapping[str, TomlValue | None], described: Mapping[str, str]) -> str:
    """Return the text with these top-level keys set (None takes one away); everything else stays, comments too.

    A key that is there is changed in its place; any other comes before the first table, below what `described` says
    of it. Raise ValueError where that cannot be done line by line (a value over several lines), TOMLDecodeError for
    a text that is no TOML.
    """
    wanted = {key: value for key, value in (tomllib.loads(text) | dict(values)).items() if value is not None}
    lines = text.splitlines()
    for key, value in values.items():
        if tomllib.loads(text).get(key) != value:
            line = None if value is None else f"{key} = {as_toml(value)}"
            lines = _put(lines, key, line, described.get(key, ""))
    made = "".join(f"{line}\n" for line in lines)
    try:
        done = tomllib.loads(made) == wanted
    except tomllib.TOMLDecodeError:
        done = False
    if not done:
        raise ValueError("it cannot be changed line by line")
    return made


def as_toml(value: TomlValue) -> str:
    """Return a value as TOML writes it. JSON's strings are TOML's basic strings."""
    return json.dumps(value, ensure_ascii=False)


def _put(lines: list[str], key: str, line: str | None, description: str) -> list[str]:
    first_table = next((at for at, each in enumerate(lines) if _TABLE.match(each)), len(lines))
    for at in range(first_table):
        if re.match(rf"^[ \t]*{re.escape(key)}[ \t]*=", lines[at]):
            return [*lines[:at], *([] if line is None else [line]), *lines[at + 1 :]]
    if line is None:
        return lines
    comment = [f"# {description}"] if description else []
    before, after = lines[:first_table], lines[first_table:]
    gap = [""] if before and before[-1] else []
    return [*before, *gap, *comment, line, *([""] if after else []), *after]
