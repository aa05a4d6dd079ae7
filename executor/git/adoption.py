"""Adopting a repository: from a git directory that the agent wrote to two that only the host writes.

See docs/decisions/0004-two-git-directories.md. `plan_adoption` shows what will happen; `adopt` copies, checks, and
exchanges `.git` in one step. A crash at any moment leaves the old repository or the new one, and the next `adopt`
finishes or undoes what was begun.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from executor.errors import Failed, Problem, Unavailable
from executor.git.adoption_checks import check_places, check_standing
from executor.git.adoption_plan import AdoptionPlan, plan_adoption, scratch_git
from executor.git.adoption_recovery import (
    AdoptionReport,
    complete_adoption,
    finish_interrupted,
    incoming,
    is_unchanged,
    put_gitfile,
    undo_adoption,
)
from executor.git.foreign_copy import changed, directory
from executor.git.git_dir_copy import Built, build
from executor.git.git_dirs import discard, prepare_root
from executor.git.gitfile import (
    DOT_GIT,
    Journal,
    Phase,
    Standing,
    exchange,
    fresh_name,
    look,
    repository_lock,
    write_gitfile,
    write_journal,
)
from executor.git.paths import RepositoryPaths
from executor.git.questions import config_value
from executor.git.repository import Git
from executor.git.rescue_return import hold_again
from executor.git.submodule_dirs import absorbed, move_out
from executor.policy.model import Contact
from executor.sandbox.process import ProcessRunner

__all__ = ["AdoptionPlan", "AdoptionReport", "adopt", "plan_adoption"]

CHECK_SECONDS = 1800.0  # for checking all objects of a large repository
_REFRESH_SECONDS = 60.0  # only spares the first status some work


def adopt(plan: AdoptionPlan, runner: ProcessRunner, *, deadline: float = CHECK_SECONDS) -> AdoptionReport:
    """Do what `plan` says, or finish what an interrupted adoption began, and return what was done.

    Adopting again is harmless: it only puts `.git` right. `deadline` (seconds) is for checking the objects.
    Raises Refused or Failed("adoption_failed") and leaves the repository as it was; Unavailable("repository_busy");
    Unavailable("plan_again") when an interrupted adoption was undone, so that there is no plan yet for a new one.
    """
    paths = plan.paths
    check_places(paths, None)
    prepare_root(paths)
    with repository_lock(paths), directory(paths.work_tree) as tree:
        try:
            report = _adopt_locked(plan, tree, runner, deadline)
            return replace(report, notes=report.notes + _held_again(paths, runner))
        except OSError as error:  # a full disk, a work tree that another user owns, a .git that is a mount point
            raise Failed(
                "adoption_failed", f"The repository could not be adopted: {error}.", "Mend that and adopt again."
            ) from error


def _adopt_locked(plan: AdoptionPlan, tree: int, runner: ProcessRunner, deadline: float) -> AdoptionReport:
    paths = plan.paths
    finished = finish_interrupted(paths, tree)
    if paths.local.is_dir():
        return finished or _put_right(paths, tree, runner)
    if plan.adopted:
        raise Unavailable(
            "plan_again", "What had been begun before was undone, or is finished.", "Plan and adopt once more."
        )
    check_standing(look(tree, paths), paths)
    try:
        return _adopt_new(plan, tree, runner, deadline)
    except OSError:
        finished = finish_interrupted(paths, tree)
        if finished is None:
            raise
        return finished


def _put_right(paths: RepositoryPaths, tree: int, runner: ProcessRunner) -> AdoptionReport:
    standing, notes = put_gitfile(paths, tree)
    git = Git(paths, runner)
    if config_value(git, "core.worktree") != str(paths.work_tree):
        git.local(["config", "core.worktree", str(paths.work_tree)])
        notes += (f"the work tree is at {paths.work_tree} now.",)
    what = "nothing to do" if standing is Standing.OURS and not notes else "it was put right"
    return AdoptionReport(f"{paths.work_tree} was adopted already; {what}.", notes)


def _adopt_new(plan: AdoptionPlan, tree: int, runner: ProcessRunner, deadline: float) -> AdoptionReport:
    paths = plan.paths
    keep = _fresh_keep(paths)
    if plan.submodules:
        _move_submodules(plan, tree, runner)
    with directory(DOT_GIT, tree) as git_dir:
        original = os.fstat(git_dir)
        try:
            built = build(git_dir, plan, keep, runner, deadline)
        except BaseException:
            discard(incoming(paths))
            discard(keep)
            raise
    journal = Journal(Phase.SWAPPING, fresh_name("adopting"), (original.st_dev, original.st_ino), built.fingerprint)
    _swap(paths, tree, built, journal)
    left = complete_adoption(paths, tree, journal)
    notes = (*built.notes, *_refresh_index(paths, runner))
    return AdoptionReport(f"Adopted {paths.work_tree}: its git directory is {paths.local}.", notes, left)


def _move_submodules(plan: AdoptionPlan, tree: int, runner: ProcessRunner) -> None:
    """Move the git directories of submodules out of the one that will go; git works with them there too."""
    moving = absorbed(tree, plan.paths.work_tree, plan.gitlinks)
    with tempfile.TemporaryDirectory(prefix="ogw-submodules-") as scratch:
        move_out(scratch_git(plan.paths, Path(scratch), runner), tree, moving)


def _fresh_keep(paths: RepositoryPaths) -> Path:
    """Make and return the directory for what this adoption leaves out; earlier ones stay."""
    kept = paths.root / "adoption"
    kept.mkdir(mode=0o700, exist_ok=True)
    number = max((int(name) for name in os.listdir(kept) if name.isdigit()), default=0) + 1
    keep = kept / str(number)
    keep.mkdir(mode=0o700)
    return keep


def _swap(paths: RepositoryPaths, tree: int, built: Built, journal: Journal) -> None:
    """Put the copy in its place and exchange `.git`; back again when the original changed since it was copied."""
    os.sync()  # the copy is on disk before anything depends on it: one call, not one for each of its files
    write_journal(paths, journal)
    built.staged.local.rename(paths.local)
    write_gitfile(tree, journal.aside, paths)
    exchange(tree, journal.aside)
    if not is_unchanged(tree, journal):
        undo_adoption(paths, tree, journal)
        raise changed(DOT_GIT)


def _held_again(paths: RepositoryPaths, runner: ProcessRunner) -> tuple[str, ...]:
    try:
        return hold_again(Git(paths, runner))
    except Problem as problem:
        return (f"what was kept before earlier requests could not be looked at: {problem.message}",)


def _refresh_index(paths: RepositoryPaths, runner: ProcessRunner) -> tuple[str, ...]:
    """Let git look at each file once, so that a status does not have to read them all each time."""
    refresh = ["update-index", "-q", "--refresh"]
    try:
        Git(paths, runner).local(refresh, contact=Contact.READ, deadline=_REFRESH_SECONDS, check=False)
    except Problem as problem:
        (paths.local / "index.lock").unlink(missing_ok=True)  # nobody else is in there: this holds the lock
        return (f"the index could not be refreshed: {problem.message}",)
    return ()
