"""What was seen of a restart: from the workers, the signal and the jobs before and after, to what that proves. Pure.

A command that exits 0 proves nothing: `queue:restart` does so with no worker at all (F01), and a worker that ended is
only started again where something watches it (F03). Where workers can be seen, they decide. Where none can, a job
that was taken after the restart shows that somebody works.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from executor.laravel.model import QueueCount, RestartProof, Worker
from executor.spans import plural, several, span

_SAME_START = 3.0  # s within which two looks see one start: a container's is told in whole seconds


@dataclass(frozen=True, slots=True)
class Observation:
    """One look. `workers` None: they cannot be seen, for the reason `unseen`. `signal` None: there is none.

    `asked` says whether the signal could be looked for at all. `at` is in seconds since the epoch.
    """

    at: float
    workers: tuple[Worker, ...] | None = None
    unseen: str = ""
    asked: bool = False
    signal: int | None = None
    counts: tuple[QueueCount, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """What became of the workers between two looks."""

    gone: tuple[Worker, ...]
    stayed: tuple[Worker, ...]
    new: tuple[Worker, ...]


def change(before: Observation, after: Observation) -> Change:
    """Return which workers ended, stayed and came."""
    olds, nows = before.workers or (), after.workers or ()
    stayed = tuple(old for old in olds if any(_same(old, now) for now in nows))
    gone = tuple(old for old in olds if old not in stayed)
    new = tuple(now for now in nows if not any(_same(old, now) for old in olds))
    return Change(gone, stayed, new)


def is_settled(before: Observation, after: Observation) -> bool:
    """Whether there is nothing more to wait for: as many new workers as there were, and none from before."""
    if after.workers is None or not (before.workers or after.workers):
        return any(_taken(before, after))
    seen = change(before, after)
    return bool(seen.new) and not seen.stayed and len(seen.new) >= len(seen.gone)


def workers_are_gone(before: Observation, after: Observation) -> bool:
    """Whether workers ended and nobody started any again."""
    return bool(before.workers) and after.workers == ()


def prove(before: Observation, after: Observation, *, signals: bool) -> RestartProof:
    """Return what two looks prove; `signals` says whether the restart goes through the application's cache."""
    seen, missing = [*_taken(before, after)], list[str]()
    if after.workers is None or before.workers is None:
        verified = bool(seen)
        missing.append(f"workers could not be seen: {after.unseen or before.unseen}")
    elif not (before.workers or after.workers):
        verified = bool(seen)
        missing.append("no queue worker was seen, before or after")
    else:
        found = change(before, after)
        verified = bool(found.new) and not found.stayed
        seen = [*_came(found), *seen]
        missing += _did_not(found, after)
    if signals and after.asked:
        newer = after.signal is not None and (before.signal is None or after.signal > before.signal)
        (seen if newer else missing).append(
            "the restart signal in the application's cache is new" if newer else "no new restart signal in the cache"
        )
    return RestartProof(verified, tuple(seen), tuple(missing))


def _same(old: Worker, now: Worker) -> bool:
    return old.pid == now.pid and abs(old.started_at - now.started_at) < _SAME_START


def _came(found: Change) -> Iterator[str]:
    if found.gone:
        yield f"{plural(len(found.gone), 'worker')} from before ended"
    if found.new:
        yield f"{plural(len(found.new), 'worker')} started: {_pids(found.new)}"


def _did_not(found: Change, after: Observation) -> Iterator[str]:
    if found.stayed:
        old = span(after.at - min(worker.started_at for worker in found.stayed))
        still = f"still there ({_pids(found.stayed)}, up to {old} old)"
        yield f"{plural(len(found.stayed), 'worker')} from before {still}: {_why_stayed(found.stayed)}"
    if found.gone and not found.new:
        yield f"nobody started workers again: {plural(len(found.gone), 'worker')} ended"
    elif len(found.new) < len(found.gone):
        yield f"only {len(found.new)} of {len(found.gone)} came back so far"


def _why_stayed(workers: tuple[Worker, ...]) -> str:
    if all(worker.command == "queue:listen" for worker in workers):
        return "queue:listen hears of no restart, and starts PHP anew for each job"
    return "one that is busy first finishes its job, one of another release or cache never hears of it"


def _taken(before: Observation, after: Observation) -> Iterator[str]:
    """Yield a sentence for each queue from which a job was taken in between."""
    olds = {count.queue: count for count in before.counts}
    for now in after.counts:
        old = olds.get(now.queue)
        if old is None or not (old.known and now.known) or not old.pending or now.pending is None:
            continue
        if now.pending < old.pending:
            yield f"{now.queue}: {old.pending} jobs were pending, {now.pending} are now"
        elif old.oldest_seconds is not None and now.oldest_seconds is not None:
            waited = after.at - before.at
            if now.oldest_seconds + 2 < old.oldest_seconds + waited:
                yield f"{now.queue}: the oldest pending job is a younger one"


def _pids(workers: tuple[Worker, ...]) -> str:
    return f"pid {several([str(worker.pid) for worker in workers], 5)}"
