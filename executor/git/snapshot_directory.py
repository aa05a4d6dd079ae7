"""A second git directory over the same objects, in which a file is stored exactly as it lies there.

git's own index cannot be used for that: with attributes that an agent writes (`text`, `eol`, `ident`,
`working-tree-encoding`) what `git add` stores is not what lies in the file. This directory's `info/attributes`, which
beats every file in the tree (gitattributes(5)), switches conversion off. Its index is a cache: it knows what was seen
last, so that only what changed since is read again. Losing the directory costs time, nothing else.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from executor.git.failures import failure
from executor.git.questions import text
from executor.git.repository import Git
from executor.policy.model import Contact

_RAW = "* -text -ident -filter !eol !working-tree-encoding\n"
# Windows' and macOS' notions of a forbidden name make git skip files in silence; these never leave this host.
EVERY_NAME = ("-c", "core.protectNTFS=false", "-c", "core.protectHFS=false")
_FAST = ("-c", "core.looseCompression=1")


def directory(git: Git) -> Path:
    """Return where the second git directory is; its index is `index` in it."""
    return git.paths.tmp / "snapshot.git"


def environment(git: Git) -> dict[str, str]:
    """Return the variables that make git use it."""
    return {"GIT_DIR": str(directory(git)), "GIT_OBJECT_DIRECTORY": str(git.paths.objects)}


def prepare(git: Git) -> None:
    """Make the directory where there is none, and give it what the repository ignores now."""
    place = directory(git)
    if not (place / "HEAD").exists():
        shutil.rmtree(place, ignore_errors=True)
        (place / "info").mkdir(parents=True)
        (place / "refs").mkdir()
        (place / "info" / "attributes").write_text(_RAW)
        kind = text(git.local(["rev-parse", "--show-object-format"]).stdout).strip()
        version = 0 if kind == "sha1" else 1
        extension = "" if kind == "sha1" else f"[extensions]\n\tobjectFormat = {kind}\n"
        (place / "config").write_text(f"[core]\n\trepositoryFormatVersion = {version}\n{extension}")
        (place / "HEAD").write_text("ref: refs/heads/none\n")  # last: with it the directory is complete
    (place / "index.lock").unlink(missing_ok=True)  # left by a killed git; only one worker comes here
    exclude = git.paths.local / "info" / "exclude"
    (place / "info" / "exclude").write_bytes(exclude.read_bytes() if exclude.exists() else b"")


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
