"""What an agent may ask for, and what of it would need a human: the content of `gateway.json`. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from executor.policy.model import Operation
from executor.protocol.bodies import BODY_LIMIT, REASON_LIMIT
from executor.protocol.names import NAME_PATTERN
from executor.protocol.results import OUTPUT_LIMIT, PROTOCOL, Moment, Redact, View, showable
from executor.protocol.sightings import SETTLE


class Needs(StrEnum):
    """What has to happen before an operation runs."""

    AUTO = "auto"  # nothing
    APPROVAL = "approval"  # an operator's yes
    DEPENDS = "depends"  # on what exactly is asked (`why` says how)
    REFUSED = "refused"  # it is not run on this host


class OperationView(View):
    """One operation: what it needs and why, and what its body means (empty: it has none)."""

    needs: Needs
    why: str = ""
    body: str = ""


class LimitsView(View):
    """The sizes and patterns that requests are held to."""

    body_bytes: int = BODY_LIMIT
    reason_characters: int = REASON_LIMIT
    output_bytes: int = OUTPUT_LIMIT
    settle_seconds: float = SETTLE
    id_pattern: str = NAME_PATTERN


class Capabilities(View):
    """The content of `gateway.json`; built by `capabilities`."""

    protocol: int = PROTOCOL
    heartbeat_at: Moment
    repositories: tuple[str, ...]  # the default one first
    operations: dict[Operation, OperationView]
    limits: LimitsView = LimitsView()
    frozen: str | None = None
    degraded: tuple[str, ...] = ()

    def to_json(self) -> str:
        return self.model_dump_json(indent=2) + "\n"


def capabilities(
    redact: Redact,
    *,
    heartbeat_at: datetime,
    repositories: Sequence[str],
    operations: dict[Operation, OperationView],
    frozen: str | None = None,
    degraded: Sequence[str] = (),
) -> Capabilities:
    """Given what the host offers now, return it for the agent.

    `repositories` names the default one first. `frozen` says why operators stopped everything that needs them, if
    they did; `degraded` says in a sentence each what does not work. These two come from people and programs, and are
    masked by `redact`.
    """
    return Capabilities(
        heartbeat_at=heartbeat_at,
        repositories=tuple(repositories),
        operations=operations,
        frozen=None if frozen is None else showable(redact(frozen)),
        degraded=tuple(showable(redact(note)) for note in degraded),
    )
