"""When workers are restarted, what the last restart came to, and when a person is needed. Pure.

After a restart there is a cool-down, then judgement. Fewer or younger jobs than before: it drains, and is given time.
Otherwise: somebody is called, with what was seen, and the next restart waits twice as long as the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from executor.laravel.model import QueueCount
from gateway.schedule.queue_limits import FLOOR_SECONDS, HOUR, counted, eased, is_breach, noted
from gateway.schedule.queue_state import Act, Facts, Hold, Kind, MonitorState, RestartState, Rules

_BACKOFF_MOST = 6  # doublings


def withdrawn(acts: Sequence[Act], facts: Facts) -> Iterator[Act]:
    """Take back a restart that has not begun when the last congestion is over."""
    if facts.restart is not None and facts.restart.state is RestartState.OPEN:
        ended = [act for act in acts if act.kind is Kind.CLEAR]
        yield from (Act(Kind.WITHDRAW, act.queue, act.story) for act in ended[-1:])


def judge(
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
    stuck = {name: counts[name] for name, queue in suffers.items() if not eased(queue, counts[name])}
    if stuck:
        state = _in_vain(state, facts, rules)
        return _cry(state, Kind.STILL, stuck, facts, {"why": "restart", "next_at": state.due})
    drained = {name: noted(queue, counts[name]) for name, queue in suffers.items()}
    judged = not suffers or len(suffers) < len(_suffering(state, counts, rules))  # another queue needs one by now
    later = facts.now + rules.cooldown_seconds
    return replace(state, queues={**state.queues, **drained}, judge_at=later, judged=judged), []


def _in_vain(state: MonitorState, facts: Facts, rules: Rules) -> MonitorState:
    """Note that the last restart did not help: the next one waits twice as long, counted from it."""
    asked = max(state.restarts, default=facts.now)
    times = min(state.in_vain + 1, _BACKOFF_MOST)
    return replace(state, in_vain=times, judged=True, due=asked + rules.cooldown_seconds * 2**times)


def restart(
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
        before = noted(queues[name], counts[name])
        queues[name] = replace(before, restarts=before.restarts + 1, draining=False, limit_told=False)
        data = {**counted(counts[name]), "number": len(recent) + 1}
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
        evidence = {**counted(count), "before": queue.before_pending, **data}
        acts.append(Act(kind, name, queue.story, loud=loud, data=evidence))
    return replace(state, queues=queues), acts
