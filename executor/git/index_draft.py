"""Changing the index in a copy that takes its place only once it was looked at.

`git add` may put into the index what must never be there (an embedded repository, whose own filters git would then
run). In a copy that does no harm, and a process killed half-way leaves the index as it was.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from executor.errors import Failed, Refused
from executor.git.inner_files import INDEX_BYTES, copy_inner
from executor.git.questions import index_gitlinks
from executor.git.reports import listing
from executor.git.repository import Git
from executor.git.submodules import declared_submodules


@contextmanager
def draft_index(git: Git) -> Iterator[Path]:
    """Give the path of a copy of the index; on leaving without an exception the copy becomes the index.

    Raises Refused("embedded_repository") when the copy then holds a gitlink that the index did not hold (or the index
    holds one and the host does not allow this repository to have any; where it does, a new one that `.gitmodules`
    names is a submodule and may come in), and Failed("index_locked") when somebody else
    holds or changed the index meanwhile; the index is then as before.
    """
    real, draft = git.paths.local / "index", git.paths.tmp / "index.draft"
    for leftover in (draft, draft.with_name(draft.name + ".lock")):  # of a killed process; only one worker comes here
        leftover.unlink(missing_ok=True)
    before = _identity(real)
    if before is not None:
        # With its time: git takes an entry for unchanged when it is older than the index file ("racy git").
        copy_inner(git.paths.local, "index", draft, INDEX_BYTES)
    known = index_gitlinks(git)
    if not git.submodules:
        refuse_gitlinks(known)
    try:
        yield draft
        added = set(index_gitlinks(git, draft)) - set(known)
        refuse_gitlinks(added - declared_submodules(git, draft) if added and git.submodules else added)
        if draft.exists():
            _put_in_place(git, draft, real, before)
    finally:
        draft.unlink(missing_ok=True)


def refuse_gitlinks(paths: Collection[str]) -> None:
    """Raise Refused("embedded_repository") when there are `paths` of gitlinks."""
    found = sorted(paths)
    if found:
        raise Refused(
            "embedded_repository",
            "These directories are git repositories of their own, and the gateway does not let git look into them:\n"
            + listing(found),
            "Remove the .git inside of them, or leave them out; index and branches are as before.",
        )


def _put_in_place(git: Git, draft: Path, real: Path, before: tuple[int, ...] | None) -> None:
    lock = git.paths.local / "index.lock"
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except FileExistsError as error:
        raise _meanwhile() from error
    try:
        if _identity(real) != before:
            raise _meanwhile()
        draft.rename(real)
    finally:
        lock.unlink()


def _identity(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _meanwhile() -> Failed:
    return Failed(
        "index_locked", "Another git process changed the index meanwhile; nothing was staged.", "Try again."
    )
