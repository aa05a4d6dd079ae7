"""The operations there are, and what each is by itself. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from executor.policy.model import Operation, RiskClass


@dataclass(frozen=True, slots=True)
class OperationSpec:
    """What is known of an operation without a request.

    `risk` is its class (for git_cmd the mildest: the command decides). `rank` orders flags of the same moment, lower
    first. `changes` says whether it may change anything, so that a request that was cut short is not simply repeated.
    `summary` and `body` are for people: what it does, what its flag holds. `deadline_seconds` bounds one run.
    """

    risk: RiskClass
    rank: int
    changes: bool
    summary: str
    body: str
    deadline_seconds: int


OPERATIONS: Mapping[Operation, OperationSpec] = {
    Operation.GIT_SET_CONFIG: OperationSpec(
        RiskClass.CHANGE, 0, True, "set who commits: name and email", "Name | email", 30
    ),
    Operation.GIT_CMD: OperationSpec(
        RiskClass.READ, 1, True, "run one git command from the allowed ones", "one git command line", 300
    ),
    Operation.GIT_ADD: OperationSpec(
        RiskClass.CHANGE, 2, True, "stage files", "one path a line, . for everything", 120
    ),
    Operation.GIT_COMMIT: OperationSpec(
        RiskClass.CHANGE, 3, True, "commit what is staged", "the commit message", 120
    ),
    Operation.GIT_PUSH: OperationSpec(
        RiskClass.PUBLISH,
        4,
        True,
        "push one branch, fast-forward only",
        "a branch, or nothing for the default one",
        300,
    ),
    Operation.GIT_RECOVER: OperationSpec(
        RiskClass.CHANGE, 5, True, "ask operators for a recovery plan", "nothing", 300
    ),
    Operation.RESTART_QUEUE: OperationSpec(
        RiskClass.CHANGE, 6, True, "restart Laravel queue workers and verify it", "a queue, or nothing for all", 180
    ),
    Operation.GIT_STATUS: OperationSpec(RiskClass.READ, 7, False, "show the state of the work tree", "nothing", 60),
    Operation.GIT_CHECK: OperationSpec(
        RiskClass.READ, 8, False, "show identity, remotes, branch and what is in progress", "nothing", 60
    ),
    Operation.HEALTH_CHECK: OperationSpec(
        RiskClass.READ, 9, False, "look after containers and workers", "nothing", 120
    ),
}
