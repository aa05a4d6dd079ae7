"""What the queue monitor goes by, what it remembers from one look to the next, and what it can come to. Pure values.

Moments are seconds since the epoch. What is remembered outlives the process, so it goes to JSON and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Rules:
    """What the operator set: limits, and how patient to be. Times in seconds, the others in looks or restarts."""

    max_pending: int = 50
    max_age_seconds: float = 600.0
    breaches: int = 3  # looks in a row beyond a limit before anything is said or done
    cooldown_seconds: float = 900.0  # between two restarts, doubled with each that did not help
    restarts_an_hour: int = 2
    clears: int = 2  # looks in a row that must be well below the limits before all is clear
    clear_share: float = 0.8  # of a limit: well below it
    unknowns: int = 3  # looks in a row without a count before that is said


class Hold(StrEnum):
    """Why no restart may be asked for now."""

    NONE = ""
    OUTSIDE_HOURS = "outside_hours"
    FROZEN = "frozen"
    REFUSED = "refused"  # the host's set-up or policy is against it


class RestartState(StrEnum):
    """What became of the restart that the monitor asked for last."""

    OPEN = "open"  # it waits for operators, or for its turn, or runs
    VERIFIED = "verified"
    UNVERIFIED = "unverified"  # the command ran; its effect was not seen
    FAILED = "failed"
    DENIED = "denied"  # by an operator


@dataclass(frozen=True, slots=True)
class LastRestart:
    """The restart that was asked for last, and in words why it came to nothing where it did."""

    state: RestartState
    why: str = ""

    @property
    def ran(self) -> bool:
        return self.state in (RestartState.VERIFIED, RestartState.UNVERIFIED)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a look needs to know beside the counts."""

    now: float
    hold: Hold = Hold.NONE
    restart: LastRestart | None = None


class Kind(StrEnum):
    """What a look can come to: the kinds of the audit events that tell of it."""

    CONGESTED = "queue.congested"
    RESTART = "queue.restart_asked"
    WITHDRAW = "queue.restart_withdrawn"  # the last one has not begun, and is not needed any more
    DRAINING = "queue.draining"
    RESTART_TROUBLE = "queue.restart_trouble"  # the last one failed, was denied, or was not seen to take effect
    STILL = "queue.still_congested"  # after a restart that did take effect, or with no more restarts left
    CLEAR = "queue.all_clear"
    UNKNOWN = "queue.count_unknown"
    KNOWN = "queue.count_known"
    ABSENT = "queue.never_existed"


@dataclass(frozen=True, slots=True)
class Act:
    """One thing to tell or, for RESTART and WITHDRAW, to do.

    `story` is what it is a part of: one congestion, or one outage. `loud` says that a person has to hear of it now.
    `data` is for the audit event.
    """

    kind: Kind
    queue: str
    story: str
    loud: bool = False
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueueState:
    """One queue. While `open` it is congested; `story` stays afterwards, to be taken up if that soon comes back."""

    breaches: int = 0  # looks in a row beyond a limit
    clears: int = 0  # looks in a row well below both
    unknowns: int = 0  # looks in a row without a count
    knowns: int = 0  # looks in a row with one
    unknown_told: bool = False
    seen: bool = False  # that there is a queue of that name: an empty one may leave no trace
    absent_told: bool = False
    open: bool = False
    story: str = ""
    story_begun_at: float = 0.0
    opened_at: float = 0.0
    closed_at: float = 0.0
    worst: int = 0  # pending, in this congestion
    restarts: int = 0  # asked for in this congestion
    before_pending: int = 0  # when the last restart was asked for, or last judged
    before_oldest: float | None = None  # age of the oldest pending job then
    draining: bool = False  # it was said that it drains since the last restart
    limit_told: bool = False  # it was said that no more restarts are made for now
    cried_at: float = 0.0  # when it was last said loudly that somebody is needed


@dataclass(frozen=True, slots=True)
class MonitorState:
    """All queues, and the restarts, which are for all of them."""

    queues: Mapping[str, QueueState] = field(default_factory=dict)
    restarts: tuple[float, ...] = ()  # when they were asked for, the last hour's
    due: float = 0.0  # no restart before
    judge_at: float = 0.0  # when it is looked at what the last restart came to
    in_vain: int = 0  # restarts in a row that did not help
    judged: bool = True  # whether it was looked at what the last restart came to
    denied: bool = False  # an operator said no, which holds until all is clear
    outage: str = ""  # the story of counts that fail
    outage_begun_at: float = 0.0
    outage_over_at: float = 0.0
    looked_at: float = 0.0

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> MonitorState:
        """Return what `as_data` was made of; what an older version did not know yet has its default."""
        own = {name.name: data[name.name] for name in fields(cls) if name.name in data}
        queues = {name: _queue(each) for name, each in data.get("queues", {}).items()}
        return cls(**{**own, "queues": queues, "restarts": tuple(data.get("restarts", ()))})


def _queue(data: Mapping[str, Any]) -> QueueState:
    return QueueState(**{each.name: data[each.name] for each in fields(QueueState) if each.name in data})
