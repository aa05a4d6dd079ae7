"""The text of an env file: what may stand in it, and how settings are put into one that is there (pure).

Four programs read such files, each in its own way: systemd (EnvironmentFile=), docker (--env-file), compose and
python-dotenv. They agree on `NAME=value` with a plain value and on comments on lines of their own; what one of them
would read otherwise is refused here rather than quoted.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping

from dotenv.parser import parse_stream

_LINE = r"^[ \t]*(?:export[ \t]+)?{name}[ \t]*="
_EXAMPLE = r"^#[ \t]?{name}="  # a setting that stands there as a comment, as in .env.example


def problem(value: str) -> str | None:
    """Return why `value` cannot stand in an env file so that all read it alike; None if it can."""
    if any(not character.isprintable() for character in value):
        return "it holds a character that is not printable"
    if value != value.strip():
        return "it begins or ends with a space"
    if found := re.search(r"[\"'`\\$]", value):
        return f"it holds {found[0]}, which some readers of env files take for a sign of theirs"
    if value.startswith("#") or re.search(r"\s#", value):
        return "it holds a # that some readers take for the beginning of a comment"
    return None


def assignments(text: str) -> dict[str, str]:
    """Return the variables that the text sets; of several of the same name the last counts."""
    return {each.key: each.value or "" for each in parse_stream(io.StringIO(text)) if each.key}


def merged(text: str, values: Mapping[str, str], described: Mapping[str, str]) -> str:
    """Return the text with these variables set; everything else in it stays, comments too.

    A variable that is there is changed in its place; one that stands there as a commented example is put below it;
    any other comes at the end, below what `described` says of it. Raise ValueError where a line cannot be changed
    without changing others (a value over several lines).
    """
    wanted = assignments(text) | dict(values)
    lines = text.splitlines()
    for name, value in values.items():
        if assignments("\n".join(lines)).get(name) == value:
            continue
        lines = _put(lines, name, f"{name}={value}", described.get(name, ""))
    made = "".join(f"{line}\n" for line in lines)
    if assignments(made) != wanted:
        raise ValueError("it cannot be changed line by line")
    return made


def _put(lines: list[str], name: str, line: str, description: str) -> list[str]:
    set_at = [at for at, each in enumerate(lines) if re.match(_LINE.format(name=re.escape(name)), each)]
    if set_at:
        kept = [each for at, each in enumerate(lines) if at not in set_at[:-1]]
        at = set_at[-1] - len(set_at[:-1])
        return [*kept[:at], line, *kept[at + 1 :]]
    for at, each in enumerate(lines):
        if re.match(_EXAMPLE.format(name=re.escape(name)), each):
            return [*lines[: at + 1], line, *lines[at + 1 :]]
    gap = [""] if lines and lines[-1] else []
    return [*lines, *gap, *([f"# {description}"] if description else []), line]
