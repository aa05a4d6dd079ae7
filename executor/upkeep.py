"""What is done now and then: what is old goes, and repositories are kept up in place of git's automatic gc."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from executor.config import ExecutorConfig
from executor.errors import Problem, Unavailable
from executor.git.maintenance import keep_up, remove_abandoned
from executor.git.rescue import prune_rescues
from executor.protocol.shared_dir import SharedDir
from executor.record.retention import agreed_since, prune
from executor.record.store import Store
from executor.repositories import Repositories

_ROWS_FACTOR = 4  # a request is remembered, without its output, so many times as long as its output
_TRIES, _PAUSE = 30, 10.0  # s between them, while somebody is at work in the repository


class Upkeep:
    """Given where things lie, tidies up there. What cannot be done is among `troubles`, in words, until it can."""

    def __init__(
        self,
        config: ExecutorConfig,
        store: Store,
        shared: SharedDir,
        repositories: Repositories,
        stopping: threading.Event,
    ) -> None:
        self._limits = config.limits
        self._store = store
        self._shared = shared
        self._repositories = repositories
        self._stopping = stopping
        self.troubles: dict[str, str] = {}

    def clear_unfinished(self) -> None:
        """At start: remove what a killed process left at work in the repositories."""
        self._in_each_repository("leftovers in", self._repositories.clear_unfinished)

    def remove_old(self) -> None:
        """Remove what is older than it is to be kept: outputs, requests, result files, rescues."""
        now = datetime.now(UTC)
        days = timedelta(days=self._limits.retention_days)
        prune(self._store, bulk_before=now - days, rows_before=now - _ROWS_FACTOR * days)
        self._shared.prune_results(self._limits.results_kept)
        self._shared.tidy(now.timestamp())
        self._in_each_repository("rescues of", self._prune_rescues)

    def keep_up(self) -> None:
        """Keep up the repositories. May take minutes; ends early when the gateway stops."""
        self._in_each_repository("upkeep of", self._keep_up)

    def _prune_rescues(self, name: str) -> None:
        limits = self._limits
        with self._store.reading() as view:
            agreed = agreed_since(view, datetime.now(UTC) - timedelta(days=limits.rescue_days))
        with self._repositories.held(name) as git:
            prune_rescues(git, limits.rescue_days, limits.rescues_kept, agreed=agreed)

    def _keep_up(self, name: str) -> None:
        for left in reversed(range(_TRIES)):
            try:
                with self._repositories.held(name) as git:
                    now = time.time()
                    remove_abandoned(git.paths, now)
                    keep_up(git, self._limits.rescue_days, now)
                    return
            except Unavailable as problem:
                if problem.code != "repository_busy" or not left or self._stopping.wait(_PAUSE):
                    raise

    def _in_each_repository(self, what: str, work: Callable[[str], None]) -> None:
        for name in self._repositories.names:
            try:
                work(name)
            except Problem as problem:
                self.troubles[f"{what} {name}"] = problem.message
            else:
                self.troubles.pop(f"{what} {name}", None)
