"""What a look at the queues comes to. Pure: given what is remembered and what was counted, say what to tell and do.

A congestion begins when a queue was beyond its limits in several looks in a row, and is over when it was well below
them in some. A count that is not known is neither good nor bad: it begins nothing and ends nothing. When and whether
workers are restarted is decided in `queue_restarts`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from executor.laravel.model import QueueCount, QueueSample
from gateway.schedule.queue_limits import FLOOR_SECONDS, HOUR, counted, eased, is_breach, is_clear
from gateway.schedule.queue_restarts import judge, restart, withdrawn
from gateway.schedule.queue_state import Act, Facts, Kind, MonitorState, QueueState, Rules

STORY_SECONDS = 24 * HOUR  # no story goes on for ever: one that is older is not taken up again


def step(
    state: MonitorState, sample: QueueSample, facts: Facts, rules: Rules
) -> tuple[MonitorState, tuple[Act, ...]]:
    """Given what is remembered, one look, and what else there is to know, return what to remember and what to do.

    RESTART acts of one step are one restart. A queue that the sample does not name is forgotten.
    """
    acts: list[Act] = []
    queues: dict[str, QueueState] = {}
    counts = {count.queue: count for count in sample.counts}
    state = _outage_begun(_fresh(state, facts.now, rules), counts, facts)
    for name, count in counts.items():
        queues[name], told = _looked_at(state, state.queues.get(name, QueueState()), count, facts, rules)
        acts += told
    state = replace(state, queues=queues)
    if not any(queue.unknown_told for queue in queues.values()) and any(act.kind is Kind.KNOWN for act in acts):
        state = replace(state, outage_over_at=facts.now)
    if not any(queue.open for queue in queues.values()):
        return replace(state, in_vain=0, judged=True, denied=False), (*withdrawn(acts, facts), *acts)
    state, judged = judge(state, counts, facts, rules)
    state, restarted = restart(state, counts, facts, rules)
    return state, (*acts, *judged, *restarted)


def _fresh(state: MonitorState, now: float, rules: Rules) -> MonitorState:
    """Return what is remembered as far as it still holds at this look.

    After a long time without one, what was "in a row" is not any more. Where the clock was set back, nothing that
    was to be waited for lies further ahead than it would from now.
    """
    queues = state.queues
    if now - state.looked_at > FLOOR_SECONDS:
        queues = {name: replace(each, breaches=0, clears=0, unknowns=0, knowns=0) for name, each in queues.items()}
    wait = rules.cooldown_seconds
    return replace(
        state,
        queues=queues,
        looked_at=now,
        restarts=tuple(min(at, now) for at in state.restarts),
        due=min(state.due, now + wait * 2**state.in_vain),
        judge_at=min(state.judge_at, now + wait),
    )


def _looked_at(
    state: MonitorState, queue: QueueState, count: QueueCount, facts: Facts, rules: Rules
) -> tuple[QueueState, list[Act]]:
    """Return one queue after a look at it, and what is to be told of it alone."""
    if not count.known:
        return _unknown(state, queue, count, rules)
    acts: list[Act] = []
    queue = replace(queue, unknowns=0, knowns=queue.knowns + 1)
    if queue.unknown_told and queue.knowns >= rules.clears:
        queue = replace(queue, unknown_told=False)
        acts.append(Act(Kind.KNOWN, count.queue, state.outage, data=counted(count)))
    queue = replace(queue, seen=queue.seen or count.existed)
    if not queue.seen and not queue.absent_told:
        queue = replace(queue, absent_told=True)
        acts.append(Act(Kind.ABSENT, count.queue, _story("absent", "", facts.now)))
    breach, clear = is_breach(count, rules), is_clear(count, rules)
    queue = replace(queue, breaches=queue.breaches + 1 if breach else 0, clears=queue.clears + 1 if clear else 0)
    if queue.open:
        queue, told = _while_open(queue, count, facts, rules)
        return queue, [*acts, *told]
    if queue.breaches >= rules.breaches:
        queue, act = _opened(queue, count, facts)
        acts.append(act)
    return queue, acts


def _unknown(state: MonitorState, queue: QueueState, count: QueueCount, rules: Rules) -> tuple[QueueState, list[Act]]:
    queue = replace(queue, unknowns=queue.unknowns + 1, knowns=0)
    if queue.unknowns < rules.unknowns or queue.unknown_told:
        return queue, []
    told = Act(Kind.UNKNOWN, count.queue, state.outage, loud=True, data={"problem": count.problem})
    return replace(queue, unknown_told=True), [told]


def _outage_begun(state: MonitorState, counts: Mapping[str, QueueCount], facts: Facts) -> MonitorState:
    """Give counts that begin to fail now a story: the one that goes on, or was over only lately, or a new one."""
    goes_on = any(queue.unknown_told for queue in state.queues.values())
    lately = facts.now - state.outage_over_at < FLOOR_SECONDS
    same = bool(state.outage) and lately and facts.now - state.outage_begun_at < STORY_SECONDS
    if goes_on or same or all(count.known for count in counts.values()):
        return state
    return replace(state, outage=_story("unknown", "", facts.now), outage_begun_at=facts.now)


def _opened(queue: QueueState, count: QueueCount, facts: Facts) -> tuple[QueueState, Act]:
    lately = facts.now - queue.closed_at < FLOOR_SECONDS
    again = bool(queue.story) and lately and facts.now - queue.story_begun_at < STORY_SECONDS
    story = queue.story if again else _story("queue", count.queue, facts.now)
    opened = QueueState(
        breaches=queue.breaches,
        knowns=queue.knowns,
        unknown_told=queue.unknown_told,
        seen=queue.seen,
        absent_told=queue.absent_told,
        cried_at=queue.cried_at,
        open=True,
        story=story,
        story_begun_at=queue.story_begun_at if again else facts.now,
        opened_at=facts.now,
        worst=count.pending or 0,
    )
    data = {**counted(count), "again": again, "hold": str(facts.hold)}
    return opened, Act(Kind.CONGESTED, count.queue, story, loud=not again, data=data)


def _while_open(queue: QueueState, count: QueueCount, facts: Facts, rules: Rules) -> tuple[QueueState, list[Act]]:
    pending = count.pending or 0
    queue = replace(queue, worst=max(queue.worst, pending))
    ran = facts.restart is None or facts.restart.ran
    if queue.clears >= rules.clears:
        lasted = facts.now - queue.opened_at
        restarts = queue.restarts if ran else max(0, queue.restarts - 1)
        data = {**counted(count), "seconds": lasted, "worst": queue.worst, "restarts": restarts}
        closed = replace(queue, open=False, closed_at=facts.now, draining=False)
        return closed, [Act(Kind.CLEAR, count.queue, queue.story, data=data)]
    if queue.restarts and ran and not queue.draining and eased(queue, count):
        data = {**counted(count), "before": queue.before_pending}
        return replace(queue, draining=True), [Act(Kind.DRAINING, count.queue, queue.story, data=data)]
    return queue, []


def _story(kind: str, queue: str, now: float) -> str:
    """Return a name for a story that begins now; it begins with `_`, as no request's id does."""
    return f"_{kind}-{hashlib.sha256(f'{queue} {now}'.encode()).hexdigest()[:16]}"
