"""Which lines a patch adds, with the file and line number each has afterwards (pure).

Reads what `git diff-tree -p` writes, for ordinary commits and, in the combined form, for merges. The counts in each
hunk's head say where it ends, so that a line of a file that looks like a head is never taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_HUNK = re.compile(rb"(@@+) ((?:-\d+(?:,\d+)? )+)\+(\d+)(?:,(\d+))? @@+")
_COUNT = re.compile(rb"-\d+(?:,(\d+))?")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)", re.S)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_SIGNS = frozenset(b" +-")


class AddedLine(NamedTuple):
    """One line that a change adds. `path` and `text` may hold surrogate escapes (C08); `line` counts from 1."""

    path: str
    line: int
    text: str


def added_lines(patch: bytes) -> Iterator[AddedLine]:
    """Yield the lines that `patch` adds, in its order; of a merge those that none of its parents has.

    Binary files have no lines. What is no patch is passed over; a patch that was cut off gives what is there.
    """
    path = ""
    lines = _lines(patch)
    for line in lines:
        if line.startswith(b"+++ "):
            path = path_of(line[4:])
        elif line.startswith(b"@@") and (found := _HUNK.match(line)):
            yield from _in_hunk(lines, path, found)


def _lines(patch: bytes) -> Iterator[bytes]:
    """Yield the lines one by one: a patch can be large, and a list of its lines several times that."""
    start = 0
    while start < len(patch):
        end = patch.find(b"\n", start)
        end = len(patch) if end < 0 else end
        yield patch[start:end]
        start = end + 1


def _in_hunk(lines: Iterator[bytes], path: str, found: re.Match[bytes]) -> Iterator[AddedLine]:
    parents = len(found[1]) - 1
    before = [int(count) if count else 1 for count in _COUNT.findall(found[2])]
    number, after = int(found[3]), int(found[4]) if found[4] else 1
    while after > 0 or any(count > 0 for count in before):
        line = next(lines, None)
        if line is None:
            return
        signs = line[:parents]
        if signs.startswith(b"\\"):
            continue  # "\ No newline at end of file"
        if len(signs) < parents or not _SIGNS.issuperset(signs):
            return  # the counts were not what they said; the next head is looked for
        gone = b"-" in signs
        had = ord("-") if gone else ord(" ")  # the sign in the column of each parent that has this line
        before = [count - (sign == had) for count, sign in zip(before, signs, strict=True)]
        if gone:
            continue
        if b" " not in signs:
            yield AddedLine(path, number, line[parents:].decode("utf-8", "surrogateescape"))
        number, after = number + 1, after - 1


def path_of(name: bytes) -> str:
    """Return the path that a patch names: without `b/`, quotes and the tab that git sets after names with blanks."""
    if name.startswith(b'"'):
        inner = name[1 : name.rfind(b'"')]
        name = _ESCAPE.sub(
            lambda m: bytes([int(m[1], 8) & 0xFF]) if m[1].isdigit() else _LETTERS.get(m[1], m[1]), inner
        )
    else:
        name = name.removesuffix(b"\t")
    return name.removeprefix(b"b/").decode("utf-8", "surrogateescape")
