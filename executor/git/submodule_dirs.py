"""Submodules of a repository that is to be adopted: their git directories move into their own directories.

git keeps them in the `.git/modules` of the repository around them, which adoption takes away. As `PATH/.git`, where
older versions of git had them, they stay with the agent, who works in them. What is moved is the agent's before and
after; nothing of it is read here but the gitfiles that say what belongs where.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Refused
from executor.git.foreign_copy import MAX_DEPTH, directory, read_file
from executor.git.gitfile import DOT_GIT
from executor.git.repository import Git
from executor.policy.model import Contact

_MODULES = f"{DOT_GIT}/modules"
_GITFILE_LIMIT = 8192  # bytes


@dataclass(frozen=True, slots=True)
class Absorbed:
    """A submodule at `path` whose git directory is at `git_dir`; both relative to the work tree."""

    path: str
    git_dir: str


def absorbed(tree: int, work_tree: Path, gitlinks: Iterable[str]) -> tuple[Absorbed, ...]:
    """Return the submodules at `gitlinks` whose git directories lie in `.git/modules`. Changes nothing.

    Raises Refused: `submodule_elsewhere` for a gitfile that leads anywhere else, `nested_submodules`, and
    `submodule_left` for a git directory that belongs to none of them: removing it could lose commits.
    """
    found = [one for path in gitlinks if (one := _absorbed_at(tree, work_tree, path)) is not None]
    known = {one.git_dir for one in found}
    for git_dir in _git_dirs(tree, _MODULES):
        if git_dir in known:
            continue
        if any(git_dir.startswith(f"{one}/modules/") for one in known):
            raise Refused(
                "nested_submodules",
                f"{git_dir} belongs to a submodule of a submodule.",
                "Take it out of .git/modules first: move it to .git of its own directory.",
            )
        raise Refused(
            "submodule_left",
            f"{git_dir} belongs to no submodule that is checked out; it may hold commits that are nowhere else.",
            "Check its submodule out (git submodule update --init), or remove that directory if you are sure.",
        )
    return tuple(found)


def move_out(git: Git, tree: int, submodules: Iterable[Absorbed]) -> None:
    """Move each git directory to its submodule's own directory. `git` may write the work tree.

    What a crash leaves half done is still there, and the next `absorbed` finds it. Raises OSError where something
    else stands there by now.
    """
    for one in submodules:
        config = git.paths.work_tree / one.git_dir / "config"
        # exit code 5: it was not set
        git.local(["config", "--file", str(config), "--unset", "core.worktree"], contact=Contact.WRITE, check=False)
        parent, _, name = one.git_dir.rpartition("/")
        with _inside(tree, one.path) as place, _inside(tree, parent) as modules:
            os.unlink(DOT_GIT, dir_fd=place)
            os.rename(name, DOT_GIT, src_dir_fd=modules, dst_dir_fd=place)


def _absorbed_at(tree: int, work_tree: Path, path: str) -> Absorbed | None:
    try:
        with _inside(tree, path) as place:
            found = os.stat(DOT_GIT, dir_fd=place, follow_symlinks=False)
            if stat.S_ISDIR(found.st_mode):
                return None
            content = read_file(place, DOT_GIT, _GITFILE_LIMIT) if stat.S_ISREG(found.st_mode) else b""
    except (FileNotFoundError, NotADirectoryError):
        return None  # not checked out
    said = os.fsdecode(content).strip()
    target = said.removeprefix("gitdir:").strip()
    leads_to = os.path.relpath(os.path.normpath(os.path.join(work_tree, path, target)), work_tree)
    if not said.startswith("gitdir:") or not leads_to.startswith(f"{_MODULES}/"):
        raise Refused(
            "submodule_elsewhere",
            f"{path}/{DOT_GIT} does not lead to a git directory in {_MODULES}.",
            "Look at it: a submodule is cloned into .git/modules by git submodule update --init.",
        )
    return Absorbed(path, leads_to)


def _git_dirs(tree: int, top: str) -> Iterator[str]:
    """Yield the git directories below `top`, at any depth that a name of a submodule has."""
    if top.count("/") > MAX_DEPTH:
        return
    try:
        with _inside(tree, top) as place:
            names = sorted(os.listdir(place))
            modes = {name: os.stat(name, dir_fd=place, follow_symlinks=False).st_mode for name in names}
    except FileNotFoundError:
        return
    if "HEAD" in modes:
        yield top
        names = [name for name in names if name == "modules"]
    for name in filter(lambda name: stat.S_ISDIR(modes[name]), names):
        yield from _git_dirs(tree, f"{top}/{name}")


@contextmanager
def _inside(tree: int, path: str) -> Iterator[int]:
    """Open the directory `path` below `tree`, through no link. Raises OSError."""
    with ExitStack() as opened:
        place = tree
        for part in path.split("/"):
            place = opened.enter_context(directory(part, place))
        yield place
