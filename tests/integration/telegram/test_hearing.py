"""Who is let in, from what Telegram really sends: people and all that looks like them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bot_api import BotApi, Chat, Person
from scenes import client, play

from gateway.telegram.authorise import ChatPolicy, Ignored, Operator, Stranger, authorise, migration
from gateway.telegram.update_facts import facts_of

CHAT, ANN, BOB = -1001, 11, 12


def verdicts(api: BotApi, policy: ChatPolicy) -> list[Operator | Stranger | Ignored]:
    """Return what is decided about everything that waits for the bot."""
    decided: list[Operator | Stranger | Ignored] = []

    async def scene() -> None:
        async with client(api) as transport:
            updates = await transport.get_updates(None)
            decided.extend(authorise(facts_of(update), policy) for update in updates)

    play(scene)
    return decided


POLICY = ChatPolicy(CHAT, None, frozenset({ANN}))
Act = Callable[[Person, Chat], object]


@pytest.fixture
def ann(api: BotApi) -> Person:
    return api.person(ANN, "Ann", "ann")


def press(person: Person, chat: Chat) -> str:
    card = person.api.world.post(chat, person.api.world.bot, "card")
    return person.presses_data(chat, card, "token")


@pytest.mark.parametrize("act", [press, lambda ann, chat: ann.says(chat, "/status")], ids=["press", "command"])
def test_an_operator_is_let_in_and_a_stranger_told_no(api: BotApi, ann: Person, act: Act) -> None:
    chat = api.group()
    act(ann, chat)
    act(api.person(BOB, "Bob"), chat)

    assert verdicts(api, POLICY) == [Operator(ANN, "@ann"), Stranger(BOB, "Bob", "not an operator")]


def test_the_same_person_counts_for_nothing_in_another_chat(api: BotApi, ann: Person) -> None:
    ann.says(api.group(-1002), "/status")
    ann.says(api.world.chat(ANN, "private", "Ann"), "/status")
    press(ann, api.group(-1003))

    assert verdicts(api, POLICY) == [Ignored("another chat")] * 3


def test_an_anonymous_administrator_and_a_channel_are_told_no(api: BotApi, ann: Person) -> None:
    chat = api.group()
    ann.says_anonymously(chat, "/approve x")
    ann.says_as_channel(chat, "/approve x")

    assert all(isinstance(verdict, Stranger) for verdict in verdicts(api, POLICY))


def test_forwards_edits_inline_results_bots_and_channel_posts_are_ignored(api: BotApi, ann: Person) -> None:
    chat, bob = api.group(), api.person(BOB, "Bob")
    ann.forwards(chat, "/approve x", bob)
    ann.says_by_inline_bot(chat, "/approve x")
    api.person(ANN, "Robot", is_bot=True).says(chat, "/approve x")
    ann.posts(api.group(-1004, kind="channel"), "/approve x")
    harmless = ann.says(chat, "never mind")
    ann.edits(chat, harmless, "/approve x")

    *ignored, said, edited = verdicts(api, POLICY)
    assert all(isinstance(verdict, Ignored) for verdict in [*ignored, edited])
    assert isinstance(said, Operator)


def test_commands_belong_into_the_configured_topic_and_presses_count_everywhere(api: BotApi, ann: Person) -> None:
    chat = api.group(forum=True)
    for topic in (5, 6, None):
        ann.says(chat, "/status", topic=topic)
    press(ann, chat)

    kinds = [type(verdict) for verdict in verdicts(api, ChatPolicy(CHAT, 5, frozenset({ANN})))]

    assert kinds == [Operator, Ignored, Ignored, Operator]


def test_a20_telegrams_notice_in_our_chat_names_the_new_one_and_what_another_chat_claims_does_not(
    api: BotApi, ann: Person
) -> None:
    api.world.migrate(api.group(-66, kind="group"), -67)
    ann.says(api.group(kind="group"), "migrate_to_chat_id -68")
    api.world.migrate(api.group(kind="group"), -1002)
    found: list[int | None] = []

    async def scene() -> None:
        async with client(api) as transport:
            found.extend(migration(facts_of(update), POLICY) for update in await transport.get_updates(None))

    play(scene)
    assert found == [None, None, None, -1002, None]
