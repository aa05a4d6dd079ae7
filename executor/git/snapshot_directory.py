"""A second git directory over the same objects, in which a file is stored exactly as it lies there.

git's own index cannot be used for that: with attributes that an agent writes (`text`, `eol`, `ident`,
`working-tree-encoding`) what `git add` stores is not what lies in the file. This directory's `info/attributes`, which
beats every file in the tree (gitattributes(5)), switches conversion off. Its index is a cache: it knows what was seen
last, so that only what changed since is read again. Losing the directory costs time, nothing else.

It lies where git processes write that can be led astray by the work tree. So it is used only as it was left: what it
holds is compared with what is written here, and the index with its seal outside; otherwise it is made anew.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from executor.errors import Problem
from executor.git.failures import failure
from executor.git.foreign_copy import directory as opened_directory
from executor.git.foreign_copy import remove_tree, walk
from executor.git.git_dirs import write_private
from executor.git.inner_files import SMALL, opened, read_inner, remove_inner, write_inner
from executor.git.questions import text
from executor.git.repository import Git
from executor.policy.model import Contact

_RAW = "* -text -ident -filter !eol !working-tree-encoding\n"
# Windows' and macOS' notions of a forbidden name make git skip files in silence; these never leave this host.
EVERY_NAME = ("-c", "core.protectNTFS=false", "-c", "core.protectHFS=false")
_NAMES = frozenset({"HEAD", "config", "index", "index.lock", "info", "info/attributes", "info/exclude", "refs"})
_FAST = ("-c", "core.looseCompression=1")


def directory(git: Git) -> Path:
    """Return where the second git directory is; its index is `index` in it."""
    return git.paths.tmp / "snapshot.git"


def environment(git: Git) -> dict[str, str]:
    """Return the variables that make git use it."""
    return {"GIT_DIR": str(directory(git)), "GIT_OBJECT_DIRECTORY": str(git.paths.objects)}


def prepare(git: Git) -> None:
    """Make the directory where there is none or not the one that was left, and give it what is ignored now."""
    place = directory(git)
    files = _files(git)
    if not _is_as_left(git, files):
        _remove(git.paths.tmp, place.name)
        place.mkdir(mode=0o700)
        (place / "refs").mkdir(mode=0o700)
        for name, content in files.items():
            write_inner(place, name, content)
    remove_inner(place, "index.lock")  # left by a killed git; only one worker comes here
    write_inner(place, "info/exclude", read_inner(git.paths.local, "info/exclude", SMALL) or b"")


def seal(git: Git) -> None:
    """Remember the index as it is now, after a look at the work tree that could not write there."""
    write_private(_seal(git), _index_identity(git).encode())


def _files(git: Git) -> dict[str, bytes]:
    """Return the files that make the directory, with their contents."""
    kind = text(git.local(["rev-parse", "--show-object-format"]).stdout).strip()
    version = 0 if kind == "sha1" else 1
    extension = "" if kind == "sha1" else f"[extensions]\n\tobjectFormat = {kind}\n"
    return {
        "info/attributes": _RAW.encode(),
        "config": f"[core]\n\trepositoryFormatVersion = {version}\n{extension}".encode(),
        "HEAD": b"ref: refs/heads/none\n",
    }


def _is_as_left(git: Git, files: Mapping[str, bytes]) -> bool:
    place = directory(git)
    try:
        with opened_directory(place) as within:
            names = {found.path for found in walk(within)}
        same = all(read_inner(place, name, len(content)) == content for name, content in files.items())
        return same and names <= _NAMES and _index_identity(git).encode() == _seal(git).read_bytes()
    except (Problem, OSError):  # a link, something larger, nothing at all
        return False


def _seal(git: Git) -> Path:
    return git.paths.root / "snapshot.seal"


def _index_identity(git: Git) -> str:
    """Return what tells the index from every other file, its change time among it, which nobody can set."""
    with opened(directory(git), "index") as file:
        if file is None:
            return "none"
        found = os.fstat(file)
    return f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _remove(parent: Path, name: str) -> None:
    """Remove what has this name, be it a directory, a link or a file."""
    with opened_directory(parent) as within:
        try:
            remove_tree(within, name)
        except FileNotFoundError:
            return
        except NotADirectoryError:
            os.unlink(name, dir_fd=within)


def run(git: Git, args: Sequence[str], contact: Contact, stdin: bytes = b"", *, check: bool = True) -> bytes:
    """Run `git args` with the second git directory and return its output. Raises Failed or TimedOut."""
    done = git.local(
        [*EVERY_NAME, *_FAST, *args],
        contact=contact,
        stdin=stdin,
        exact=True,
        env=environment(git),
        check=False,
    )
    if check and done.exit_code != 0:
        raise failure(args, done.exit_code, done.stderr)
    return done.stdout


def ignored_among(git: Git, paths: Sequence[str]) -> frozenset[str]:
    """Return those of `paths` that the ignore files in the work tree, as they are now, match."""
    if not paths:
        return frozenset()
    stdin = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
    # exit code 1 only says that none is ignored
    found = run(git, ["check-ignore", "--no-index", "-z", "--stdin"], Contact.READ, stdin, check=False)
    return frozenset(text(path) for path in found.split(b"\0")[:-1])
