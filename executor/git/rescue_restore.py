"""Put the parts of a rescue back: refs, HEAD, index, git's notes, branch configuration. What to put back is decided
by `undo`; each function here does one part and none of them touches a file of the work tree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from executor.errors import Failed
from executor.git.foreign_copy import directory, write_new
from executor.git.inner_files import remove_if_empty, remove_inner, write_inner
from executor.git.repository import Git
from executor.git.rescue_objects import branch_config, keep_index, list_refs, read_head
from executor.git.rescue_record import NOTE_DIRECTORIES, Rescue, by_branch, is_note
from executor.git.transfer import update_refs
from executor.git.transfer_plan import RefChange

_REFLOG_MESSAGE = "undo"


def tags(git: Git, before: Rescue) -> None:
    """Write again the annotated tag objects that were collected since."""
    stored = git.local(["cat-file", "blob", before.tags], exact=True).stdout if before.tags else b""
    for content in _stored_objects(stored):
        git.local(["hash-object", "-t", "tag", "-w", "--stdin"], stdin=content)


def refs(git: Git, wanted: Mapping[str, str | None], now: Mapping[str, str]) -> None:
    """Move refs from where they are `now` to where they are `wanted`; None deletes one.

    Deletions go first and by themselves: a branch `a` cannot be made while there is an `a/b`.
    """
    changes = [RefChange(name, now.get(name), to) for name, to in wanted.items() if now.get(name) != to]
    update_refs(git, [change for change in changes if change.new is None], _REFLOG_MESSAGE)
    update_refs(git, [change for change in changes if change.new is not None], _REFLOG_MESSAGE)


def head(git: Git, said: str) -> None:
    """Put HEAD on the branch, or detached on the commit, that `said` names."""
    if said.startswith("refs/"):
        git.local(["symbolic-ref", "-m", _REFLOG_MESSAGE, "HEAD", said])
    else:
        git.local(["update-ref", "--no-deref", "-m", _REFLOG_MESSAGE, "HEAD", said])


def index(git: Git, before: Rescue) -> None:
    """Put the index file back byte for byte. Raises Failed("index_locked") while another git holds it."""
    content = b""
    if before.index is not None:
        content = git.local(["cat-file", "blob", before.index], exact=True).stdout
    with directory(git.paths.local) as within:
        try:
            write_new(within, "index.lock", content)  # git's own protocol: the lock is the new file
        except FileExistsError as error:
            raise Failed(
                "index_locked", "The index is locked by another git.", "Ask again when it has ended."
            ) from error
        os.utime("index.lock", ns=(before.index_time, before.index_time), dir_fd=within, follow_symlinks=False)
        if before.index is None:
            remove_inner(git.paths.local, "index")
            os.unlink("index.lock", dir_fd=within)
        else:
            os.rename("index.lock", "index", src_dir_fd=within, dst_dir_fd=within)


def notes(git: Git, before: Rescue, names: Iterable[str]) -> None:
    """Put git's own files of these `names`, about an operation in progress and about the stash, back."""
    for name in names:
        if not is_note(name):
            raise Failed("rescue_unreadable", f"{name!r} is none of git's own files.", "Look at it on the host.")
        if name in before.notes:
            write_inner(git.paths.local, name, before.notes[name].encode("latin-1"))
        else:
            remove_inner(git.paths.local, name)
    for name in NOTE_DIRECTORIES:  # an empty one still says "in progress" (C13)
        remove_if_empty(git.paths.local, name)


def config(git: Git, before: Rescue, branches: Iterable[str]) -> None:
    """Put the configuration of these `branches` back, a section each."""
    then, now = by_branch(before.config), by_branch(branch_config(git))
    for branch in branches:
        if branch in now:
            git.local(["config", "--local", "--remove-section", f"branch.{branch}"])
        for key, value in then.get(branch, ()):
            git.local(["config", "--local", "--add", f"branch.{branch}.{key}", value])


def missed(git: Git, wanted: Mapping[str, str | None], said: str | None, whose_index: Rescue | None) -> list[str]:
    """Return what, read back, is not as it was to be."""
    there = {ref.name: ref.object_id for ref in list_refs(git)}
    found = [name for name, to in wanted.items() if there.get(name) != to]
    if said is not None and read_head(git).removeprefix("ref: ") != said:
        found.append("HEAD")
    if whose_index is not None and whose_index.staged != keep_index(git).staged:
        found.append("the index")
    return found


def _stored_objects(batch: bytes) -> Iterator[bytes]:
    """Return the contents in the output of `git cat-file --batch`."""
    place = 0
    while place < len(batch):
        end = batch.index(b"\n", place)
        size = int(batch[place:end].split(b" ")[2])
        yield batch[end + 1 : end + 1 + size]
        place = end + 1 + size + 1
