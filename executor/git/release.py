"""Releasing a repository: `.git` becomes a plain directory in the work tree again, and the gateway forgets it."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace

from executor.errors import Failed, Refused
from executor.git.adoption_recovery import (
    AdoptionReport,
    complete_release,
    finish_interrupted,
    parked_transfer,
    put_gitfile,
    undo_release,
)
from executor.git.config_scrub import Setting, parse_listing, render
from executor.git.foreign_copy import copy_tree_into, directory, write_new
from executor.git.git_dirs import HOST_KEYS
from executor.git.gitfile import (
    Journal,
    Phase,
    exchange,
    fresh_name,
    identity,
    repository_lock,
    write_journal,
)
from executor.git.paths import RepositoryPaths
from executor.git.repository import Git
from executor.sandbox.process import ProcessRunner


def release(paths: RepositoryPaths, runner: ProcessRunner) -> AdoptionReport:
    """Give the repository back to its work tree, with the remotes' addresses in its configuration again.

    What was left out when it was adopted (hooks, say) is not put back; it stays readable in `root/adoption`. Raises
    Refused: `not_adopted`, `index_locked`; Unavailable("repository_busy"). Until the exchange of `.git` the
    repository stays adopted, whatever happens.
    """
    if not paths.root.is_dir():
        raise _not_adopted(paths)
    with repository_lock(paths), directory(paths.work_tree) as tree:
        finished = finish_interrupted(paths, tree)
        if not paths.local.is_dir():
            if finished is None:
                raise _not_adopted(paths)
            return finished
        if (paths.local / "index.lock").exists():
            raise Refused(
                "index_locked",
                f"Another git process holds the index of {paths.local}, or one left its lock behind.",
                "Wait for it; if no git is running, remove index.lock there.",
            )
        _, notes = put_gitfile(paths, tree)
        _swap_back(paths, tree, _configuration(Git(paths, runner)))
        kept = paths.root / "adoption"
        if kept.is_dir() and os.listdir(kept):
            notes += (f"what was left out when it was adopted is still in {kept}.",)
        if os.fstat(tree).st_uid != os.geteuid():  # what was kept for the host alone is so still
            where = shlex.quote(str(paths.work_tree))
            mend = f"chown -R --reference={where} {where}/.git"
            notes += (f".git belongs to the gateway's account; whose the work tree is gets it by, as root: {mend}",)
        return AdoptionReport(f"Released {paths.work_tree}: .git is a directory of its own again.", notes)


def _not_adopted(paths: RepositoryPaths) -> Refused:
    return Refused("not_adopted", f"The repository {paths.name!r} is not adopted.", "There is nothing to release.")


def _configuration(git: Git) -> bytes:
    """Return the configuration for a plain git directory: the local one without our own keys, with real remotes."""
    listing = ["config", "--local", "--no-includes", "--list", "-z"]
    local = parse_listing(git.local(listing, exact=True).stdout)
    remotes = [s for s in parse_listing(git.transfer(listing, exact=True).stdout) if s.key.startswith("remote.")]
    names = {setting.key.rpartition(".")[0] for setting in remotes}
    version = [setting for setting in local if setting.key == "core.repositoryformatversion"]
    rest = [s for s in local if s.key not in HOST_KEYS and s.key.rpartition(".")[0] not in names]
    settings = (*version, Setting("core.bare", "false"), *rest, *remotes)
    return render(settings).encode("utf-8", "surrogateescape")


def _swap_back(paths: RepositoryPaths, tree: int, configuration: bytes) -> None:
    journal = Journal(Phase.RELEASING, fresh_name("releasing"), (0, 0))
    write_journal(paths, journal)
    try:
        copy_tree_into(paths.local, tree, journal.aside)
        with directory(journal.aside, tree) as git_dir:
            os.unlink("config", dir_fd=git_dir)
            write_new(git_dir, "config", configuration, 0o644)
            found = os.fstat(git_dir)
        os.sync()
        journal = replace(journal, directory=(found.st_dev, found.st_ino))
        write_journal(paths, journal)
        paths.transfer.rename(parked_transfer(paths))
        exchange(tree, journal.aside)
        if identity(tree, ".git") != journal.directory:
            raise FileExistsError(f"{paths.work_tree / '.git'} was replaced")
    except OSError as error:  # a full disk, an agent that puts something in the way
        undo_release(paths, tree, journal)
        raise Failed(
            "release_failed",
            f"The repository could not be released and stays adopted: {error}.",
            "Stop the agent, mend that, and release again.",
        ) from error
    complete_release(paths, tree, journal)
