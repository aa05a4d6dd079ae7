"""A request's life goes along the arrows and ends once."""

from __future__ import annotations

import pytest

from executor.outcome import OPEN_STATES, State
from executor.record.lifecycle import ARROWS, FIRST, IllegalArrow, check_arrow, check_first


@pytest.mark.parametrize("before", list(State))
def test_only_the_arrows_of_the_table_can_be_gone(before: State) -> None:
    for after in State:
        if after in ARROWS.get(before, frozenset()):
            check_arrow(before, after)
        else:
            with pytest.raises(IllegalArrow, match=f"from {before} to {after}"):
                check_arrow(before, after)


def test_what_has_ended_stays_ended_and_what_is_open_can_end() -> None:
    assert set(ARROWS) == OPEN_STATES
    for before in OPEN_STATES:
        assert any(after.final for after in ARROWS[before])


def test_every_state_can_be_reached_from_a_first_one() -> None:
    reached = set(FIRST)
    while new := {after for before in reached for after in ARROWS.get(before, ())} - reached:
        reached |= new

    assert reached == set(State)


def test_nothing_runs_that_was_not_queued_and_nothing_asked_about_runs_unasked() -> None:
    assert [before for before in ARROWS if State.RUNNING in ARROWS[before]] == [State.QUEUED]
    assert [before for before in ARROWS if State.DENIED in ARROWS[before]] == [State.AWAITING_APPROVAL]


@pytest.mark.parametrize("state", [state for state in State if state not in FIRST])
def test_a_request_begins_only_as_a_first_state(state: State) -> None:
    with pytest.raises(IllegalArrow):
        check_first(state)
