"""The operations there are, and what each is by itself. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from executor.policy.model import Operation, RiskClass


@dataclass(frozen=True, slots=True)
class OperationSpec:
    """What is known of an operation without a request.

    `risk` is its class (for git_cmd the mildest: the command decides). `rank` orders flags of the same moment, lower
    first. `body` says what its flag holds, for people.
    """

    risk: RiskClass
    rank: int
    body: str


OPERATIONS: Mapping[Operation, OperationSpec] = {
    Operation.GIT_SET_CONFIG: OperationSpec(RiskClass.CHANGE, 0, "Name | email"),
    Operation.GIT_CMD: OperationSpec(RiskClass.READ, 1, "one git command line"),
    Operation.GIT_ADD: OperationSpec(RiskClass.CHANGE, 2, "one path a line, . for everything"),
    Operation.GIT_COMMIT: OperationSpec(RiskClass.CHANGE, 3, "the commit message"),
    Operation.GIT_PUSH: OperationSpec(RiskClass.PUBLISH, 4, "a branch, or nothing for the default one"),
    Operation.GIT_RECOVER: OperationSpec(RiskClass.CHANGE, 5, "nothing"),
    Operation.RESTART_QUEUE: OperationSpec(RiskClass.CHANGE, 6, "a queue, or nothing for all"),
    Operation.GIT_STATUS: OperationSpec(RiskClass.READ, 7, "nothing"),
    Operation.GIT_CHECK: OperationSpec(RiskClass.READ, 8, "nothing"),
    Operation.HEALTH_CHECK: OperationSpec(RiskClass.READ, 9, "nothing"),
}
