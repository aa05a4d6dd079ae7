"""The configured repositories: found by name, opened only when safe, and held by one user at a time."""

from __future__ import annotations

import logging
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from executor.config import ExecutorConfig, RepositoryConfig
from executor.errors import Refused
from executor.git.gitfile import repository_lock
from executor.git.paths import RepositoryPaths
from executor.git.repository import Deadlines, Git, open_repository
from executor.sandbox.leftovers import end_leftovers
from executor.sandbox.process import ProcessRunner

log = logging.getLogger(__name__)


class Repositories:
    """Given the configuration and what starts programs, hand out git for each repository."""

    def __init__(self, config: ExecutorConfig, runner: ProcessRunner, cancel: threading.Event) -> None:
        self._config = config
        self._runner = runner
        self._cancel = cancel
        self._by_name = {each.name: each for each in config.repositories}

    @property
    def names(self) -> tuple[str, ...]:
        """The configured names, the default one first."""
        return tuple(self._by_name)

    def full_name(self, asked: str) -> str:
        """Return the name a request means: the default repository's where it names none, else what it names."""
        return asked or next(iter(self._by_name), "")

    def paths(self, name: str) -> RepositoryPaths:
        """Return where repository `name` lies. Raises Refused("unknown_repository")."""
        each = self._configured(name)
        return RepositoryPaths(each.name, each.work_tree, self._config.state_dir / "repos" / each.name)

    def allows_submodules(self, name: str) -> bool:
        """Whether repository `name` may have submodules. Raises Refused("unknown_repository")."""
        return self._configured(name).submodules

    def open(self, name: str) -> Git:
        """Return git for repository `name`, having looked that it is safe. Raises Refused (see `open_repository`)."""
        each = self._configured(name)
        limits = self._config.limits
        return open_repository(
            self.paths(name),
            self._runner,
            each.access,
            self._cancel,
            shared_dir=self._config.shared_dir,
            submodules=each.submodules,
            lfs=each.lfs,
            deadlines=Deadlines(limits.deadline_seconds, limits.network_deadline_seconds),
        )

    @contextmanager
    def held(self, name: str) -> Iterator[Git]:
        """The same, with nobody else at work in it, in this process or another, until the block ends.

        Raises Unavailable("repository_busy") when somebody else is.
        """
        git = self.open(name)
        with repository_lock(git.paths):
            yield git

    def clear_unfinished(self, name: str) -> None:
        """At start: end the programs of a killed process, and remove the drafts and the locks on them that it left.

        They lie in the repository's own temporary directory, and nobody looks at them again; but a lock among them
        would stop every later draft of that name. Raises Unavailable("repository_busy") when somebody is at work.
        """
        paths = self.paths(name)
        if not paths.tmp.is_dir():
            return
        with repository_lock(paths):
            for program in end_leftovers(paths.root):
                log.warning("ended a %s that a killed gateway had left at work in %s", program, name)
            for entry in os.scandir(paths.tmp):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)

    def _configured(self, name: str) -> RepositoryConfig:
        found = self._by_name.get(self.full_name(name))
        if found is None:
            known = ", ".join(self._by_name) or "none"
            raise Refused("unknown_repository", f"there is no repository {name!r} here", f"configured are: {known}")
        return found
