"""What deciding needs to know about the host, found when a request needs it and not before."""

from __future__ import annotations

from dataclasses import replace

from executor.config import ExecutorConfig
from executor.git.questions import head, likely_default, local_branches
from executor.git.repository import Git
from executor.host_operations import HOST_OPERATIONS
from executor.outcome import State
from executor.policy.model import Facts, PushParams, Refuse, Request, RiskClass
from executor.record import controls, requests
from executor.record.store import Store
from executor.repositories import Repositories


class FactFinder:
    """Given the configuration and the record, find facts. `for_batch` returns one that looks up the record once."""

    def __init__(self, config: ExecutorConfig, store: Store, repositories: Repositories) -> None:
        self._config = config
        self._store = store
        self._repositories = repositories
        self._asking: dict[str, int] | None = None
        self._frozen: str | None = None
        self._looked = False

    def for_batch(self) -> FactFinder:
        """Return a finder for requests that are decided together."""
        return FactFinder(self._config, self._store, self._repositories)

    def facts(self, request: Request, push_secret: str | None = None) -> Facts:
        """Return what is known that concerns `request`. Raises Refused where there is no such repository.

        Where the answer depends on the repository, or is all that is wanted, also where that cannot be served.
        """
        known = replace(self.facts_of_record(), push_secret=push_secret)
        if request.operation in HOST_OPERATIONS:
            return known
        if not (request.dry_run or isinstance(request.params, PushParams)):
            self._repositories.paths(request.repo)
            return known  # whoever runs it opens the repository, and refuses it then
        git = self._repositories.open(request.repo)
        if not isinstance(request.params, PushParams):
            return known
        branches = frozenset(local_branches(git))
        default = default_branch(git, branches) if request.params.branch is None else None
        return replace(known, branches=branches, default_branch=default)

    def facts_of_record(self) -> Facts:
        """Return what is known without looking at a repository. Raises Unavailable where the record is not there."""
        queues = self._config.laravel.queues if self._config.laravel is not None else None
        return Facts(frozen=self._why_frozen(), not_configured=self._config.not_configured, queues=queues)

    def room_to_ask(self, repo: str) -> Refuse | None:
        """Return a refusal when so many requests of `repo` wait for operators that nobody would read another one."""
        if self._asking is None:
            self._asking = {}
            with self._store.reading() as view:
                for row in requests.in_state(view, State.AWAITING_APPROVAL, State.RECEIVED):
                    self._asking[row.repo] = self._asking.get(row.repo, 0) + 1
        waiting = self._asking.get(repo, 0)
        limit = self._config.limits.awaiting_approval
        if waiting >= limit:
            return Refuse(
                "too_many_waiting",
                f"{waiting} requests already wait for an operator",
                "wait until some of them are decided; do not raise more",
                RiskClass.CHANGE,
            )
        self._asking[repo] = waiting + 1
        return None

    def _why_frozen(self) -> str | None:
        if not self._looked:
            with self._store.reading() as view:
                freeze = controls.frozen(view)
            self._frozen = freeze.reason if freeze else None
            self._looked = True
        return self._frozen


def default_branch(git: Git, branches: frozenset[str]) -> str | None:
    """Return the branch that an empty push means: the remote's own default, else main or master, else the present."""
    at = head(git).branch
    return likely_default(git, branches) or (at if at in branches else None)
