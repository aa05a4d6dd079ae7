"""From a decided request to what does it: keep what could be lost, run the action, report steps as they happen."""

from __future__ import annotations

from collections.abc import Mapping

from executor.config import Limits
from executor.facts import default_branch
from executor.git.actions import run_operation
from executor.git.add_size import require_size
from executor.git.bringing_in import what_comes
from executor.git.coming_files import standing_in_the_way
from executor.git.ignored_losses import ignored_losses
from executor.git.outgoing import outgoing_secret
from executor.git.questions import local_branches
from executor.git.recovery_model import NothingToDo
from executor.git.recovery_steps import planned, recover
from executor.git.repository import Git
from executor.git.rescue import preserve
from executor.git.run_command import run_command
from executor.outcome import Outcome
from executor.policy.model import (
    AddParams,
    Command,
    Contact,
    Decision,
    Operation,
    PushParams,
    Refuse,
    Request,
    RiskClass,
)
from executor.record.store import Store

# Commands that may remove a directory with a repository of its own in it, which no snapshot can hold.
_REMOVES_DIRECTORIES = frozenset({"clean", "checkout", "switch", "reset", "rm"})


class Operations:
    """Runs operations. Steps of a recovery are recorded as events while they happen."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._limits = limits

    def outgoing_secret(self, git: Git, request: Request) -> str | None:
        """Return what kind of secret a push seems to publish, if the request is one and it does."""
        if isinstance(request.params, PushParams):
            return outgoing_secret(git, self._branch(git, request.params))
        return None

    def nothing_to_do(self, git: Git, request: Request) -> bool:
        """Whether a recovery was asked for where there is nothing to recover, so that nobody need be asked."""
        return request.operation is Operation.GIT_RECOVER and isinstance(planned(git)[1], NothingToDo)

    def run(
        self, git: Git, request_id: str, request: Request, decision: Decision, bound: Mapping[str, str]
    ) -> Outcome:
        """Run what was decided and return its outcome. Raises Problem where it could not be begun."""
        assert not isinstance(decision, Refuse)
        command = decision.command
        if request.operation is Operation.GIT_RECOVER:
            return recover(
                git, request_id, on_step=lambda step, state, detail: self._step(request_id, step, state, detail)
            )
        if isinstance(request.params, AddParams):
            require_size(git, request.params.paths, self._limits.add_bytes)
        if decision.risk is not RiskClass.READ:
            _preserve(git, request_id, command)
        if command is not None:
            return run_command(git, command, bound)
        branch = self._branch(git, request.params) if isinstance(request.params, PushParams) else None
        return run_operation(git, request, default_branch=branch, bound=bound)

    def _branch(self, git: Git, params: PushParams) -> str | None:
        return params.branch or default_branch(git, frozenset(local_branches(git)))

    def _step(self, request_id: str, step: str, state: str, detail: str) -> None:
        with self._store.transaction() as tx:
            tx.append(f"recovery.{state}", request_id, {"step": step, "detail": detail})


def _preserve(git: Git, request_id: str, command: Command | None) -> None:
    """Keep what `command` (None: a typed operation, which changes no file) could lose. Raises Refused."""
    if command is None or command.contact is not Contact.WRITE:
        preserve(git, request_id, worktree=False)
        return
    removes = command.risk is RiskClass.REWRITE and command.subcommand in _REMOVES_DIRECTORIES
    ignored = standing_in_the_way(git, what_comes(command)) | ignored_losses(git, command)
    preserve(git, request_id, worktree=True, embedded=removes, also=ignored)
