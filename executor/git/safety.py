"""Whether git may be started on a repository at all: who owns and who can write its git directories."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from executor.errors import Refused
from executor.git.paths import RepositoryPaths

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def check_safe(paths: RepositoryPaths, shared_dir: Path | None = None) -> None:
    """Raise Refused where starting git would trust something that an agent can write.

    Looks at the directories and at the first level inside them: `root` is closed to everybody else (0700), so what
    lies deeper can have come only from the gateway, or from a container into which it was mounted writable; such a
    container leaves files of another owner at the first level (config, HEAD, hooks).
    """
    _check_adopted(paths)
    _check_outside(paths, shared_dir)
    for directory in (paths.root, paths.local, paths.transfer):
        _check_owned(directory)
        with os.scandir(directory) as entries:
            for entry in entries:
                _check_owner(Path(entry.path), entry.stat(follow_symlinks=False))
    _check_work_tree(paths.work_tree)


def _check_adopted(paths: RepositoryPaths) -> None:
    for directory in (paths.root, paths.local, paths.transfer):
        if not directory.is_dir() or directory.is_symlink():
            raise Refused(
                "not_adopted",
                f"The repository {paths.name!r} has not been adopted: {directory} is not there.",
                f"Run on the host: ops-gateway adopt {paths.work_tree}",
            )


def _check_outside(paths: RepositoryPaths, shared_dir: Path | None) -> None:
    root = paths.root.resolve()
    for place in (paths.work_tree, shared_dir):
        if place is not None and root.is_relative_to(place.resolve()):
            raise Refused(
                "git_dir_writable",
                f"The git directory {root} lies inside {place}, where the agent can write.",
                "Set GATEWAY_STATE_DIR to a directory outside it, and adopt again.",
            )


def _check_owned(directory: Path) -> None:
    found = directory.lstat()
    _check_owner(directory, found)
    if found.st_mode & _OTHERS_WRITE:
        raise Refused(
            "git_dir_writable",
            f"Others than the gateway can write {directory}.",
            f"Run on the host: chmod -R go-w {directory}",
        )


def _check_owner(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise Refused(
            "repo_ownership",
            f"{path} belongs to uid {found.st_uid}, the gateway runs as uid {os.geteuid()}.",
            f"If nobody tampered with it, run on the host: chown -R {os.geteuid()} {path}",
        )


def _check_work_tree(work_tree: Path) -> None:
    try:
        found = work_tree.lstat()
    except OSError as error:
        raise Refused(
            "work_tree_missing",
            f"The work tree {work_tree} is not there.",
            "Mount or restore it, or release the repository.",
        ) from error
    if not stat.S_ISDIR(found.st_mode) or work_tree.resolve() != work_tree:
        raise Refused(
            "work_tree_replaced",
            f"The work tree {work_tree} is not the directory that was adopted; something stands in its place.",
            "Look at it on the host before anything else; then adopt it under its real path.",
        )
