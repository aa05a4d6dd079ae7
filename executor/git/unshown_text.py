"""Text in commits that no line of a patch shows: in files that git takes for binary, and in their names (pure).

UTF-16 (Windows' tools write it) is binary to git, and so is every text with one NUL in it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from executor.git.added_lines import AddedLine, path_of

SMALL_BYTES = 1024 * 1024  # of a binary file that is looked at
_NAME = rb'("b/[^\n]*"|b/[^\n]*)'  # in quotes where git has to escape something, or where it is not ASCII
_BINARY = re.compile(
    rb"^index [0-9a-f,]+\.\.([0-9a-f]{40,64})[^\n]*\n(?:[^\n]*\n){0,2}?"
    rb"Binary files (?:[^\n]* and " + _NAME + rb" )?differ$",
    re.MULTILINE,
)
# A new file that is empty has only the head of its patch, in which its name stands twice.
_NEW_NAME = re.compile(
    rb"^\+\+\+ " + _NAME + rb"|^rename to ([^\n]*)|^Binary files [^\n]* and " + _NAME + rb" differ$"
    rb'|^diff --git "?a/([^\n]+) "?b/\4\nnew file mode ',
    re.MULTILINE,
)
_READABLE = re.compile(rb"[\x20-\x7e]{12,}")
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before the shorter mark that it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 4096  # bytes


def binary_files(patch: bytes) -> dict[str, str]:
    """Return the id of each content that `patch` only calls binary, with a path that it has."""
    found = {}
    for one in _BINARY.finditer(patch):
        if one[1].strip(b"0"):
            found[one[1].decode()] = path_of(one[2]) if one[2] else "a file of a merge"
    return found


def file_names(patch: bytes) -> Iterator[AddedLine]:
    """Yield the names that files have after `patch`, each once, as lines of no file."""
    names = dict.fromkeys(path_of(next(filter(None, one.groups()))) for one in _NEW_NAME.finditer(patch))
    for name in names:
        yield AddedLine("the name of a file", 0, name)


def lines_of(path: str, content: bytes) -> Iterator[AddedLine]:
    """Yield the lines of a binary file that is text in another encoding; of others nothing."""
    encoding = _encoding(content)
    if encoding is not None:
        for number, line in enumerate(content.decode(encoding, "replace").splitlines(), 1):
            yield AddedLine(path, number, line)


def pieces_of(path: str, content: bytes) -> Iterator[AddedLine]:
    """Yield what is readable between the bytes of a binary file, as lines without a number."""
    if _encoding(content) is None:
        for piece in _READABLE.finditer(content):
            yield AddedLine(path, 0, piece[0].decode("ascii"))


def _encoding(content: bytes) -> str | None:
    """Return the encoding of text of two or four bytes a character, by its mark, or by its NULs."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    sample = content[: min(_SAMPLE, len(content) & ~1)]
    half = len(sample) // 2
    if half and sample[1::2].count(0) > half * 0.7:
        return "utf-16-le"
    if half and sample[::2].count(0) > half * 0.7:
        return "utf-16-be"
    return None
