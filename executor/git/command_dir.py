"""The git directory of one command on the work tree: made for it, looked at, and thrown away.

A process that may write both the work tree and a git directory can be led from one into the other: the agent puts a
link where a directory was, and what should become a file becomes a hook, a setting or a ref. The kernel cannot tell
the two ways apart. So such a process never sees the repository's own git directory, but a copy of what it needs of
it, under a name that nobody can guess. What it made there is taken over only when everything is what such a command
makes (`taking_over`), else nothing is. See docs/decisions/0008.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Failed
from executor.git.command_layout import CARRIED_DIRECTORIES, Contents, is_carried, without_idle_logs
from executor.git.foreign_copy import directory, remove_tree
from executor.git.inner_files import INDEX_BYTES, LIST_BYTES, copy_inner, read_below, read_inner
from executor.git.paths import RepositoryPaths
from executor.git.ref_files import packed, read_refs

LOCK_MARK = b"held by a command of ops-gateway\n"  # what our lock of the index says, so that a stale one is known
IndexFacts = tuple[int, int, int, int] | None  # inode, size, times; None without an index


@dataclass(frozen=True, slots=True)
class CommandDir:
    """`git_dir` is what the command gets as GIT_DIR, `tmp` where it may have scratch files.

    `before` and `index` say what was in it when it was made.
    """

    git_dir: Path
    tmp: Path
    before: Contents
    index: IndexFacts


@contextmanager
def command_dir(paths: RepositoryPaths, words: Sequence[str]) -> Iterator[CommandDir]:
    """Give a git directory for the command with these `words`: a copy of what such a command needs of `paths.local`.

    Objects stay where they are, to be read there, and reflogs that the command does not need stay behind.

    The index is locked as git itself does it, so that nobody else changes it meanwhile. Only for the one worker that
    runs this repository's operations. Raises Failed("index_locked"), and as `read_inner`.
    """
    paths.commands.mkdir(mode=0o700, exist_ok=True)
    place = paths.commands / secrets.token_hex(16)
    with _index_locked(paths), directory(paths.commands) as within:
        try:
            yield _made(paths.local, place, words)
        finally:
            if place.exists():
                remove_tree(within, place.name)


@contextmanager
def _index_locked(paths: RepositoryPaths) -> Iterator[None]:
    with directory(paths.local) as within:
        try:
            lock = os.open("index.lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=within)
        except FileExistsError as error:
            raise Failed(
                "index_locked", "Another git process holds the index; nothing was run.", "Try again."
            ) from error
        try:
            with open(lock, "wb") as file:
                file.write(LOCK_MARK)
            yield
        finally:
            os.unlink("index.lock", dir_fd=within)


def _made(local: Path, place: Path, words: Sequence[str]) -> CommandDir:
    git_dir, before = place / "git", without_idle_logs(contents_of(local), words)
    for part in (place, place / "tmp", git_dir, *(git_dir / name for name in ("objects", "refs", "logs", "info"))):
        part.mkdir(mode=0o700)
    aliases = {name: f"{value}\n".encode() for name, value in before.refs.items() if value.startswith("ref: ")}
    made = {
        "HEAD": f"{before.head}\n".encode("utf-8", "surrogateescape"),
        "config": before.config,
        "packed-refs": packed(before.refs),
        **aliases,
        **before.files,
    }
    for name, content in made.items():
        target = git_dir / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.write_bytes(content)
    if (local / "index").exists():
        # With its time: git takes an entry for unchanged when it is older than the index file ("racy git").
        copy_inner(local, "index", git_dir / "index", INDEX_BYTES)
    return CommandDir(git_dir, place / "tmp", before, index_facts(git_dir))


def contents_of(git_dir: Path) -> Contents:
    """Return what is carried to and fro between git directories, as it is in this one. Raises as `read_inner`."""
    files = {name: read_inner(git_dir, name, LIST_BYTES) or b"" for name in _at_the_top(git_dir)}
    for part in CARRIED_DIRECTORIES:
        files |= read_below(git_dir, part, LIST_BYTES)
    return Contents(
        head=(read_inner(git_dir, "HEAD", LIST_BYTES) or b"").decode("utf-8", "surrogateescape").removesuffix("\n"),
        config=read_inner(git_dir, "config", LIST_BYTES) or b"",
        refs=read_refs(git_dir),
        files={name: content for name, content in files.items() if is_carried(name)},
    )


def index_facts(git_dir: Path) -> IndexFacts:
    """Return what tells this index from every other, None where there is none."""
    try:
        found = (git_dir / "index").lstat()
    except FileNotFoundError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _at_the_top(git_dir: Path) -> list[str]:
    with directory(git_dir) as within, os.scandir(within) as entries:
        return [entry.name for entry in entries if is_carried(entry.name)]
