"""Who speaks: the right person, in the right chat and topic, directly; everything else decides nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.telegram.authorise import ChatPolicy, Ignored, Operator, Stranger, authorise, migration
from gateway.telegram.update_facts import UpdateFacts

CHAT, ANN, BOB = -1001, 11, 12
POLICY = ChatPolicy(CHAT, None, frozenset({ANN}))
COMMAND = UpdateFacts(
    1000, "message", CHAT, "supergroup", user_id=ANN, user_name="@ann", message_id=7, text="/status"
)
PRESS = replace(COMMAND, kind="callback_query", text="", query_id="90", query_data="token")


@pytest.mark.parametrize("facts", [COMMAND, PRESS], ids=["command", "press"])
def test_an_operator_in_the_right_chat_is_one(facts: UpdateFacts) -> None:
    who = authorise(facts, POLICY)

    assert who == Operator(ANN, "@ann")
    assert isinstance(who, Operator) and who.voter == "telegram:11"


@pytest.mark.parametrize("facts", [COMMAND, PRESS], ids=["command", "press"])
def test_a26_being_in_the_chat_is_not_enough(facts: UpdateFacts) -> None:
    assert authorise(replace(facts, user_id=BOB, user_name="Bob"), POLICY) == Stranger(BOB, "Bob", "not an operator")


@pytest.mark.parametrize("facts", [COMMAND, PRESS], ids=["command", "press"])
def test_a26_an_empty_list_of_operators_means_nobody(facts: UpdateFacts) -> None:
    assert isinstance(authorise(facts, replace(POLICY, operators=frozenset())), Stranger)


@pytest.mark.parametrize("facts", [COMMAND, PRESS], ids=["command", "press"])
def test_an_operator_in_another_chat_is_ignored(facts: UpdateFacts) -> None:
    assert authorise(replace(facts, chat_id=ANN, chat_type="private"), POLICY) == Ignored("another chat")


def test_in_a_private_chat_its_owner_must_be_listed_too() -> None:
    private = replace(POLICY, chat_id=ANN)
    facts = replace(COMMAND, chat_id=ANN, chat_type="private")

    assert isinstance(authorise(facts, private), Operator)
    assert isinstance(authorise(facts, replace(private, operators=frozenset({BOB}))), Stranger)


NOT_DIRECT = {
    "edited": {"kind": "edited_message"},
    "of an unknown kind": {"kind": "poll_answer"},
    "a channel's post": {"kind": "channel_post"},
    "in a channel": {"chat_type": "channel"},
    "delivered again": {"redelivered": True},
    "from a bot": {"is_bot": True},
    "forwarded": {"is_forward": True},
    "made by an inline bot": {"via_bot": True},
    "without a chat": {"chat_id": None},
    "without a sender": {"user_id": None},
}


@pytest.mark.parametrize("change", NOT_DIRECT.values(), ids=NOT_DIRECT)
@pytest.mark.parametrize("facts", [COMMAND, PRESS], ids=["command", "press"])
def test_what_an_operator_did_not_do_directly_counts_for_nothing(
    facts: UpdateFacts, change: dict[str, object]
) -> None:
    if "kind" in change and facts is PRESS:
        return  # a press has one kind only

    assert isinstance(authorise(replace(facts, **change), POLICY), Ignored)


@pytest.mark.parametrize("sender", [CHAT, -1009], ids=["the group itself", "a channel"])
def test_who_writes_as_a_chat_is_nobody_in_particular(sender: int) -> None:
    anonymous = replace(COMMAND, user_id=1087968824, is_bot=True, sender_chat_id=sender)
    listed = replace(POLICY, operators=frozenset({ANN, 1087968824, sender}))

    who = authorise(anonymous, listed)

    assert isinstance(who, Stranger) and "anonymous" in who.why


def test_ordinary_talk_of_others_is_not_answered() -> None:
    assert isinstance(authorise(replace(COMMAND, user_id=BOB, text="lunch?"), POLICY), Ignored)


@pytest.mark.parametrize("configured", [None, 0, 1])
def test_a21_general_is_meant_by_no_topic_0_and_1(configured: int | None) -> None:
    policy = replace(POLICY, topic_id=configured)

    assert isinstance(authorise(COMMAND, policy), Operator)
    assert authorise(replace(COMMAND, topic=5), policy) == Ignored("another topic")


def test_a_command_belongs_into_the_configured_topic() -> None:
    policy = replace(POLICY, topic_id=5)

    assert isinstance(authorise(replace(COMMAND, topic=5), policy), Operator)
    assert authorise(replace(COMMAND, topic=6), policy) == Ignored("another topic")
    assert authorise(COMMAND, policy) == Ignored("another topic")


def test_a22_while_the_topic_is_gone_general_counts_as_well() -> None:
    policy = replace(POLICY, topic_id=5, general_too=True)

    assert isinstance(authorise(COMMAND, policy), Operator)
    assert authorise(replace(COMMAND, topic=6), policy) == Ignored("another topic")


def test_a22_a_button_counts_wherever_its_card_hangs() -> None:
    assert isinstance(authorise(PRESS, replace(POLICY, topic_id=5)), Operator)


def test_a20_only_telegrams_own_notice_in_our_chat_moves_the_chat() -> None:
    notice = replace(COMMAND, text="", migrated_to=-1002)

    assert migration(notice, POLICY) == -1002
    assert migration(replace(notice, chat_id=-66), POLICY) is None
    assert migration(replace(notice, kind="edited_message"), POLICY) is None
    assert migration(replace(COMMAND, text="migrate_to_chat_id: -1002"), POLICY) is None


def test_a20_after_the_move_the_old_chat_counts_no_more() -> None:
    moved = POLICY.moved_to(-1002)

    assert isinstance(authorise(replace(COMMAND, chat_id=-1002), moved), Operator)
    assert isinstance(authorise(COMMAND, moved), Ignored)


def test_a29_an_update_knows_its_age() -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    assert replace(COMMAND, date=now - timedelta(hours=2)).age(now) == 7200
    assert PRESS.age(now) is None


anything = st.builds(
    UpdateFacts,
    update_id=st.integers(0, 5),
    kind=st.sampled_from(["message", "callback_query", "edited_message", "channel_post", "poll"]),
    chat_id=st.sampled_from([None, CHAT, -1002, ANN]),
    chat_type=st.sampled_from(["supergroup", "group", "private", "channel", ""]),
    topic=st.sampled_from([None, 5, 6]),
    user_id=st.sampled_from([None, ANN, BOB, CHAT]),
    is_bot=st.booleans(),
    sender_chat_id=st.sampled_from([None, CHAT, -1009]),
    is_forward=st.booleans(),
    via_bot=st.booleans(),
    text=st.sampled_from(["", "/approve x", "talk"]),
    redelivered=st.booleans(),
)


@given(anything, st.sampled_from([None, 1, 5]), st.booleans())
def test_nobody_is_an_operator_unless_everything_is_right(
    facts: UpdateFacts, topic: int | None, general_too: bool
) -> None:
    policy = ChatPolicy(CHAT, topic, frozenset({ANN}), general_too)

    if isinstance(authorise(facts, policy), Operator):
        assert (facts.user_id, facts.chat_id, facts.sender_chat_id) == (ANN, CHAT, None)
        assert facts.kind in ("message", "callback_query") and facts.chat_type != "channel"
        assert not (facts.is_bot or facts.is_forward or facts.via_bot or facts.redelivered)
