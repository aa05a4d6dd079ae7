"""Going through a git directory that an agent wrote, once to plan and once more to copy."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from executor.errors import Refused
from executor.git.config_scrub import Dropped
from executor.git.foreign_copy import Found, Kind, read_file, walk
from executor.git.git_dir_layout import (
    Treatment,
    clean_packed_refs,
    clean_ref,
    clean_reflog,
    clean_shallow,
    clean_text,
    treatment,
)

TEXT_LIMIT = 1024 * 1024  # bytes of a configuration or a file of ignore patterns
LIST_LIMIT = 64 * 1024 * 1024  # bytes of a reflog or of packed-refs
_REF_LIMIT = 4096
_NAMED_REFS = 200  # packed refs that are left out, each by its name; more are counted
_NO_REF = "holds no object id, or is an alias of another ref"
_ESSENTIAL = ("HEAD", "config", "index", "objects", "packed-refs", "refs", "shallow")


@dataclass(frozen=True, slots=True)
class Item:
    """One regular file and what becomes of it: `content` is what is written for it, where that is known by now."""

    found: Found
    treatment: Treatment
    content: bytes | None = None


@dataclass(slots=True)
class Survey:
    """What a git directory holds. `size` (bytes) and `files` count what is carried over."""

    top: set[str] = field(default_factory=set)
    dropped: list[Dropped] = field(default_factory=list)
    configs: dict[str, bytes] = field(default_factory=dict)
    worktrees: list[str] = field(default_factory=list)
    head: bytes | None = None
    promisor: bool = False
    lfs: bool = False
    size: int = 0
    files: int = 0
    fingerprint: str = ""


def _ignore(_: Item) -> None:
    pass


def survey(git_dir: int, sink: Callable[[Item], None] = _ignore) -> Survey:
    """Walk the git directory and return what it holds; each regular file is handed to `sink` as it is met.

    Raises Refused: `git_dir_special` when a part that cannot be left out is a link, a FIFO or the like, and what
    `foreign_copy` raises.
    """
    result = Survey()
    digest = hashlib.sha256()
    for found in walk(git_dir):
        _add_to(digest, found)
        _note_place(result, found)
        if found.kind is Kind.FILE:
            _take(result, found, sink)
        elif found.kind is not Kind.DIRECTORY:
            _leave_out(result, found)
    result.fingerprint = digest.hexdigest()
    return result


def fingerprint(git_dir: int) -> str:
    """Return what `survey(git_dir).fingerprint` would be: it differs when anything but an object was changed."""
    digest = hashlib.sha256()
    for found in walk(git_dir):
        _add_to(digest, found)
    return digest.hexdigest()


def _add_to(digest: hashlib._Hash, found: Found) -> None:
    # Objects that nothing refers to come and go; everything that refers to them is in the digest.
    if not found.path.startswith("objects/"):
        digest.update(os.fsencode(found.path) + f"\0{found.kind}{found.identity}\0".encode())


def _note_place(result: Survey, found: Found) -> None:
    top, _, rest = found.path.partition("/")
    if not rest:
        result.top.add(top)
    elif top == "worktrees" and "/" not in rest:
        result.worktrees.append(rest)
    elif found.path.startswith("objects/pack/") and found.name.endswith(".promisor"):
        result.promisor = True
    result.lfs = result.lfs or top == "lfs"


def _leave_out(result: Survey, found: Found) -> None:
    if found.path.split("/")[0] in _ESSENTIAL:
        raise Refused(
            "git_dir_special",
            f"{found.path!r} in the git directory is a {found.kind}: git would read, write or wait elsewhere.",
            "Somebody tampered with it. Look at it, and restore that part, or adopt a fresh clone.",
        )
    result.dropped.append(Dropped(found.path, f"a {found.kind}"))


def _take(result: Survey, found: Found, sink: Callable[[Item], None]) -> None:
    kind, why = treatment(found.path)
    content: bytes | None = None
    if kind is Treatment.CONFIG:
        content = result.configs[found.path] = read_file(found.directory, found.name, TEXT_LIMIT)
    elif kind not in (Treatment.DROP, Treatment.DERIVED, Treatment.INDEX, Treatment.OBJECT, Treatment.PACK):
        content, why = _refs(result, found) if kind is Treatment.PACKED_REFS else _checked(kind, found)
        if content is None:
            kind = Treatment.DROP
    if kind is Treatment.HEAD:
        result.head = content
    if why:
        result.dropped.append(Dropped(found.path, why))
    if kind not in (Treatment.DROP, Treatment.DERIVED, Treatment.CONFIG):
        result.size += found.size
        result.files += 1
    sink(Item(found, kind, content))


def _refs(result: Survey, found: Found) -> tuple[bytes, str]:
    """Return the packed refs that are carried over, and what is wrong with the rest; refs left out are named."""
    content, bad, left_out = clean_packed_refs(read_file(found.directory, found.name, LIST_LIMIT))
    for name in left_out[:_NAMED_REFS]:
        result.dropped.append(Dropped(name, treatment(name)[1]))
    if len(left_out) > _NAMED_REFS:
        result.dropped.append(Dropped(found.path, f"{len(left_out) - _NAMED_REFS} more refs of such names"))
    return content, f"{bad} lines that are no {Treatment.PACKED_REFS}" if bad else ""


def _checked(kind: Treatment, found: Found) -> tuple[bytes | None, str]:
    """Return what is written for a file that is carried by content (None: nothing), and what is left out of it."""
    if kind in (Treatment.HEAD, Treatment.REF):
        if found.size > _REF_LIMIT:
            return None, _NO_REF
        ref = clean_ref(read_file(found.directory, found.name, _REF_LIMIT), found.path)
        return ref, "" if ref is not None else _NO_REF
    if kind is Treatment.REFLOG:
        content, bad = clean_reflog(read_file(found.directory, found.name, LIST_LIMIT))
        return content, f"{bad} lines that are no {kind}" if bad else ""
    if kind is Treatment.SHALLOW:
        shallow = clean_shallow(read_file(found.directory, found.name, LIST_LIMIT))
        return shallow, "" if shallow is not None else "holds something else than object ids"
    if found.links > 1:
        return None, "has a second name (hard link), so it may be a file from elsewhere"
    patterns = clean_text(read_file(found.directory, found.name, TEXT_LIMIT))
    return patterns, "" if patterns is not None else "is no text"
