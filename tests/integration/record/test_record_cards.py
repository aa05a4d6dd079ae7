"""What the chat shows is remembered: cards, the meaning of buttons, and where the chat stands."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from executor.record import cards
from executor.record.cards import Card
from executor.record.schema import timestamp
from executor.record.store import Store


def test_a_card_is_remembered_as_it_was_last_kept(store: Store) -> None:
    first = Card("fix-1", chat_id=-100)
    with store.transaction() as tx:
        cards.keep(tx, first)
        cards.keep(tx, replace(first, message_id=7, shown="a" * 64, reminded="fix-1.1"))
    with store.reading() as view:
        assert cards.card_of(view, "fix-1") == replace(first, message_id=7, shown="a" * 64, reminded="fix-1.1")
        assert cards.card_of(view, "other") is None


def test_more_cards_than_one_query_takes_are_all_found(store: Store) -> None:
    names = [f"r{number}" for number in range(900)]
    with store.transaction() as tx:
        for name in names:
            cards.keep(tx, Card(name, 1))
    with store.reading() as view:
        assert set(cards.cards_of(view, [*names, "other"])) == set(names)


def test_a_card_that_is_drawn_again_has_the_same_buttons(store: Store) -> None:
    with store.transaction() as tx:
        first = cards.button_for(tx, "fix-1", "approve", target="fix-1.1", digest="d" * 64)
        again = cards.button_for(tx, "fix-1", "approve", target="fix-1.1", digest="d" * 64)
        next_round = cards.button_for(tx, "fix-1", "approve", target="fix-1.2", digest="e" * 64)
    assert first == again
    assert next_round.token != first.token
    with store.reading() as view:
        assert cards.pressed(view, first.token) == first


def test_a24_a_token_fits_into_a_button_whatever_it_stands_for(store: Store) -> None:
    with store.transaction() as tx:
        button = cards.button_for(tx, "ж" * 64, "deny", "x", argument="ж" * 200)
    assert len(button.token.encode()) <= 64


def test_a_token_that_was_never_given_out_means_nothing(store: Store) -> None:
    with store.reading() as view:
        assert cards.pressed(view, "made-up") is None


def test_only_what_was_given_out_counts_as_offered(store: Store) -> None:
    with store.transaction() as tx:
        cards.button_for(tx, "fix-1", "approve", "fix-1.1", digest="d" * 64)
        assert cards.offered(tx, "fix-1", "approve", "fix-1.1", "d" * 64)
        assert not cards.offered(tx, "fix-1", "approve", "fix-1.1", "e" * 64)
        assert not cards.offered(tx, "fix-1", "approve", "fix-1.2", "d" * 64)


def test_a_card_that_is_sent_anew_asks_for_nothing_until_it_is_there(store: Store) -> None:
    with store.transaction() as tx:
        cards.keep(tx, Card("fix-1", 1, message_id=7, shown="a" * 64, asked="fix-1.1", reminded="fix-1.1"))
        assert cards.send_anew(tx, "fix-1")
        assert not cards.send_anew(tx, "other")
        assert cards.card_of(tx, "fix-1") == Card("fix-1", 1, reminded="fix-1.1")


def test_a_question_is_found_by_the_message_it_is_asked_in(store: Store) -> None:
    with store.transaction() as tx:
        button = cards.button_for(tx, "fix-1", "reason", "fix-1.1", digest="d" * 64, argument="telegram:1")
        cards.asked_in(tx, button.token, 55)
    with store.reading() as view:
        found = cards.question_in(view, 55)
        assert found is not None
        assert found.token == button.token
        assert cards.question_in(view, 56) is None


def test_only_a_card_that_exists_opens_a_menu(store: Store) -> None:
    with store.transaction() as tx:
        cards.keep(tx, Card("fix-1", 1))
        assert cards.open_menu(tx, "fix-1", "deny")
        assert not cards.open_menu(tx, "other", "deny")
    with store.reading() as view:
        card = cards.card_of(view, "fix-1")
        assert card is not None
        assert card.menu == "deny"


def test_what_is_noted_replaces_what_was_noted(store: Store) -> None:
    with store.transaction() as tx:
        assert cards.state(tx, "cursor") == ""
        cards.note(tx, "cursor", "1")
        cards.note(tx, "cursor", "2")
    with store.reading() as view:
        assert cards.state(view, "cursor") == "2"


def test_old_cards_and_buttons_are_removed_and_young_ones_stay(store: Store) -> None:
    with store.transaction() as tx:
        cards.keep(tx, Card("fix-1", 1))
        token = cards.button_for(tx, "fix-1", "approve").token
    now = datetime.now(UTC)
    with store.transaction() as tx:
        assert cards.forget_before(tx, timestamp(now - timedelta(days=3650))) == 0
        assert cards.forget_before(tx, timestamp(now + timedelta(days=3650))) == 2
        assert cards.pressed(tx, token) is None
