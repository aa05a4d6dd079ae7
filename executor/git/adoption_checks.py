"""What keeps a repository from being adopted as it is, each with what mends it."""

from __future__ import annotations

import os
from pathlib import Path

from executor.errors import Refused
from executor.git.config_scrub import Scrubbed
from executor.git.git_dir_layout import operation_in_progress
from executor.git.git_dir_survey import Survey
from executor.git.gitfile import Standing
from executor.git.paths import RepositoryPaths


def agents_places(paths: RepositoryPaths, shared_dir: Path | None) -> tuple[Path, ...]:
    """Return the directories that an agent can write."""
    return (paths.work_tree,) if shared_dir is None else (paths.work_tree, shared_dir)


def check_places(paths: RepositoryPaths, shared_dir: Path | None) -> None:
    """Raise Refused: `work_tree_missing`, `work_tree_link`, `state_dir_place`, `work_tree_read_only`."""
    work_tree = paths.work_tree
    if not work_tree.is_dir():
        raise Refused("work_tree_missing", f"There is no directory {work_tree}.", "Check GATEWAY_REPO_DIR.")
    if work_tree.resolve() != work_tree:
        raise Refused(
            "work_tree_link",
            f"{work_tree} leads through a symbolic link to {work_tree.resolve()}.",
            f"Name the real directory: GATEWAY_REPO_DIR={work_tree.resolve()}",
        )
    root = paths.root.resolve()
    for place in agents_places(paths, shared_dir):
        if root.is_relative_to(place.resolve()) or place.resolve().is_relative_to(root):
            raise Refused(
                "state_dir_place",
                f"The state directory {root} and {place}, which the agent can write, lie in one another.",
                "Set GATEWAY_STATE_DIR to a directory of its own, such as /var/lib/ops-gateway.",
            )
    if not os.access(work_tree, os.W_OK | os.X_OK):
        raise Refused(
            "work_tree_read_only",
            f"uid {os.geteuid()} may not write in {work_tree}, so .git cannot be exchanged there.",
            "Give the directory to the user that the gateway runs as, or to a group of both.",
        )


def check_standing(standing: Standing, paths: RepositoryPaths) -> None:
    """Raise Refused unless a git directory of its own stands at `.git`."""
    if standing is Standing.DIRECTORY:
        return
    if standing is Standing.MISSING:
        raise Refused(
            "not_a_repository", f"There is no .git in {paths.work_tree}.", "Make a repository first: git init"
        )
    if standing is Standing.OURS:
        raise Refused(
            "state_missing",
            f".git points to {paths.local}, which is not there.",
            "Restore the state directory from its backup; the commits are in it.",
        )
    raise Refused(
        "git_dir_elsewhere",
        f".git in {paths.work_tree} is {standing}, so the git directory lies elsewhere.",
        "A linked work tree or a submodule cannot be adopted: use a clone of its own. If you did not make this link, "
        "somebody tampered with it.",
    )


def check_adoptable(found: Survey) -> None:
    """Raise Refused for a repository that is busy or of a kind that cannot be adopted as it is."""
    unfinished = operation_in_progress(found.top)
    if unfinished is not None:
        what, abort = unfinished
        raise Refused("in_progress", f"A {what} is in progress.", f"Finish it, or give it up: {abort}")
    if "index.lock" in found.top:
        raise Refused(
            "index_locked",
            "Another git process holds the index, or one left its lock behind.",
            "Wait for it; if no git is running, remove .git/index.lock.",
        )
    if found.worktrees:
        raise Refused(
            "linked_worktrees",
            f"Other work trees belong to this repository: {', '.join(found.worktrees[:5])}.",
            "Remove them first (git worktree remove, then git worktree prune).",
        )
    if found.promisor:
        raise _partial()
    if found.head is None:
        raise Refused(
            "no_head",
            "HEAD is missing or names neither a branch nor a commit.",
            "Put it right first (git switch main), or make a fresh clone.",
        )
    if not {"config", "objects", "refs"} <= found.top:
        raise Refused("not_a_repository", ".git holds no git repository.", "Make a fresh clone, and adopt that.")


def check_config(config: Scrubbed) -> None:
    """Raise Refused for a repository whose configuration says that it is of a kind that cannot be adopted."""
    if config.unsupported is not None:
        raise Refused("repository_format", f"The repository needs {config.unsupported}.", "Use a plain clone of it.")
    if config.bare:
        raise Refused("bare", "The repository is bare: it has no work tree.", "Adopt a clone that has one.")
    if config.partial:
        raise _partial()


def _partial() -> Refused:
    return Refused(
        "partial_clone",
        "The clone is partial: objects that are missing would be fetched whenever git comes across them.",
        "Fetch everything first; the sure way is a full clone: git clone without --filter",
    )
