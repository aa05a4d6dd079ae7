"""What a look at the queues comes to. Pure: given what is remembered and what was counted, say what to tell and do.

A queue is beyond its limits by pending jobs or by the age of the oldest of them; jobs that are delayed are not late.
A count that is not known is neither good nor bad: it begins nothing and ends nothing.

After a restart there is a cool-down, then judgement. Fewer or younger jobs than before: it drains, and is given time.
Otherwise: somebody is called, with what was seen, and the next restart waits twice as long as the one before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from executor.laravel.model import QueueCount, QueueSample
from gateway.schedule.queue_state import (
    Act,
    Facts,
    Hold,
    Kind,
    MonitorState,
    QueueState,
    RestartState,
    Rules,
)

HOUR = 3600.0
FLOOR_SECONDS = HOUR  # what comes back within it is the same story, and no second cry for help (A35)
STORY_SECONDS = 24 * HOUR  # but no story goes on for ever: one that is older is not taken up again
DRAINS_SHARE = 0.9  # of what was pending before: no more than so much, and it drains
_BACKOFF_MOST = 6  # doublings


def step(
    state: MonitorState, sample: QueueSample, facts: Facts, rules: Rules
) -> tuple[MonitorState, tuple[Act, ...]]:
    """Given what is remembered, one look, and what else there is to know, return what to remember and what to do.

    RESTART acts of one step are one restart. A queue that the sample does not name is forgotten.
    """
    acts: list[Act] = []
    queues: dict[str, QueueState] = {}
    counts = {count.queue: count for count in sample.counts}
    state = _outage_begun(_fresh(state, facts.now), counts, facts)
    for name, count in counts.items():
        queues[name], told = _looked_at(state, state.queues.get(name, QueueState()), count, facts, rules)
        acts += told
    state = replace(state, queues=queues)
    if not any(queue.unknown_told for queue in queues.values()) and any(act.kind is Kind.KNOWN for act in acts):
        state = replace(state, outage_over_at=facts.now)
    if not any(queue.open for queue in queues.values()):
        return replace(state, in_vain=0, judged=True, denied=False), (*_withdrawn(acts, facts), *acts)
    state, judged = _judge(state, counts, facts, rules)
    state, restarted = _restart(state, counts, facts, rules)
    return state, (*acts, *judged, *restarted)


def _withdrawn(acts: Sequence[Act], facts: Facts) -> Iterator[Act]:
    """Take back a restart that has not begun when the last congestion is over."""
    if facts.restart is not None and facts.restart.state is RestartState.OPEN:
        ended = [act for act in acts if act.kind is Kind.CLEAR]
        yield from (Act(Kind.WITHDRAW, act.queue, act.story) for act in ended[-1:])


def _fresh(state: MonitorState, now: float) -> MonitorState:
    """Begin counting anew after a long time without a look: what was "in a row" then is not any more."""
    queues = state.queues
    if now - state.looked_at > FLOOR_SECONDS:
        queues = {name: replace(each, breaches=0, clears=0, unknowns=0, knowns=0) for name, each in queues.items()}
    return replace(state, queues=queues, looked_at=now)


def is_breach(count: QueueCount, rules: Rules) -> bool:
    """Return whether a known count is beyond a limit."""
    return _beyond(count, rules, 1.0)


def _beyond(count: QueueCount, rules: Rules, share: float) -> bool:
    pending = count.pending or 0
    too_old = pending > 0 and (count.oldest_seconds or 0.0) > share * rules.max_age_seconds
    return pending > share * rules.max_pending or too_old


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
        acts.append(Act(Kind.KNOWN, count.queue, state.outage, data=_counted(count)))
    queue = replace(queue, seen=queue.seen or count.existed)
    if not queue.seen and not queue.absent_told:
        queue = replace(queue, absent_told=True)
        acts.append(Act(Kind.ABSENT, count.queue, _story("absent", "", facts.now)))
    breach, clear = is_breach(count, rules), not _beyond(count, rules, rules.clear_share)
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
    data = {**_counted(count), "again": again, "hold": str(facts.hold)}
    return opened, Act(Kind.CONGESTED, count.queue, story, loud=not again, data=data)


def _while_open(queue: QueueState, count: QueueCount, facts: Facts, rules: Rules) -> tuple[QueueState, list[Act]]:
    pending = count.pending or 0
    queue = replace(queue, worst=max(queue.worst, pending))
    ran = facts.restart is None or facts.restart.ran
    if queue.clears >= rules.clears:
        lasted = facts.now - queue.opened_at
        restarts = queue.restarts if ran else max(0, queue.restarts - 1)
        data = {**_counted(count), "seconds": lasted, "worst": queue.worst, "restarts": restarts}
        closed = replace(queue, open=False, closed_at=facts.now, draining=False)
        return closed, [Act(Kind.CLEAR, count.queue, queue.story, data=data)]
    if queue.restarts and ran and not queue.draining and _eased(queue, count):
        data = {**_counted(count), "before": queue.before_pending}
        return replace(queue, draining=True), [Act(Kind.DRAINING, count.queue, queue.story, data=data)]
    return queue, []


def _judge(
    state: MonitorState, counts: Mapping[str, QueueCount], facts: Facts, rules: Rules
) -> tuple[MonitorState, list[Act]]:
    """Look at what the last restart came to, once that can be said."""
    last = facts.restart
    if state.judged or last is None or last.state is RestartState.OPEN:
        return state, []
    if last.state is RestartState.VERIFIED:
        return _judge_by_counts(state, counts, facts, rules) if facts.now >= state.judge_at else (state, [])
    data, denied = {"state": str(last.state), "why": last.why}, last.state is RestartState.DENIED
    waited = {name: count for name, count in counts.items() if state.queues[name].restarts}
    if last.state is RestartState.UNVERIFIED:  # what drains was helped, whatever was not seen
        waited = {name: count for name, count in waited.items() if not state.queues[name].draining}
    state = replace(_in_vain(state, facts, rules), denied=denied)
    return _cry(state, Kind.RESTART_TROUBLE, waited, facts, {**data, "next_at": state.due}, quiet=denied)


def _judge_by_counts(
    state: MonitorState, counts: Mapping[str, QueueCount], facts: Facts, rules: Rules
) -> tuple[MonitorState, list[Act]]:
    suffers = {name: state.queues[name] for name in _suffering(state, counts, rules) if state.queues[name].restarts}
    if any(not counts[name].known for name, queue in state.queues.items() if queue.open):
        return state, []  # judged when it can be seen
    if all(_eased(queue, counts[name]) for name, queue in suffers.items()):
        drained = {name: _noted(queue, counts[name]) for name, queue in suffers.items()}
        later = facts.now + rules.cooldown_seconds
        state = replace(state, queues={**state.queues, **drained}, judge_at=later, judged=not suffers)
        return state, []
    state = _in_vain(state, facts, rules)
    data = {"why": "restart", "next_at": state.due}
    return _cry(state, Kind.STILL, {name: counts[name] for name in suffers}, facts, data)


def _in_vain(state: MonitorState, facts: Facts, rules: Rules) -> MonitorState:
    """Note that the last restart did not help: the next one waits twice as long, counted from it."""
    asked = max(state.restarts, default=facts.now)
    times = min(state.in_vain + 1, _BACKOFF_MOST)
    return replace(state, in_vain=times, judged=True, due=asked + rules.cooldown_seconds * 2**times)


def _restart(
    state: MonitorState, counts: Mapping[str, QueueCount], facts: Facts, rules: Rules
) -> tuple[MonitorState, list[Act]]:
    """Ask for a restart where one is called for and allowed, and say once where the hour has no more of them."""
    suffering = _suffering(state, counts, rules)
    under_way = not state.judged or (facts.restart is not None and facts.restart.state is RestartState.OPEN)
    may = rules.restarts_an_hour > 0 and facts.hold is Hold.NONE and not state.denied
    if not (suffering and may) or under_way or facts.now < state.due:
        return state, []
    recent = tuple(at for at in state.restarts if facts.now - at < HOUR)
    if len(recent) >= rules.restarts_an_hour:
        unsaid = {name: counts[name] for name in suffering if not state.queues[name].limit_told}
        data = {"why": "limit", "made": len(recent), "next_at": min(recent) + HOUR}
        state, acts = _cry(state, Kind.STILL, unsaid, facts, data)
        told = {name: replace(state.queues[name], limit_told=True) for name in unsaid}
        return replace(state, queues={**state.queues, **told}), acts
    queues, acts = dict(state.queues), []
    for name in suffering:
        before = _noted(queues[name], counts[name])
        queues[name] = replace(before, restarts=before.restarts + 1, draining=False, limit_told=False)
        data = {**_counted(counts[name]), "number": len(recent) + 1}
        acts.append(Act(Kind.RESTART, name, before.story, data=data))
    later = facts.now + rules.cooldown_seconds
    state = replace(state, queues=queues, restarts=(*recent, facts.now), judged=False)
    return replace(state, judge_at=later, due=later), acts


def _suffering(state: MonitorState, counts: Mapping[str, QueueCount], rules: Rules) -> list[str]:
    """Return the queues of open congestions that are known to be beyond a limit at this very look."""
    return [
        name
        for name, queue in state.queues.items()
        if queue.open and counts[name].known and is_breach(counts[name], rules)
    ]


def _noted(queue: QueueState, count: QueueCount) -> QueueState:
    """Remember a count, for whether things are better later."""
    return replace(queue, before_pending=count.pending or 0, before_oldest=count.oldest_seconds)


def _eased(queue: QueueState, count: QueueCount) -> bool:
    """Say whether things are better than when they were noted: fewer jobs wait, or the oldest of them were taken."""
    fewer = (count.pending or 0) <= DRAINS_SHARE * queue.before_pending
    ages = queue.before_oldest, count.oldest_seconds
    return fewer or (ages[0] is not None and ages[1] is not None and ages[1] < ages[0])


def _cry(
    state: MonitorState,
    kind: Kind,
    counts: Mapping[str, QueueCount],
    facts: Facts,
    data: Mapping[str, object],
    *,
    quiet: bool = False,
) -> tuple[MonitorState, list[Act]]:
    """Tell of every open congestion among `counts` that somebody is needed; loudly once in a while (A35)."""
    queues, acts = dict(state.queues), []
    for name, count in counts.items():
        queue = queues[name]
        if not queue.open:
            continue
        loud = not quiet and not (queue.cried_at and facts.now - queue.cried_at < FLOOR_SECONDS)
        queues[name] = replace(queue, cried_at=facts.now if loud else queue.cried_at)
        evidence = {**_counted(count), "before": queue.before_pending, **data}
        acts.append(Act(kind, name, queue.story, loud=loud, data=evidence))
    return replace(state, queues=queues), acts


def _counted(count: QueueCount) -> dict[str, object]:
    """Return what was counted, for the audit event."""
    known = {
        "pending": count.pending,
        "delayed": count.delayed,
        "reserved": count.reserved,
        "failed": count.failed,
        "oldest_seconds": count.oldest_seconds,
    }
    return {name: value for name, value in known.items() if value is not None}


def _story(kind: str, queue: str, now: float) -> str:
    """Return a name for a story that begins now; it begins with `_`, as no request's id does."""
    return f"_{kind}-{hashlib.sha256(f'{queue} {now}'.encode()).hexdigest()[:16]}"
