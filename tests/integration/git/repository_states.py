"""What a repository is made of, read without the product: the measure of whether anything was lost."""

from __future__ import annotations

import os
from dataclasses import dataclass

from repos import Adopted

_NOTES = ("MERGE_HEAD", "MERGE_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "BISECT_START", "rebase-merge")


@dataclass(frozen=True)
class RepositoryState:
    """Everything that undo promises to bring back."""

    head: str
    refs: dict[str, str]
    index: str  # entries with flags and stages, and how they differ from HEAD
    files: dict[str, tuple[str, bytes]]  # path -> (kind, content or target), ignored ones left out
    unfinished: frozenset[str]
    stash: str
    follows: str


def state_of(repository: Adopted) -> RepositoryState:
    git_dir = repository.paths.local
    listing = repository.plain("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    refs = dict(line.split(" ") for line in listing)
    stash = git_dir / "logs/refs/stash"
    return RepositoryState(
        head=(git_dir / "HEAD").read_text(),
        refs={name: value for name, value in refs.items() if not name.startswith("refs/rescue/")},
        index=repository.plain("ls-files", "--stage", "-v") + repository.plain("diff", "--cached", "--raw"),
        files=files_of(repository),
        unfinished=frozenset(name for name in _NOTES if (git_dir / name).exists()),
        stash=stash.read_text() if stash.exists() else "",
        follows="\n".join(sorted(_config(repository))),
    )


def files_of(repository: Adopted) -> dict[str, tuple[str, bytes]]:
    listed = repository.plain("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    found = {}
    for name in filter(None, listed):
        path = os.path.join(repository.tree, name)
        if os.path.islink(path):
            found[name] = ("link", os.fsencode(os.readlink(path)))
        elif os.path.isfile(path):
            with open(path, "rb") as file:
                found[name] = (
                    "program" if os.access(path, os.X_OK) and os.stat(path).st_mode & 0o100 else "file",
                    file.read(),
                )
    return found


def _config(repository: Adopted) -> list[str]:
    lines = repository.plain("config", "--local", "--list").splitlines()
    return [line for line in lines if line.startswith("branch.")]
