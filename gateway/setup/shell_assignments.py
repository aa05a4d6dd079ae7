"""Variables of a shell script, read without running it (pure).

Understood is `NAME=WORD`, also after export, readonly, local or declare, where WORD is plain text, quoted text, and
`$NAME`, `${NAME}`, `${NAME:-default}` of what the script itself set before. Anything that a shell would have to
compute (`$(...)`, backquotes, arithmetic, arrays, other expansions, `~`) is named as not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

LIMIT_BYTES = 256 * 1024
_LIMIT_LINES = 5_000
_LIMIT_DEPTH = 8  # of defaults inside of defaults
_VALUE_CHARACTERS = 4_096

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BEGINS = re.compile(
    r"[ \t]*(?:(?:export|readonly|local|declare|typeset)[ \t]+(?:-[A-Za-z]+[ \t]+)*)?([A-Za-z_]\w*)="
)
_NEXT = re.compile(r"[ \t]*;?[ \t]*([A-Za-z_]\w*)=")
_ENDS = re.compile(r"[ \t]*(?:[;#].*|&&.*|\|\|.*)?")
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1")


class _Computed(Exception):
    """A word that only a shell could work out."""


@dataclass(frozen=True, slots=True)
class Assignments:
    """What a script sets, by name; and the names that it sets to what was not understood, with why."""

    values: dict[str, str] = field(default_factory=dict)
    not_understood: dict[str, str] = field(default_factory=dict)


def read_assignments(text: str) -> Assignments:
    """Given a script, return its variables. One that is set twice to different values counts as not understood.

    Raise ValueError for more than LIMIT_BYTES, or too many lines.
    """
    lines = text.splitlines()
    if len(text.encode("utf-8", "surrogateescape")) > LIMIT_BYTES or len(lines) > _LIMIT_LINES:
        raise ValueError(f"it is longer than {LIMIT_BYTES} bytes or {_LIMIT_LINES} lines")
    found = Assignments()
    for line in _code(lines):
        at = 0
        begins = _BEGINS.match(line)
        while begins is not None:
            at = _assign(found, begins[1], line, begins.end())
            begins = _NEXT.match(line, at) if at >= 0 else None
    return found


def _code(lines: list[str]) -> Iterator[str]:
    """Yield the lines that are code: no here-documents; a line that ends with a backslash goes on in the next."""
    until, held = "", ""
    for line in lines:
        if until:
            until = "" if line.strip() == until else until
            continue
        if line.endswith("\\"):
            held += line[:-1]
            continue
        whole, held = held + line, ""
        if found := _HEREDOC.search(whole):
            until = found[2]
        yield whole


def _assign(found: Assignments, name: str, line: str, at: int) -> int:
    """Note what `name` is set to by the word at `at`; return where it ends, or -1 where the line is given up."""
    try:
        value, end = _word(line, at, found, 0)
    except _Computed as why:
        found.values.pop(name, None)
        found.not_understood[name] = str(why)
        return -1
    if not _ENDS.fullmatch(line, end) and not _NEXT.match(line, end):
        return -1  # `NAME=value command`: for that command alone
    if found.values.get(name, value) != value:
        del found.values[name]
        found.not_understood[name] = "it is set more than once, to different values"
    elif name not in found.not_understood:
        found.values[name] = value
    return end


def _word(line: str, at: int, known: Assignments, depth: int, closing: str = "") -> tuple[str, int]:
    """Return the value of the word at `at` and where it ends; inside of `${...:-` it ends before `closing`."""
    said: list[str] = []
    quoted = False
    if line[at : at + 1] in ("~", "("):
        raise _Computed("`~` is the home of whoever runs it" if line[at] == "~" else "it is an array")
    while at < len(line):
        character = line[at]
        if character == "'" and not quoted:
            end = line.find("'", at + 1)
            if end < 0:
                raise _Computed("its quotes end on another line")
            said.append(line[at + 1 : end])
            at = end + 1
        elif character == '"':
            quoted, at = not quoted, at + 1
        elif character == "\\" and at + 1 < len(line):
            keep = quoted and line[at + 1] not in '"\\$`'
            said.append(line[at : at + 2] if keep else line[at + 1])
            at += 2
        elif character == "`" or line.startswith("$(", at):
            raise _Computed("a command works it out")
        elif character == "$":
            value, at = _expansion(line, at, known, depth)
            said.append(value)
            if sum(map(len, said)) > _VALUE_CHARACTERS:
                raise _Computed("it is too long")
        elif not quoted and (character == closing or (not closing and character in " \t;#&|<>()")):
            if character in "#" and said and line[at - 1] not in " \t":
                said.append(character)
                at += 1
                continue
            return "".join(said), at
        else:
            said.append(character)
            at += 1
    if quoted or closing:
        raise _Computed("its quotes end on another line")
    return "".join(said), at


def _expansion(line: str, at: int, known: Assignments, depth: int) -> tuple[str, int]:
    """Return what the `$` at `at` stands for, and where that ends."""
    braced = line.startswith("${", at)
    name = _NAME.match(line, at + (2 if braced else 1))
    if name is None:
        raise _Computed("a shell works it out")
    if name[0] in known.not_understood:
        raise _Computed(f"it depends on ${name[0]}, which is not understood")
    end = name.end()
    if not braced or line[end : end + 1] == "}":
        if name[0] not in known.values:
            raise _Computed(f"it depends on ${name[0]}, which the script does not set plainly")
        return known.values[name[0]], end + braced
    if not line.startswith((":-", "-"), end) or depth >= _LIMIT_DEPTH:
        raise _Computed("a shell works it out")
    start = end + (2 if line[end] == ":" else 1)
    default, stop = _word(line, start, known, depth + 1, closing="}")
    set_before = known.values.get(name[0])
    takes_default = set_before is None or (set_before == "" and line[end] == ":")
    return default if takes_default or set_before is None else set_before, stop + 1
