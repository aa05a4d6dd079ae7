"""A fresh index with the entries of one that an agent wrote.

The binary file is only ever read by a confined git; its entries are checked here and written into a new index, so
extensions and cached file data are left behind (a crafted index can name files outside the work tree).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Refused
from executor.git.questions import split_z
from executor.git.repository import Git

INDEX_LIMIT = 512 * 1024 * 1024  # bytes
_LINE = re.compile(r"([A-Za-z]) (\d{6}) ([0-9a-f]{40}|[0-9a-f]{64}) ([0-3])\t(.+)", re.S)
_GITLINK = "160000"
_MODES = ("100644", "100755", "120000")
_EMPTY_BLOBS = (
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)
_EMPTY_TREES = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class IndexEntry:
    mode: str
    object_id: str
    stage: int
    path: str
    skip_worktree: bool  # left out of the work tree by a sparse checkout
    assume_unchanged: bool


def list_entries(git: Git, index: Path) -> tuple[IndexEntry, ...]:
    """Return the entries of the file `index`, which may be anything. Raises Refused("index_unreadable")."""
    done = git.local(["ls-files", "--stage", "-v", "-z"], index=index, exact=True, check=False)
    if done.exit_code != 0:
        raise Refused(
            "index_unreadable",
            "git cannot read the index.",
            "Rewrite it in the plain form: git update-index --no-split-index --no-untracked-cache",
        )
    return parse_entries(done.stdout)


def parse_entries(listing: bytes) -> tuple[IndexEntry, ...]:
    """Return what `git ls-files --stage -v -z` printed. Raises Refused("index_unreadable")."""
    entries = []
    for line in split_z(listing):
        found = _LINE.fullmatch(line)
        if found is None:
            raise Refused("index_unreadable", "The index holds an entry that cannot be understood.")
        tag, mode, object_id, stage, path = found.groups()
        entries.append(IndexEntry(mode, object_id, int(stage), path, tag in "Ss", tag.islower()))
    return tuple(entries)


def gitlinks(entries: Iterable[IndexEntry]) -> tuple[str, ...]:
    """Return the paths at which there is a submodule or an embedded repository."""
    return tuple(entry.path for entry in entries if entry.mode == _GITLINK)


def check_entries(entries: Iterable[IndexEntry], *, submodules: bool = False) -> None:
    """Raise Refused("submodules") for gitlinks, unless `submodules` are allowed, and Refused("index_path") for what
    is no file of a work tree.
    """
    everything = tuple(entries)
    links = gitlinks(everything)
    if links and not submodules:
        raise Refused(
            "submodules",
            f"The index holds {len(links)} submodules or embedded repositories ({', '.join(links[:_SHOWN])}): "
            "git would start inside them, with their own configuration, on the host.",
            "Take them out of the index (git rm --cached PATH), or allow them: GATEWAY_ALLOW_SUBMODULES, "
            "which widens what is trusted (docs/settings.md).",
        )
    bad = [entry.path for entry in everything if entry.mode not in (*_MODES, _GITLINK) or not _is_inside(entry.path)]
    if bad:
        raise Refused(
            "index_path",
            f"The index names {bad[0]!r}, which is no file of the work tree.",
            "Rebuild the index from the last commit (git rm --cached PATH, or git reset), and look at who wrote it.",
        )


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    return all(part not in ("", ".", "..") and part.lower() != ".git" for part in parts)


def rebuild_index(git: Git, copied: Path, *, submodules: bool = False) -> tuple[str, ...]:
    """Fill the (absent) index of `git` with the entries of `copied`, and return the paths that were left out.

    Those are paths that were only marked as to be added (`git add -N`): the files become untracked again.
    Raises Refused as `list_entries` and `check_entries` do.
    """
    entries = list_entries(git, copied)
    check_entries(entries, submodules=submodules)
    marks = _intended(git, copied, entries)
    kept = [entry for entry in entries if entry.path not in marks]
    lines = (f"{entry.mode} {entry.object_id} {entry.stage}\t{entry.path}" for entry in kept)
    git.local(["update-index", "-z", "--index-info"], stdin=_joined(lines))
    for option, paths in (
        ("--skip-worktree", [entry.path for entry in kept if entry.skip_worktree]),
        ("--assume-unchanged", [entry.path for entry in kept if entry.assume_unchanged]),
    ):
        if paths:
            git.local(["update-index", option, "-z", "--stdin"], stdin=_joined(paths))
    return tuple(sorted(marks))


def _intended(git: Git, copied: Path, entries: tuple[IndexEntry, ...]) -> frozenset[str]:
    suspects = frozenset(entry.path for entry in entries if entry.object_id in _EMPTY_BLOBS and entry.stage == 0)
    if not suspects:
        return frozenset()
    empty_tree = _EMPTY_TREES[len(entries[0].object_id)]
    listing = ["diff-index", "--cached", "--name-only", "--no-renames", "--ita-invisible-in-index", "-z", empty_tree]
    visible = split_z(git.local(listing, index=copied, exact=True).stdout)
    return suspects.difference(visible)


def _joined(items: Iterable[str]) -> bytes:
    return "".join(f"{item}\0" for item in items).encode("utf-8", "surrogateescape")
