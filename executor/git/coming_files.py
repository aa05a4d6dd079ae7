"""What a command would bring in, looked up: embedded repositories, and the files that it would be written over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from executor.errors import Refused
from executor.git.bringing_in import BISECT_BAD, BISECT_GOOD, Coming
from executor.git.inner_files import SMALL, read_inner
from executor.git.questions import GITLINK_MODE, index_gitlinks, refs, resolve, split_z, text, tree_gitlinks
from executor.git.repository import Git
from executor.git.tree_view import Place, TreeView, tree_view
from executor.policy.model import Contact

_TODO = ("sequencer/todo", "rebase-merge/git-rebase-todo")
_ABSENT = "000000"
_OBJECT_ID = re.compile(r"\b[0-9a-f]{7,64}\b")


def coming_gitlinks(git: Git, coming: Coming) -> tuple[str, ...]:
    """Return the paths at which embedded repositories (gitlinks) would come in."""
    found = {path for commit in _trees(git, coming) for path in tree_gitlinks(git, commit)}
    touched = (entry for walk in _walks(git, coming) for entry in _touched(git, walk))
    return tuple(sorted(found | {path for mode, path in touched if mode == GITLINK_MODE}))


def replaced_submodules(git: Git, coming: Coming) -> tuple[str, ...]:
    """Return the submodules of the index in whose place something else would come."""
    links = index_gitlinks(git)
    if not links:
        return ()
    found = [entry for commit in _trees(git, coming) for entry in _entries(git, commit, links)]
    found += (entry for walk in _walks(git, coming) for entry in _touched(git, walk))
    other = [path for mode, path in found if mode not in (GITLINK_MODE, _ABSENT)]
    return tuple(link for link in links if any(path == link or path.startswith(f"{link}/") for path in other))


def standing_in_the_way(git: Git, coming: Coming) -> frozenset[str]:
    """Return the files that stand where something would come and that git does not track.

    git itself stops before it writes over one, but not where the file is ignored, so these have to be kept first
    (`preserve(also=...)`). Raises Refused("cannot_preserve") where a repository stands there, which never is kept.
    """
    wanted = set(coming.files)
    for commit in _trees(git, coming):
        wanted |= {path for mode, path in _entries(git, commit) if mode != GITLINK_MODE}
    wanted |= {path for walk in _walks(git, coming) for mode, path in _touched(git, walk) if mode != GITLINK_MODE}
    if not wanted:
        return frozenset()
    tracked = set(split_z(git.local(["ls-files", "-z"], exact=True).stdout))
    beside = _beside(git, wanted | tracked) if coming.merges else set()
    return frozenset(_standing(git.paths.work_tree, wanted | beside, tracked))


def _beside(git: Git, paths: set[str]) -> set[str]:
    """Return the ignored files with a name that a merge may give to what it cannot bring together: PATH~NAME.

    git itself stops before it writes over such a one that is not ignored.
    """
    listing = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", "*~?*"]
    found = split_z(git.local(listing, contact=Contact.READ, exact=True).stdout)
    return {path for path in found if any(path[: mark.start()] in paths for mark in re.finditer("~", path))}


def _trees(git: Git, coming: Coming) -> set[str]:
    """Return the commits of which every file may come."""
    named = list(coming.trees)
    if coming.resumes:
        for note in (*_TODO, "BISECT_START"):
            lines = text(read_inner(git.paths.local, note, SMALL) or b"").splitlines()
            named += lines if note == "BISECT_START" else [i for line in lines for i in _OBJECT_ID.findall(line)[:1]]
    if coming.bisects:
        named += BISECT_BAD
    found = (resolve(git, name) or _base(git, name) for name in named)
    return {commit for commit in found if commit is not None}


def _base(git: Git, name: str) -> str | None:
    """Return the merge base that A...B names, where a side that is left out is HEAD; None for any other name."""
    left, dots, right = name.partition("...")
    if not dots:
        return None
    done = git.local(["merge-base", "--end-of-options", left or "HEAD", right or "HEAD"], check=False, exact=True)
    return text(done.stdout).strip() or None


def _walks(git: Git, coming: Coming) -> Iterator[list[str]]:
    """Yield revision arguments for git-log(1): any of the commits that they select may come."""
    if coming.ranges:
        yield ["--end-of-options", *coming.ranges]
    good = [commit for name in coming.good if (commit := resolve(git, name)) is not None]
    if coming.bisects and (good or refs(git, "refs/bisect")):
        yield [*_trees(git, coming), "--not", *good, *(f"--glob={pattern}" for pattern in BISECT_GOOD)]


def _entries(git: Git, commit: str, paths: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield (mode, path) of the files of a commit; given `paths`, of those at or below them."""
    listing = git.local(["ls-tree", "-r", "-z", "--full-tree", commit, "--", *paths], exact=True)
    for entry in split_z(listing.stdout):
        meta, path = entry.split("\t", 1)
        yield meta[:6], path


def _touched(git: Git, walk: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (new mode, path) for each path that a commit of `walk` changes, as against each of its parents."""
    look = ["log", "--format=", "--raw", "-z", "-m", "--root", "--no-renames", "--no-abbrev"]
    look.append(
        "--ignore-submodules=none"
    )  # between commits nothing is looked into, and the host's setting hides them
    done = git.local([*look, *walk, "--"], check=False, exact=True)
    fields = iter(split_z(done.stdout))
    for field in fields:
        if field.startswith(":"):
            yield field[8:14], next(fields)


def _standing(root: Path, wanted: Iterable[str], tracked: set[str]) -> Iterator[str]:
    """Yield what stands at `wanted`: the file itself, the files of a directory in its place, a file above it."""
    with tree_view(root) as view:
        for path in sorted(wanted):
            standing = view.look(path)
            if standing.place is Place.DIRECTORY:
                yield from _inside(view, path)
            elif standing.place is Place.OTHER and (standing.at != path or path not in tracked):
                yield standing.at


def _inside(view: TreeView, directory: str) -> Iterator[str]:
    files = tuple(view.files_in(directory))
    if any(".git" in file.removeprefix(f"{directory}/").split("/") for file in files):
        raise Refused(
            "cannot_preserve",
            f"A file would take the place of {directory}, in which there is a repository of its own, so the "
            "command was not started.",
            "Move that directory out of the work tree first.",
        )
    yield from files
