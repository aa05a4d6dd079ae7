"""The values that watching a queue is made of. All frozen, all pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class QueueCount:
    """How one queue stands at one moment. What could not be counted is None, which is never the same as zero.

    `oldest_seconds` is the age of the oldest pending job; None also where the source cannot tell or nothing is
    pending. `problem` says in words why something is not known. `existed` is False when the source holds no trace of
    a queue of that name: it may be spelled wrongly, or nothing was ever put on it.
    """

    queue: str
    pending: int | None = None
    delayed: int | None = None
    reserved: int | None = None
    failed: int | None = None
    oldest_seconds: float | None = None
    problem: str = ""
    existed: bool = True

    @property
    def known(self) -> bool:
        return self.pending is not None


@dataclass(frozen=True, slots=True)
class QueueSample:
    """All watched queues at one moment (an aware datetime)."""

    at: datetime
    counts: tuple[QueueCount, ...]


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that works on queues, on the host or in a container; `started_at` is in seconds since the epoch.

    `directory` is where it works, "" where that cannot be seen.
    """

    pid: int
    started_at: float
    queues: tuple[str, ...]  # as its command line names them; empty where it names none
    command: str
    container: str = ""
    directory: str = ""


@dataclass(frozen=True, slots=True)
class RestartProof:
    """What was seen after a restart. `verified` is True only when new workers took over, or a job was taken.

    `seen` are the facts for it and `missing` what was looked for and not found, each a sentence for people.
    """

    verified: bool
    seen: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
