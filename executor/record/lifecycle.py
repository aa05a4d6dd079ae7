"""The arrows of a request's life: which state may follow which. Pure."""

from __future__ import annotations

from executor.outcome import State

# States a request can be recorded in first: it is decided before it is stored. A dry run is answered at once.
FIRST = frozenset({State.RECEIVED, State.QUEUED, State.AWAITING_APPROVAL, State.REFUSED, State.SUCCEEDED})

ARROWS: dict[State, frozenset[State]] = {
    State.RECEIVED: frozenset(
        {
            State.QUEUED,
            State.AWAITING_APPROVAL,
            State.REFUSED,
            State.FAILED,
            State.WITHDRAWN,
        }
    ),
    State.AWAITING_APPROVAL: frozenset(
        {
            State.QUEUED,
            State.DENIED,
            State.EXPIRED,
            State.UNDELIVERABLE,
            State.WITHDRAWN,
        }
    ),
    State.QUEUED: frozenset(
        {
            State.RUNNING,
            State.AWAITING_APPROVAL,  # what was approved has changed since: a new round
            State.REFUSED,
            State.FAILED,
            State.WITHDRAWN,
        }
    ),
    State.RUNNING: frozenset(
        {
            State.SUCCEEDED,
            State.FAILED,
            State.TIMED_OUT,
            State.INTERRUPTED,
            State.REFUSED,  # the action itself refused before it changed anything
            State.QUEUED,  # after a crash: what only reads is run again
        }
    ),
}


class IllegalArrow(ValueError):
    """Code asked for a change of state that no request may make: a bug."""


def check_arrow(before: State, after: State) -> None:
    """Raise IllegalArrow unless a request in `before` may come to be in `after`."""
    if after not in ARROWS.get(before, frozenset()):
        raise IllegalArrow(f"a request does not go from {before} to {after}")


def check_first(state: State) -> None:
    """Raise IllegalArrow unless a request may begin in `state`."""
    if state not in FIRST:
        raise IllegalArrow(f"a request does not begin as {state}")
