"""What differs between two trees, path by path, as the objects have it: attributes have no say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from executor.git.questions import split_z, text
from executor.git.repository import Git
from executor.git.risk_facts import GITLINK, SYMLINK, ChangedPath

PATCH_SECONDS = 120.0
# Attributes decide what git takes for text, and an agent writes them (`*.env -diff`). With neither an index nor a
# work tree to read them from there are none. An index of this name is never created.
NO_INDEX = "no-index"
# Plumbing, told everything that a configuration could say otherwise. Submodules are not left out: between two trees
# they are only ids, and nested repositories are not looked into.
COMPARING = (
    "--find-renames", "-l400", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
)  # fmt: skip
PATCH = (
    *COMPARING, "--patch", "--no-color", "--full-index", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
_LOOKED_AT = 20_000  # paths whose size is asked for
_LINK_BYTES = 300  # of a symbolic link's target that are shown
_ABSENT = "000000"


def tree_changes(git: Git, old: str, new: str) -> tuple[ChangedPath, ...]:
    """Return the paths that differ between the trees of two objects, renames as one. Raises Failed, also
    `output_too_large`. Starts two processes, three where there are new symbolic links.
    """
    done = git.local(
        ["diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", *COMPARING, old, new, "--"],
        index=git.paths.tmp / NO_INDEX,
        deadline=PATCH_SECONDS,
        exact=True,
    )
    found, blobs = parse_changes(done.stdout)
    return _with_contents(git, found, blobs)


def tree_patch(git: Git, old: str, new: str, *options: str) -> bytes:
    """Return the patch between the trees of two objects. Raises Failed, also `output_too_large`."""
    return git.local(
        ["diff-tree", "-r", *PATCH, *options, old, new, "--"],
        index=git.paths.tmp / NO_INDEX,
        deadline=PATCH_SECONDS,
        exact=True,
    ).stdout


def empty_tree(git: Git) -> str:
    """Return the id of the tree without files, in this repository's kind of ids."""
    return text(git.local(["hash-object", "-t", "tree", "--stdin"]).stdout).strip()


def parse_changes(output: bytes) -> tuple[list[ChangedPath], list[str]]:
    """Return the changes that `diff-tree -r -z --raw --numstat` tells, and the new blob of each (pure)."""
    fields = iter(split_z(output))
    found: list[ChangedPath] = []
    blobs: list[str] = []
    counts: dict[str, tuple[int | None, int | None]] = {}
    for field in fields:
        if field.startswith(":"):
            old_mode, new_mode, _, blob, status = field[1:].split(" ")
            first = next(fields)
            renamed = status[0] in "RC"
            path = next(fields) if renamed else first
            found.append(ChangedPath(path, status[0], old_mode, new_mode, old_path=first if renamed else None))
            blobs.append(blob)
        else:
            added, deleted, path = field.split("\t", 2)
            if not path:  # a rename: the old and the new name follow
                next(fields)
                path = next(fields)
            counts[path] = (_number(added), _number(deleted))
    return [_counted(change, counts) for change in found], blobs


def _counted(change: ChangedPath, counts: dict[str, tuple[int | None, int | None]]) -> ChangedPath:
    added, deleted = counts.get(change.path, (0, 0))
    return replace(change, added=added, deleted=deleted)


def _number(count: str) -> int | None:
    return None if count == "-" else int(count)


def _with_contents(git: Git, changes: Sequence[ChangedPath], blobs: Sequence[str]) -> tuple[ChangedPath, ...]:
    """Add the sizes of new contents and the targets of new symbolic links."""
    has_blob = [change.new_mode not in (_ABSENT, GITLINK) for change in changes]
    asked = [blob for blob, has in zip(blobs, has_blob, strict=True) if has][:_LOOKED_AT]
    sizes = sizes_of(git, asked)
    small = {blob for change, blob in zip(changes, blobs, strict=True) if change.new_mode == SYMLINK}
    targets = _targets(git, sorted(blob for blob in small if 0 <= sizes.get(blob, -1) <= 4096))
    return tuple(
        replace(change, size=sizes.get(blob), link=targets.get(blob) if change.new_mode == SYMLINK else None)
        for change, blob in zip(changes, blobs, strict=True)
    )


def sizes_of(git: Git, blobs: Sequence[str]) -> dict[str, int]:
    """Return the size in bytes of those objects that are here. Raises Failed."""
    if not blobs:
        return {}
    done = git.local(
        ["cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"],
        stdin="".join(f"{blob}\n" for blob in blobs).encode(),
        exact=True,
    )
    rows = (line.split(" ") for line in text(done.stdout).splitlines())
    return {row[0]: int(row[2]) for row in rows if len(row) == 3}


def contents_of(git: Git, blobs: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (object id, content) of those objects that are here. Raises Failed, also `output_too_large`."""
    if blobs:
        asked = "".join(f"{blob}\n" for blob in blobs).encode()
        yield from _contents(git.local(["cat-file", "--batch"], stdin=asked, exact=True).stdout)


def _targets(git: Git, blobs: Sequence[str]) -> dict[str, str]:
    return {blob: text(content[:_LINK_BYTES]) for blob, content in contents_of(git, blobs)}


def _contents(output: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what `cat-file --batch` wrote (pure)."""
    start = 0
    while start < len(output):
        end = output.index(b"\n", start)
        head = output[start:end].split(b" ")
        if len(head) == 3:
            size = int(head[2])
            yield text(head[0]), output[end + 1 : end + 1 + size]
            end += size + 1
        start = end + 1
