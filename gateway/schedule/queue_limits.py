"""When a queue is beyond its limits, when it is well below them, and when it is better than it was. Pure.

Jobs that are delayed are not late, so they count for nothing here.
"""

from __future__ import annotations

from dataclasses import replace

from executor.laravel.model import QueueCount
from gateway.schedule.queue_state import QueueState, Rules

HOUR = 3600.0
FLOOR_SECONDS = HOUR  # what comes back within it is the same story, and no second cry for help (A35)
DRAINS_SHARE = 0.9  # of what was pending before: no more than so much, and it drains


def is_breach(count: QueueCount, rules: Rules) -> bool:
    """Return whether a known count is beyond a limit."""
    return _beyond(count, rules, 1.0)


def is_clear(count: QueueCount, rules: Rules) -> bool:
    """Return whether a known count is well below both limits."""
    return not _beyond(count, rules, rules.clear_share)


def _beyond(count: QueueCount, rules: Rules, share: float) -> bool:
    pending = count.pending or 0
    too_old = pending > 0 and (count.oldest_seconds or 0.0) > share * rules.max_age_seconds
    return pending > share * rules.max_pending or too_old


def noted(queue: QueueState, count: QueueCount) -> QueueState:
    """Return the state with a count remembered, for whether things are better later."""
    return replace(queue, before_pending=count.pending or 0, before_oldest=count.oldest_seconds)


def eased(queue: QueueState, count: QueueCount) -> bool:
    """Return whether things are better than when they were noted: fewer jobs wait, or the oldest were taken."""
    fewer = (count.pending or 0) <= DRAINS_SHARE * queue.before_pending
    ages = queue.before_oldest, count.oldest_seconds
    return fewer or (ages[0] is not None and ages[1] is not None and ages[1] < ages[0])


def counted(count: QueueCount) -> dict[str, object]:
    """Return what was counted, for the audit event."""
    known = {
        "pending": count.pending,
        "delayed": count.delayed,
        "reserved": count.reserved,
        "failed": count.failed,
        "oldest_seconds": count.oldest_seconds,
    }
    return {name: value for name, value in known.items() if value is not None}
