"""Whether each queue has somebody who works on it, judged by the command lines of the workers there are. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from executor.health.report import Finding, Level
from executor.laravel.model import Worker
from executor.spans import plural, span

PROBE = "workers"
_NOT_THEMSELVES = frozenset({"horizon", "horizon:supervisor"})  # they start workers, and run no job
_UNNAMED = "default"  # what `queue:work` without --queue works on, unless its connection is configured otherwise
_MEND = "look at what keeps them running (supervisorctl status, systemctl status, docker ps), then restart_queue"


def judge(queues: Sequence[str], found: Sequence[Worker], now: float) -> Iterator[Finding]:
    """Yield a finding for each queue that is expected to be worked on; `now` is in seconds since the epoch."""
    workers = [each for each in found if each.command not in _NOT_THEMSELVES]
    unnamed = sum(not each.queues for each in workers)
    for queue in queues:
        own = [each for each in workers if queue in (each.queues or (_UNNAMED,))]
        yield _judged(queue, own, unnamed, now)


def _judged(queue: str, own: Sequence[Worker], unnamed: int, now: float) -> Finding:
    if own:
        oldest = max(now - worker.started_at for worker in own)
        what = f"{plural(len(own), 'worker')}, the oldest for {span(oldest)}"
        facts = {"workers": len(own), "oldest_seconds": round(max(oldest, 0.0))}
        return Finding(PROBE, queue, Level.GOOD, what, facts=facts)
    if unnamed:
        what = f"none names this queue; {plural(unnamed, 'worker')} without --queue may work on it"
        return Finding(PROBE, queue, Level.UNKNOWN, what, "start workers with --queue", facts={"workers": None})
    return Finding(PROBE, queue, Level.BAD, "nobody works on this queue: jobs wait", _MEND, facts={"workers": 0})
