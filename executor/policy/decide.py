"""Whether a request runs, is put to operators, or is refused. Pure and total: no I/O, no clock, never raises."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from executor.errors import Refused
from executor.git.grammar import judge
from executor.git.refnames import looks_like_release
from executor.policy.model import (
    AddParams,
    Ask,
    CmdParams,
    Command,
    CommitParams,
    Decision,
    Facts,
    NoParams,
    Operation,
    Params,
    Policy,
    PushParams,
    QueueParams,
    Refuse,
    Request,
    RiskClass,
    Run,
    SetConfigParams,
)
from executor.policy.operations import OPERATIONS

_INCOMPLETE = "not scanned in full"  # how a look for secrets that was cut short begins
_DEFAULT_QUORUM = 1
_DEFAULT_EXPIRY_SECONDS = 3600


def decide(request: Request, policy: Policy, facts: Facts) -> Decision:
    """Return what becomes of `request`.

    Reads run; the typed operations run unless the host's policy or a fact speaks against it; any other git command is
    put to operators; what the grammar does not know, or what contradicts the facts, is refused. Facts that are not
    known (None) never make a decision milder. `dry_run` does not matter here.
    """
    try:
        _require_possible(request, policy, facts)
        if isinstance(request.params, CmdParams) and request.operation is Operation.GIT_CMD:
            return _decide_command(request.params, policy, facts)
        return _decide_typed(request, policy, facts)
    except Refused as refused:
        return Refuse.of(refused)


def _require_possible(request: Request, policy: Policy, facts: Facts) -> None:
    if not isinstance(request.params, _PARAMS[request.operation]):
        raise Refused("bad_params", f"these are not the parameters of {request.operation}", "ask again")
    if policy.repositories and request.repo and request.repo not in policy.repositories:
        known = ", ".join(policy.repositories)
        raise Refused(
            "unknown_repository", f"there is no repository {request.repo!r} here", f"configured are: {known}"
        )
    if request.operation in facts.not_configured:
        raise Refused(
            "not_configured",
            f"this host is not set up for {request.operation}",
            "go on without it, and do not ask again",
        )


def _decide_command(params: CmdParams, policy: Policy, facts: Facts) -> Decision:
    command = judge(params.words)
    _require_not_frozen(command.risk, facts)
    reasons = command.reasons
    if Operation.GIT_CMD in policy.approve:
        reasons += (_host_asks(Operation.GIT_CMD),)
    elif command.risk is RiskClass.READ:
        return Run(command.risk, command.argv, command, reasons)
    if command.runner == "push" and facts.push_secret is not None:
        reasons += (_secret(facts.push_secret),)
    return _ask(command.risk, command.argv, reasons, policy, command)


def _decide_typed(request: Request, policy: Policy, facts: Facts) -> Decision:
    risk = OPERATIONS[request.operation].risk
    _require_not_frozen(risk, facts)
    params = request.params
    reasons: tuple[str, ...] = ()
    if isinstance(params, PushParams):
        params = PushParams(params.branch or facts.default_branch)
        reasons += _push_reasons(params.branch, policy, facts)
    if isinstance(params, QueueParams) and params.queue is not None:
        _require_queue(params.queue, facts)
    if request.operation is Operation.GIT_RECOVER:
        reasons += ("operators are shown the plan before anything is done",)
    if request.operation in policy.approve:
        reasons += (_host_asks(request.operation),)
    argv = (str(request.operation), *_values(params))
    return _ask(risk, argv, reasons, policy) if reasons else Run(risk, argv)


def _push_reasons(branch: str | None, policy: Policy, facts: Facts) -> tuple[str, ...]:
    """Return why a push of `branch` must be asked for; raises Refused where there is no such branch."""
    reasons: tuple[str, ...] = ()
    if branch is not None:
        _require_branch(branch, facts)
        if any(fnmatchcase(branch, pattern) for pattern in policy.protected_branches):
            reasons += (f"{branch} is a protected branch",)
    elif policy.protected_branches:
        reasons += ("the default branch is not known, and this host protects branches",)
    if facts.push_secret is not None:
        reasons += (_secret(facts.push_secret),)
    return reasons


def _require_branch(branch: str, facts: Facts) -> None:
    if facts.branches is None:
        if looks_like_release(branch):
            raise Refused(
                "no_such_branch",
                f"{branch!r} is named like a release and cannot be confirmed to be a branch without the repository",
                "git_push takes a branch; for a tag use git_cmd with: git push origin refs/tags/NAME",
            )
        return
    if branch not in facts.branches:
        some = ", ".join(sorted(facts.branches)[:10]) or "none"
        raise Refused(
            "no_such_branch",
            f"there is no local branch {branch!r}",
            f"branches are: {some}; for a tag use git_cmd with: git push origin refs/tags/NAME",
        )


def _require_queue(queue: str, facts: Facts) -> None:
    if facts.queues is not None and queue not in facts.queues:
        known = ", ".join(facts.queues)
        raise Refused(
            "unknown_queue",
            f"there is no queue {queue!r} here",
            f"configured are: {known}; nothing means all of them",
        )


def _require_not_frozen(risk: RiskClass, facts: Facts) -> None:
    if facts.frozen is not None and risk is not RiskClass.READ:
        raise frozen_refusal(facts.frozen)


def frozen_refusal(reason: str) -> Refused:
    """Return why nothing but reading is done while operators have frozen the gateway for that reason."""
    return Refused(
        "frozen",
        f"operators have frozen this gateway: {reason}" if reason else "operators froze this gateway",
        "only reading is possible now; wait until it is unfrozen, do not retry in a loop",
    )


def _ask(
    risk: RiskClass, argv: tuple[str, ...], reasons: tuple[str, ...], policy: Policy, command: Command | None = None
) -> Ask:
    quorum = policy.quorum.get(risk, _DEFAULT_QUORUM)
    expiry = policy.expiry_seconds.get(risk, _DEFAULT_EXPIRY_SECONDS)
    return Ask(risk, argv, reasons, quorum, expiry, command)


def _host_asks(operation: Operation) -> str:
    return f"this host puts every {operation} to operators"


def _secret(kind: str) -> str:
    if kind.startswith(_INCOMPLETE):
        return f"the commits to be pushed could not be looked through for secrets: {kind}"
    return f"the commits to be pushed seem to hold a secret: {kind}"


def _values(params: Params) -> tuple[str, ...]:
    """Return the values of a typed operation, for people to read after its name."""
    match params:
        case AddParams(paths):
            return paths
        case CommitParams(message):
            return (message,)
        case PushParams(branch):
            return (branch,) if branch is not None else ()
        case SetConfigParams(name, email):
            return (name, email)
        case CmdParams(words):
            return words
        case QueueParams(queue):
            return (queue,) if queue is not None else ()
        case NoParams():
            return ()


_PARAMS: Mapping[Operation, type[Params]] = {
    Operation.GIT_STATUS: NoParams,
    Operation.GIT_ADD: AddParams,
    Operation.GIT_COMMIT: CommitParams,
    Operation.GIT_PUSH: PushParams,
    Operation.GIT_CHECK: NoParams,
    Operation.GIT_SET_CONFIG: SetConfigParams,
    Operation.GIT_CMD: CmdParams,
    Operation.GIT_RECOVER: NoParams,
    Operation.RESTART_QUEUE: QueueParams,
    Operation.HEALTH_CHECK: NoParams,
}
