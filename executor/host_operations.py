"""What is run for the host and not in a repository: restart_queue and health_check.

Their requests wait in a lane of their own, HOST_LANE, which is also the `repo` of their rows and results: "", for no
repository. So they run where none is adopted, never wait behind git, and git never waits for them.

Each operation is a `HostOperation`: `run(request_id, request)` returns an Outcome or raises a Problem, and bounds its
own time; `shown(request)` names what an approval of it is for. What this host has no set-up for is not among them;
`ExecutorConfig.not_configured` names it to the policy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from executor.config import ExecutorConfig
from executor.errors import Failed, Refused
from executor.git.drift import Binding
from executor.laravel.config import LaravelConfig
from executor.laravel.restart_plan import what_restarts
from executor.outcome import Outcome
from executor.policy.model import Operation, QueueParams, Request, RiskClass
from executor.policy.operations import OPERATIONS
from executor.sandbox.process import ProcessRunner

HOST_LANE = ""
HOST_OPERATIONS = frozenset({Operation.RESTART_QUEUE, Operation.HEALTH_CHECK})

Things = tuple[tuple[str, str | None], ...]


def _nothing_more(_request: Request) -> Things:
    return ()


@dataclass(frozen=True, slots=True)
class HostOperation:
    """How an operation is run, and what an approval of it binds: (what a person calls it, what it is)."""

    run: Callable[[str, Request], Outcome]
    shown: Callable[[Request], Things] = _nothing_more


def _restart(laravel: LaravelConfig, runner: ProcessRunner, cancel: threading.Event) -> HostOperation:
    from executor.laravel.restart import restart  # only hosts with queues need what counts them

    return HostOperation(
        lambda _request_id, request: restart(laravel, runner, _queue(request), cancel),
        lambda request: what_restarts(laravel, _queue(request)),
    )


def _queue(request: Request) -> str | None:
    return request.params.queue if isinstance(request.params, QueueParams) else None


class HostOperations:
    """The operations of the host that are configured. Used by one thread at a time."""

    def __init__(self, config: ExecutorConfig, runner: ProcessRunner, cancel: threading.Event) -> None:
        self._found: dict[Operation, HostOperation] = {}
        if config.laravel is not None:
            self.register(Operation.RESTART_QUEUE, _restart(config.laravel, runner, cancel))

    def register(self, operation: Operation, made: HostOperation) -> None:
        """Let `operation` be run by `made` from now on."""
        self._found[operation] = made

    def run(self, request_id: str, request: Request) -> Outcome:
        """Run what was decided and return its outcome. Raises Problem where it could not be begun."""
        return self._of(request).run(request_id, request)

    def binding(self, request: Request, argv: tuple[str, ...]) -> Binding:
        """Return what an approval of `request` is for."""
        return Binding(HOST_LANE, str(request.operation), argv, self._of(request).shown(request))

    def _of(self, request: Request) -> HostOperation:
        made = self._found.get(request.operation)
        if made is None:
            raise Failed("not_configured", f"this host is not set up for {request.operation}", "go on without it")
        return made


def lane(operation: Operation | None, repository: str) -> str:
    """Return where a request waits: operations of the host in their own lane, all others with their repository."""
    return HOST_LANE if operation in HOST_OPERATIONS else repository


def undone_in(request_id: str, operation: Operation | None, repository: str) -> str:
    """Return the repository in which a request is undone. Raises Refused where it concerned the host itself."""
    if operation not in HOST_OPERATIONS:
        return repository
    raise Refused(
        "no_rescue",
        f"the request {request_id} ({operation}) concerned the host and no repository: nothing is undone by that",
        f"ops-gateway why {request_id} shows what it did",
    )


def only_reads(operation: Operation) -> bool:
    """Whether an operation changes nothing, so that after a crash it is simply run again."""
    return OPERATIONS[operation].risk is RiskClass.READ
