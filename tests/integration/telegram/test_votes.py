"""What a press and a command count for: what the card shows at that moment, and nothing newer or hidden."""

from __future__ import annotations

import asyncio

import pytest
from bot_api import SwiftClock
from notifier_scene import Scene
from scenes import PATIENT

from executor.errors import Refused
from executor.record import approvals
from executor.record.approvals import ApprovalState, Verdict, VoteKind
from gateway.telegram import buttons, operator_acts, votes
from gateway.telegram.authorise import Operator

ANN = Operator(11, "@ann")
APPROVE = "✅ Approve"
SECRET = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"


def follow(world: Scene, clock: SwiftClock) -> None:
    async def whole() -> None:
        async with world.following(clock, PATIENT):
            await world.caught_up(clock)

    asyncio.run(whole())


def button(world: Scene, label: str) -> tuple[str, int]:
    """Return the data of the last button of that label, and the message that it stands under."""
    with world.api.lock:
        (*_, found) = [
            (each.data_of(label), each.message_id) for each in world.group.from_bot() if label in each.labels()
        ]
    return found


def press(world: Scene, found: tuple[str, int]) -> buttons.Effect:
    data, message_id = found
    return buttons.press(world.desk, data, ANN, message_id)


def state(world: Scene, approval_id: str) -> ApprovalState:
    with world.desk.store.reading() as view:
        found = approvals.get(view, approval_id)
    assert found is not None
    return found.state


def approve_by_name(world: Scene, digest: str = "") -> VoteKind:
    return votes.by_name(world.desk, "tag-1", ANN.voter, Verdict.APPROVE, "", digest).kind


def test_a_name_alone_does_not_approve_what_was_asked_again_while_it_was_typed(
    world: Scene, clock: SwiftClock
) -> None:
    world.ask("tag-1")
    follow(world, clock)
    world.ask_again("tag-1", "e" * 64)
    follow(world, clock)
    with pytest.raises(Refused, match="something moved"):
        approve_by_name(world)
    with pytest.raises(Refused, match="not the one of what is asked"):
        approve_by_name(world, "d" * 12)
    assert approve_by_name(world, "e" * 12) is VoteKind.APPROVED


def test_a_button_of_an_earlier_round_approves_nothing_newer(world: Scene, clock: SwiftClock) -> None:
    world.ask("tag-1")
    follow(world, clock)
    old = button(world, APPROVE)
    world.ask_again("tag-1", "e" * 64)
    assert "has changed since" in press(world, old).note
    assert state(world, "tag-1.2") is ApprovalState.PENDING


def test_a31_a_command_that_is_stored_masked_offers_no_yes_by_button_nor_by_name(
    world: Scene, clock: SwiftClock
) -> None:
    world.ask("tag-1", argv=("git", "tag", "-a", "-m", SECRET, "v1"))
    follow(world, clock)
    (card,) = world.cards_of("tag-1")
    assert "cannot be approved here" in card
    with world.api.lock:
        assert all(APPROVE not in message.labels() for message in world.group.from_bot())
    with pytest.raises(Refused, match="no card in this chat"):
        approve_by_name(world)


def test_who_has_said_yes_can_still_press_no_while_others_must_agree(world: Scene, clock: SwiftClock) -> None:
    world.ask("tag-1", quorum=2)
    follow(world, clock)
    yes, no = button(world, APPROVE), button(world, "🚫 Deny")
    assert "1 more operator must say yes" in press(world, yes).note
    assert "You have said yes already" in press(world, yes).note
    press(world, no)
    follow(world, clock)
    assert press(world, button(world, "Not needed")).note == "Denied: this is not needed"
    assert state(world, "tag-1.1") is ApprovalState.DENIED


def test_a_yes_during_a_freeze_is_held_back_and_the_request_still_waits(world: Scene, clock: SwiftClock) -> None:
    world.ask("tag-1")
    follow(world, clock)
    operator_acts.freeze(world.desk.dispatcher, "something is odd", ANN.voter)
    told = press(world, button(world, APPROVE))
    assert "a yes is not taken" in told.note
    assert told.alert
    with pytest.raises(Refused, match="a yes is not taken"):
        approve_by_name(world)
    assert state(world, "tag-1.1") is ApprovalState.PENDING
    operator_acts.unfreeze(world.desk.dispatcher, ANN.voter)
    assert press(world, button(world, APPROVE)).note == "Approved: it runs now."


def test_the_button_of_a_freeze_that_is_over_does_not_end_the_next_one(world: Scene, clock: SwiftClock) -> None:
    operator_acts.freeze(world.desk.dispatcher, "the first", ANN.voter)
    follow(world, clock)
    old = button(world, "Unfreeze")
    operator_acts.unfreeze(world.desk.dispatcher, ANN.voter)
    assert "not frozen any more" in press(world, old).note
    operator_acts.freeze(world.desk.dispatcher, "the second", ANN.voter)
    assert "another holds now" in press(world, old).note
    follow(world, clock)
    assert press(world, button(world, "Unfreeze")).note == ""
