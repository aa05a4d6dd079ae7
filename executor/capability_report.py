"""What gateway.json says: each operation with what it needs on this host, now."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from executor.config import ExecutorConfig
from executor.policy.model import Operation
from executor.policy.operations import OPERATIONS
from executor.protocol.capabilities import Needs, OperationView, capabilities
from executor.record import controls
from executor.record.store import Store


def capability_report(config: ExecutorConfig, store: Store, troubles: Mapping[str, str]) -> str:
    """Return the text of gateway.json for this configuration, with what does not work now."""
    with store.reading() as view:
        freeze = controls.frozen(view)
    return capabilities(
        store.redactor,
        heartbeat_at=datetime.now(UTC),
        repositories=[each.name for each in config.repositories],
        operations={operation: _needs(config, operation) for operation in Operation},
        frozen=None if freeze is None else freeze.reason,
        degraded=[f"{what}: {why}" for what, why in sorted(troubles.items())],
    ).to_json()


def _needs(config: ExecutorConfig, operation: Operation) -> OperationView:
    body = OPERATIONS[operation].body
    if operation is Operation.RESTART_QUEUE and config.laravel is not None:
        body = f"one of {', '.join(config.laravel.queues)}, or nothing for all"
    if operation in config.not_configured:
        return OperationView(needs=Needs.REFUSED, why="this host is not set up for it", body=body)
    if operation in config.policy.approve:
        return OperationView(needs=Needs.APPROVAL, why="this host puts it to operators", body=body)
    if operation is Operation.GIT_RECOVER:
        why = "operators are shown the plan; where nothing is wrong it answers at once"
        return OperationView(needs=Needs.DEPENDS, why=why, body=body)
    if operation is Operation.GIT_CMD:
        why = "commands that only read run; the others are put to operators, unsafe ones are refused"
        return OperationView(needs=Needs.DEPENDS, why=why, body=body)
    if operation is Operation.GIT_PUSH:
        protected = ", ".join(config.policy.protected_branches)
        why = "a push that seems to hold a secret is put to operators"
        why += f", and one to {protected}" if protected else ""
        return OperationView(needs=Needs.DEPENDS, why=why, body=body)
    return OperationView(needs=Needs.AUTO, body=body)
