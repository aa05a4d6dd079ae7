"""Whether git may be started on a repository at all: who owns and who can write its git directories."""

from __future__ import annotations

import contextlib
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
    found = {os.fspath(each): _adopted(paths, each) for each in (paths.root, paths.local, paths.transfer)}
    _check_outside(paths, shared_dir)
    for directory, status in found.items():
        _check_owned(directory, status)
        with os.scandir(directory) as entries:
            for entry in entries:
                _check_owner(entry.path, entry.stat(follow_symlinks=False))
    _check_work_tree(paths.work_tree)


def _adopted(paths: RepositoryPaths, directory: Path) -> os.stat_result:
    """Return what is known of one of the directories that adopting made."""
    with contextlib.suppress(OSError):
        status = os.lstat(directory)
        if stat.S_ISDIR(status.st_mode):
            return status
    raise Refused(
        "not_adopted",
        f"The repository {paths.name!r} has not been adopted: {directory} is not there.",
        f"Run on the host: ops-gateway adopt {paths.work_tree}",
    )


def _check_outside(paths: RepositoryPaths, shared_dir: Path | None) -> None:
    root = os.path.realpath(paths.root)
    for place in (paths.work_tree, shared_dir):
        if place is not None and f"{root}/".startswith(f"{os.path.realpath(place)}/"):
            raise Refused(
                "git_dir_writable",
                f"The git directory {root} lies inside {place}, where the agent can write.",
                "Set GATEWAY_STATE_DIR to a directory outside it, and adopt again.",
            )


def _check_owned(directory: str, status: os.stat_result) -> None:
    _check_owner(directory, status)
    if status.st_mode & _OTHERS_WRITE:
        raise Refused(
            "git_dir_writable",
            f"Others than the gateway can write {directory}.",
            f"Run on the host: chmod -R go-w {directory}",
        )


def _check_owner(path: str, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise Refused(
            "repo_ownership",
            f"{path} belongs to uid {status.st_uid}, the gateway runs as uid {os.geteuid()}.",
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
    if not stat.S_ISDIR(found.st_mode) or os.path.realpath(work_tree) != os.fspath(work_tree):
        raise Refused(
            "work_tree_replaced",
            f"The work tree {work_tree} is not the directory that was adopted; something stands in its place.",
            "Look at it on the host before anything else; then adopt it under its real path.",
        )
