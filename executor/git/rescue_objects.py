"""The objects that a rescue is made of: written, and held together by one commit."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Failed
from executor.git.inner_files import INDEX_BYTES, SMALL, content_of, files_below, opened, read_inner, scratch_file
from executor.git.questions import index_tree, split_z, text
from executor.git.repository import Git
from executor.git.rescue_record import NAMESPACES, NOTE_DIRECTORIES, NOTE_FILES, NOTES_BYTES, is_note

_UNMERGED = re.compile(rb"(?:^|\0)[A-Za-z] ([0-7]{6}) ([0-9a-f]+) ([123])\t([^\0]*)")
_OBJECT_ID = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_WHO = "ops-gateway <ops-gateway@localhost>"  # kept apart from the identity that commits are made with
_FAST = ("-c", "core.looseCompression=1")


@dataclass(frozen=True, slots=True)
class ListedRef:
    """A ref that is no alias of another; `commit` is what it peels to, None where that is no commit."""

    name: str
    object_id: str
    kind: str
    commit: str | None


def list_refs(git: Git) -> tuple[ListedRef, ...]:
    """Return every ref that an operation can move."""
    fields = "%(symref)%00%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(*objecttype)"
    prefixes = [f"refs/{name}" for name in NAMESPACES]
    done = git.local(["for-each-ref", f"--format={fields}", *prefixes], exact=True)
    found = []
    for line in text(done.stdout).splitlines():
        symref, name, object_id, kind, peeled, peeled_kind = line.split("\0")
        commit = object_id if kind == "commit" else peeled if peeled_kind == "commit" else None
        if not symref:
            found.append(ListedRef(name, object_id, kind, commit))
    return tuple(found)


def read_head(git: Git) -> str:
    """Return what HEAD says: `ref: ` and a full name, or a commit. Raises Refused("git_dir_special")."""
    return text(read_inner(git.paths.local, "HEAD", SMALL) or b"").strip()


def branch_config(git: Git) -> tuple[tuple[str, str], ...]:
    """Return the `branch.*` keys of the local configuration, in order: deleting a branch takes them along."""
    done = git.local(["config", "--local", "-z", "--get-regexp", r"^branch\."], check=False, exact=True)
    pairs = (field.partition("\n")[::2] for field in split_z(done.stdout))
    return tuple((key, value) for key, value in pairs)


@dataclass(frozen=True, slots=True)
class KeptIndex:
    """An index that was stored: the file's blob, a digest of what it says, and entries that hold what it names."""

    blob: str | None
    time: int  # the file's mtime in ns
    staged: str
    entries: dict[str, str]


def keep_index(git: Git) -> KeptIndex:
    """Store the index: byte for byte, and as a tree; each side of a conflict is held by itself."""
    with opened(git.paths.local, "index") as file:
        if file is None:
            return KeptIndex(None, 0, "", {})
        content, time = content_of(file, "index", INDEX_BYTES), os.fstat(file).st_mtime_ns
    # In a copy, for git-write-tree(1) takes the index lock, which may be there for a reason.
    with scratch_file(git.paths.tmp, "rescue-index", content) as copy:
        return _kept(git, copy, content, time)


def _kept(git: Git, copy: Path, content: bytes, time: int) -> KeptIndex:
    listing = git.local(["ls-files", "--stage", "-v", "-z"], index=copy, exact=True).stdout
    entries = {"index": f"100644 blob {write_blob(git, content)}"}
    unmerged = _UNMERGED.findall(listing)
    for mode, object_id, stage, _ in unmerged:
        if mode != b"160000":
            entries[f"conflict-{text(object_id)}-{text(stage)}"] = f"{text(mode)} blob {text(object_id)}"
    if unmerged:
        gone = b"".join(path + b"\0" for _, _, _, path in unmerged)
        git.local(["update-index", "--force-remove", "-z", "--stdin"], index=copy, stdin=gone)
    tree = index_tree(git, copy)
    entries["index-tree"] = f"040000 tree {tree}"
    # The tree leaves out what is only intended to be added, which looks like an empty file in the listing.
    digest = hashlib.sha256(listing + tree.encode()).hexdigest()
    return KeptIndex(entries["index"].split(" ")[2], time, digest, entries)


def read_notes(git_dir: Path) -> dict[str, str]:
    """Return name -> content of git's files about something unfinished.

    Raises Failed where they are too large, Refused("git_dir_special") where one of them is a link or the like.
    """
    below = (path for name in NOTE_DIRECTORIES for path in files_below(git_dir, name))
    found: dict[str, str] = {}
    left = NOTES_BYTES
    for name in filter(is_note, (*NOTE_FILES, *below)):
        try:
            content = read_inner(git_dir, name, left)
        except Failed as problem:
            raise Failed(
                "notes_too_large",
                "git's files about the operation in progress are too large to keep.",
                "Finish or abort that operation first.",
            ) from problem
        if content is not None:
            found[name] = content.decode("latin-1")
            left -= len(content)
    return found


def write_blob(git: Git, content: bytes) -> str:
    """Store `content` and return the blob's id."""
    return text(git.local([*_FAST, "hash-object", "-w", "--stdin"], stdin=content).stdout).strip()


def write_commit(git: Git, tree: str, parents: Iterable[str], at: int, subject: str) -> str:
    """Store a commit and return its id. Unlike git-commit-tree(1) this knows no limit for the number of parents."""
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {_WHO} {at} +0000", f"committer {_WHO} {at} +0000", "", subject, ""]
    stdin = "\n".join(lines).encode()
    return text(git.local(["hash-object", "-t", "commit", "-w", "--stdin"], stdin=stdin).stdout).strip()


def write_tree(git: Git, entries: Mapping[str, str]) -> str:
    """Store a tree of name -> "mode type id" and return its id."""
    listing = "".join(f"{entry}\t{name}\0" for name, entry in entries.items()).encode()
    return text(git.local(["mktree", "-z"], stdin=listing).stdout).strip()


def keep_tags(git: Git, refs: Iterable[ListedRef]) -> str | None:
    """Store the annotated tag objects that refs name in one blob and return its id; no commit can hold a tag."""
    tags = [ref.object_id for ref in refs if ref.kind == "tag"]
    if not tags:
        return None
    asked = "\n".join([*tags, ""]).encode()
    return write_blob(git, git.local(["cat-file", "--batch"], stdin=asked, exact=True).stdout)


def held_by_tree(refs: Iterable[ListedRef]) -> dict[str, str]:
    """Return tree entries for the refs that lead to no commit."""
    modes = {"blob": "100644", "tree": "040000"}
    return {
        f"ref-{ref.object_id}": f"{modes[ref.kind]} {ref.kind} {ref.object_id}" for ref in refs if ref.kind in modes
    }


def held_by_parents(git: Git, refs: Iterable[ListedRef], notes: Mapping[str, str]) -> list[str]:
    """Return the commits that refs and git's notes lead to: stash entries, what a rebase started from."""
    mentioned = {found for note in notes.values() for found in _OBJECT_ID.findall(note)}
    return [*(ref.commit for ref in refs if ref.commit), *_commits_among(git, sorted(mentioned))]


def _commits_among(git: Git, object_ids: Sequence[str]) -> Iterator[str]:
    if object_ids:
        asked = "".join(f"{object_id}\n" for object_id in object_ids).encode()
        done = git.local(["cat-file", "--batch-check=%(objecttype) %(objectname)"], stdin=asked, exact=True)
        rows = (line.split(" ") for line in text(done.stdout).splitlines())
        yield from (row[1] for row in rows if row[0] == "commit")
