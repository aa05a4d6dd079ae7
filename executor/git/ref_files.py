"""Refs read from the files of a git directory, without starting git and without following a link.

The format is that of gitrepository-layout(5): a file for each ref, and `packed-refs` for those that have none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from executor.errors import Failed
from executor.git.foreign_copy import directory
from executor.git.inner_files import LIST_BYTES, SMALL, read_below, read_inner

_VALUE = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|ref: refs/[^\n]+")
_PACKED = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64}) (refs/[^\n]+)")


def read_refs(git_dir: Path, *, without: str = "refs/rescue/") -> dict[str, str]:
    """Return every ref by its full name: its object id, or `ref: ` and the name that it stands for.

    Those of `without`, a directory directly below refs/, are left out. Raises Failed("refs_unreadable") for what git
    would not have written, and as `read_inner`.
    """
    found = dict(_packed(read_inner(git_dir, "packed-refs", LIST_BYTES) or b""))
    for name, content in _loose(git_dir, without):
        value = _text(content).removesuffix("\n")
        if not _VALUE.fullmatch(value):
            raise _unreadable(name)
        found[name] = value
    return {name: value for name, value in found.items() if not name.startswith(without)}


def packed(refs: Mapping[str, str]) -> bytes:
    """Return the content of a packed-refs file with those of `refs` that are object ids."""
    lines = (f"{value} {name}\n" for name, value in sorted(refs.items()) if not value.startswith("ref: "))
    return "".join(lines).encode("utf-8", "surrogateescape")


def _loose(git_dir: Path, without: str) -> Iterator[tuple[str, bytes]]:
    """Yield the refs that have files of their own; `without` is not even entered, it can be large."""
    with directory(git_dir) as top, directory("refs", top) as within, os.scandir(within) as entries:
        kinds = [(f"refs/{entry.name}", entry.is_dir(follow_symlinks=False)) for entry in entries]
    for kind, has_more in kinds:
        if not has_more:
            yield kind, read_inner(git_dir, kind, SMALL) or b""
        elif f"{kind}/" != without:
            yield from read_below(git_dir, kind, SMALL).items()


def _packed(listing: bytes) -> Iterator[tuple[str, str]]:
    for line in _text(listing).split("\n"):
        if line and not line.startswith(("#", "^")):  # the header; what the annotated tag above leads to
            entry = _PACKED.fullmatch(line)
            if entry is None:
                raise _unreadable("packed-refs")
            yield entry[2], entry[1]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _unreadable(name: str) -> Failed:
    return Failed("refs_unreadable", f"{name!r} in the git directory holds no ref that git would write.")
