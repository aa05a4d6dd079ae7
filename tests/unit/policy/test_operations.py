"""The operations' own facts."""

from __future__ import annotations

from executor.policy.model import Operation, RiskClass
from executor.policy.operations import OPERATIONS


def test_every_operation_is_described() -> None:
    assert set(OPERATIONS) == set(Operation)
    assert all(spec.body for spec in OPERATIONS.values())


def test_flags_of_one_moment_go_identity_command_add_commit_push_then_reads() -> None:
    order = sorted(Operation, key=lambda operation: OPERATIONS[operation].rank)
    assert order[:5] == [
        Operation.GIT_SET_CONFIG,
        Operation.GIT_CMD,
        Operation.GIT_ADD,
        Operation.GIT_COMMIT,
        Operation.GIT_PUSH,
    ]
    typed = [operation for operation in order if operation is not Operation.GIT_CMD]
    reads = [operation for operation in typed if OPERATIONS[operation].risk is RiskClass.READ]
    assert order[-len(reads) :] == reads
    assert len({spec.rank for spec in OPERATIONS.values()}) == len(OPERATIONS)
