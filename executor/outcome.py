"""How a request ends, and what is said about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from executor.errors import Problem


class State(StrEnum):
    """Where a request is in its life (docs/protocol.md shows the arrows)."""

    RECEIVED = "received"
    QUEUED = "queued"
    AWAITING_APPROVAL = "awaiting_approval"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"  # the gateway stopped while it ran; the outcome is unknown
    REFUSED = "refused"  # the gateway said no; nothing was run
    DENIED = "denied"  # an operator said no: do not retry
    EXPIRED = "expired"  # nobody answered in time
    UNDELIVERABLE = "undeliverable"  # nobody could be asked
    WITHDRAWN = "withdrawn"  # the agent or an operator took it back

    @property
    def final(self) -> bool:
        return self not in OPEN_STATES


OPEN_STATES = frozenset({State.RECEIVED, State.QUEUED, State.AWAITING_APPROVAL, State.RUNNING})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What running an operation came to.

    `output` is text for the agent, not yet redacted. `verified` says what was read back after the operation:
    `{"effect": true, ...}` when the effect was seen, `{"effect": false, "why": ...}` when it ran but was not seen.
    `files` are texts to publish in the shared directory under fixed names (`git_status.txt`, `git_check.txt`).
    """

    state: State
    exit_code: int | None = None
    output: str = ""
    truncated: bool = False
    error: Problem | None = None
    verified: Mapping[str, object] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
