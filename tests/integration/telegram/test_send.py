"""Delivery to the chat: once, in order, decisions first, at Telegram's pace, and honest about what is not known."""

from __future__ import annotations

import asyncio
import itertools
import threading
from dataclasses import replace

import pytest
from bot_api import BotApi, Fault, HandClock, SwiftClock, error, flood, reset, server_error, stall
from scenes import IMPATIENT, delivery, play, until

from executor.errors import Unavailable
from gateway.telegram.failures import Lost
from gateway.telegram.keyboards import Button
from gateway.telegram.outgoing import (
    Declined,
    Delivered,
    Kind,
    Outgoing,
    Priority,
    Superseded,
    Uncertain,
    Vanished,
)
from gateway.telegram.send import TOPIC_RETRY, Delivery

CHAT = -1001
CARD = Outgoing("r1", Kind.SEND, CHAT, "<b>git_push</b> main")
ASKING = replace(CARD, important=True, buttons=((Button("Approve", "t1"),),))
MARK = "may be a repeat"


async def delivered(sending: Delivery, item: Outgoing, priority: Priority = Priority.CARD) -> Delivered:
    outcome = await (await sending.put(item, priority))
    assert isinstance(outcome, Delivered)
    return outcome


AMBIGUOUS = {
    "a time-out": stall(applied=True),
    "a reset": reset(applied=True),
    "a server error": server_error(applied=True),
}


@pytest.mark.parametrize("fault", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_a10_a_message_that_may_have_arrived_is_not_sent_again(api: BotApi, clock: SwiftClock, fault: Fault) -> None:
    chat = api.group()
    api.script("sendMessage", [fault])

    async def scene() -> None:
        async with delivery(api, clock, IMPATIENT) as sending:
            assert isinstance(await (await sending.put(CARD)), Uncertain)
            await delivered(sending, replace(CARD, key="r2", html="next"))

    play(scene)
    assert [message.text for message in chat.shown()] == ["git_push main", "next"]


@pytest.mark.parametrize("applied", [True, False], ids=["it had arrived", "it had not"])
def test_a10_what_somebody_has_to_decide_is_sent_once_more_and_says_so(
    api: BotApi, clock: SwiftClock, applied: bool
) -> None:
    chat = api.group()
    api.script("sendMessage", [stall(applied=applied)])

    async def scene() -> None:
        async with delivery(api, clock, IMPATIENT) as sending:
            outcome = await delivered(sending, ASKING, Priority.APPROVAL)
            assert outcome.marked

    play(scene)
    *earlier, last = chat.shown()
    assert [message.text for message in earlier] == ["git_push main"] * applied
    assert MARK in last.text and last.labels() == ["Approve"]


def test_a10_even_that_is_sent_no_third_time(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()
    api.always("sendMessage", reset(applied=True))

    async def scene() -> None:
        async with delivery(api, clock, IMPATIENT) as sending:
            assert isinstance(await (await sending.put(ASKING, Priority.APPROVAL)), Uncertain)

    play(scene)
    assert [MARK in message.text for message in chat.shown()] == [False, True]


def test_a_caller_that_sends_again_later_has_it_marked(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            assert (await delivered(sending, replace(ASKING, repeat=True))).marked

    play(scene)
    assert MARK in chat.shown()[0].text


def test_an_edit_is_tried_again_after_any_failure(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()
    api.script("editMessageText", [reset(), stall(applied=True), server_error(), flood(3)])

    async def scene() -> None:
        async with delivery(api, clock, IMPATIENT) as sending:
            sent = await delivered(sending, CARD)
            edit = replace(CARD, kind=Kind.EDIT, message_id=sent.message_id, html="done")
            assert (await delivered(sending, edit)).message_id == sent.message_id

    play(scene)
    assert [(message.text, message.earlier) for message in chat.shown()] == [("done", ["git_push main"])]


def test_an_edit_that_always_fails_ends_and_holds_up_nothing(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()
    api.always("editMessageText", server_error())

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            sent = await delivered(sending, CARD)
            edit = await sending.put(replace(CARD, kind=Kind.EDIT, message_id=sent.message_id, html="done"))
            await delivered(sending, replace(CARD, key="r2", html="next"))
            assert isinstance(await edit, Uncertain)

    play(scene)
    assert [message.text for message in chat.shown()] == ["git_push main", "next"]


def test_a12_a_flood_wait_is_kept_to_and_the_message_arrives_once(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()
    api.script("sendMessage", [flood(37)])

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            await delivered(sending, CARD)

    play(scene)
    refused, accepted = api.called("sendMessage")
    assert accepted.at - refused.at >= 37
    assert len(chat.shown()) == 1


def test_p4_answers_to_presses_wait_for_no_flood(api: BotApi) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    api.always("sendMessage", flood(300))
    press = ann.presses_data(chat, api.world.post(chat, api.world.bot, "card"), "t1")

    async def scene() -> None:
        async with delivery(api, HandClock()) as sending:
            await sending.put(CARD)
            await until(lambda: api.called("sendMessage"))
            assert await sending.answer(press, "approved", alert=True)

    play(scene)
    assert (ann.press(press).answer, ann.press(press).alert) == ("approved", True)


def test_a14_an_edit_that_changes_nothing_is_done(api: BotApi, clock: SwiftClock, logged: list[str]) -> None:
    api.group()

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            sent = await delivered(sending, CARD)
            again = replace(CARD, kind=Kind.EDIT, message_id=sent.message_id)
            assert (await delivered(sending, again)).message_id == sent.message_id

    play(scene)
    assert not any("ERROR" in line or "WARNING" in line for line in logged)


def test_a15_an_answer_that_comes_too_late_is_no_error(api: BotApi, clock: SwiftClock, logged: list[str]) -> None:
    async def scene() -> None:
        async with delivery(api, clock) as sending:
            assert not await sending.answer("4711", "approved")

    play(scene)
    assert not any("ERROR" in line or "WARNING" in line for line in logged)


def test_an_answer_is_tried_again_when_the_connection_fails(api: BotApi, clock: SwiftClock) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    press = ann.presses_data(chat, api.world.post(chat, api.world.bot, "card"), "t1")
    api.script("answerCallbackQuery", [reset()])

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            assert await sending.answer(press, "x" * 300)

    play(scene)
    assert ann.press(press).answer == "x" * 200


AWKWARD = "feature_x a<b>&c `tick` *x* </pre>"


def test_a16_what_telegram_cannot_read_arrives_as_plain_text(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            await delivered(sending, replace(CARD, html=f"<b>card</b> {AWKWARD}", plain=f"card {AWKWARD}"))
            await delivered(sending, replace(CARD, key="r2", html="<b>card &lt;1&gt;"))

    play(scene)
    assert [(m.text, m.entities) for m in chat.shown()] == [(f"card {AWKWARD}", []), ("card <1>", [])]


def test_a18_a_text_that_is_too_long_is_cut_and_follows_whole_as_a_file(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()
    output = "x" * 4094 + "<&😀" + "y" * 5000
    html = f"<pre>{output.replace('&', '&amp;').replace('<', '&lt;')}</pre>"

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            await delivered(sending, replace(CARD, html=html))
            await until(lambda: len(chat.shown()) == 2)

    play(scene)
    message, file = chat.shown()
    assert message.text.startswith("x" * 3000)
    assert file.document is not None and file.document[1].decode() == output
    assert file.reply_to == message.message_id


def test_a31_nothing_is_cut_above_a_button(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            assert isinstance(await (await sending.put(replace(ASKING, html="x" * 5000))), Declined)

    play(scene)
    assert chat.shown() == []


def test_a20_a_group_that_became_a_supergroup_is_followed(api: BotApi, clock: SwiftClock, logged: list[str]) -> None:
    old = api.group(kind="group")
    new = api.world.migrate(old, -1002)
    moves: list[tuple[int, int]] = []

    async def scene() -> None:
        async with delivery(api, clock, moved=lambda *ids: moves.append(ids)) as sending:
            assert (await delivered(sending, CARD)).chat == -1002
            await delivered(sending, replace(CARD, key="r2", html="next"))

    play(scene)
    assert [message.text for message in new.from_bot()] == ["git_push main", "next"]
    assert moves == [(CHAT, -1002)]
    assert len(api.called("sendMessage")) == 3  # the second message knew where to go
    assert any("GATEWAY_TELEGRAM_CHAT_ID" in line for line in logged)


def test_a22_without_its_topic_a_message_goes_to_the_main_chat_and_later_to_the_topic_again(
    api: BotApi, clock: SwiftClock
) -> None:
    chat = api.group(forum=True)
    assert chat.topics is not None
    chat.topics.remove(5)

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            assert (await delivered(sending, replace(CARD, topic=5))).topic is None
            assert sending.topic_is_gone(CHAT, 5)
            await delivered(sending, replace(CARD, key="r2", topic=5, html="next"))
            chat.topics.add(5)
            clock.now += TOPIC_RETRY
            assert (await delivered(sending, replace(CARD, key="r3", topic=5, html="last"))).topic == 5
            assert not sending.topic_is_gone(CHAT, 5)

    play(scene)
    assert [message.topic for message in chat.shown()] == [None, None, 5]
    assert "its topic is gone" in chat.shown()[0].text
    assert [call.values.get("message_thread_id") for call in api.called("sendMessage")] == ["5", None, None, "5"]


def test_a23_a_bot_that_was_thrown_out_goes_on_and_says_so(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()
    chat.refusal = "bot was kicked from the supergroup chat"

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            for number in range(50):
                outcome = await (await sending.put(replace(ASKING, key=f"r{number}")))
                assert isinstance(outcome, Vanished) and outcome.what is Lost.CHAT
            assert sending.waiting == 0
            chat.refusal = ""
            await delivered(sending, CARD)

    play(scene)


def test_a_card_that_was_deleted_by_hand_is_reported(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            sent = await delivered(sending, CARD)
            chat.messages[sent.message_id].deleted = True
            outcome = await (
                await sending.put(replace(CARD, kind=Kind.EDIT, message_id=sent.message_id, html="done"))
            )
            assert isinstance(outcome, Vanished) and outcome.what is Lost.MESSAGE

    play(scene)


def test_one_card_is_written_in_order_whatever_is_more_urgent(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            sent = await delivered(sending, CARD)
            edit = replace(CARD, kind=Kind.EDIT, message_id=sent.message_id, html="approved")
            file = replace(CARD, kind=Kind.DOCUMENT, html="", file_name="a.diff", content=b"x")
            results = [
                await sending.put(file, Priority.ROUTINE),
                await sending.put(edit, Priority.APPROVAL),
                await sending.put(replace(edit, kind=Kind.DELETE), Priority.ROUTINE),
            ]
            await asyncio.gather(*results)

    play(scene)
    methods = [call.method for call in api.calls]
    assert methods == ["sendMessage", "sendDocument", "editMessageText", "deleteMessage"]
    assert [message.document for message in chat.shown()] == [("a.diff", b"x")]


def test_a12_decisions_go_before_chatter_and_are_let_into_a_full_queue(api: BotApi) -> None:
    chat, clock = api.group(), HandClock()

    async def scene() -> None:
        async with delivery(api, clock, capacity=3) as sending:
            for number in range(3):
                await sending.put(replace(CARD, key=f"line {number}", html=f"line {number}"))
            await sending.put(ASKING, Priority.APPROVAL)
            for number in range(4):
                await until(lambda: len(api.called("sendMessage")) == number + 1)  # noqa: B023 (awaited at once)
                clock.advance(1)

    play(scene)
    assert [message.text for message in chat.shown()] == ["git_push main", "line 0", "line 1", "line 2"]


def test_a12_who_puts_too_much_waits_until_there_is_room(api: BotApi) -> None:
    api.group()
    clock = HandClock()

    async def scene() -> None:
        async with delivery(api, clock, capacity=2) as sending:
            await sending.put(replace(CARD, key="r0"))
            await until(lambda: api.called("sendMessage"))
            await sending.put(replace(CARD, key="r1"))
            await sending.put(replace(CARD, key="r2"))
            putting = asyncio.create_task(sending.put(replace(CARD, key="r3")))
            await asyncio.sleep(0)
            assert not putting.done()
            clock.advance(1)
            await until(putting.done)

    play(scene)


def test_a_state_that_never_went_gives_way_to_the_newest(api: BotApi) -> None:
    chat, clock = api.group(), HandClock()
    api.stop()

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            first = await sending.put(CARD)
            await until(lambda: clock.slept)
            second = await sending.put(replace(CARD, html="running"))
            api.start()
            clock.advance(2)
            third = await sending.put(replace(CARD, html="done"))
            assert (await first, await second) == (Superseded(), Superseded())
            assert isinstance(await third, Delivered)
            assert sending.problem == ""

    play(scene)
    assert [message.text for message in chat.shown()] == ["done"]


def test_a_state_that_comes_while_the_first_is_on_its_way_is_an_edit_of_it(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()
    under_way, go_on = threading.Event(), threading.Event()

    def hold(method: str, _result: object) -> None:
        if method == "sendMessage":
            under_way.set()
            assert go_on.wait(20)

    api.before_answer = hold

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            first = await sending.put(CARD)
            await until(under_way.is_set)
            second = await sending.put(replace(CARD, html="running"))
            go_on.set()
            assert isinstance(await first, Delivered) and await first == await second

    play(scene)
    assert [(message.text, message.earlier) for message in chat.shown()] == [("running", ["git_push main"])]


def test_a_newer_state_of_what_may_have_arrived_is_marked(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()
    api.script("sendMessage", [stall(applied=True)])

    async def scene() -> None:
        async with delivery(api, clock, IMPATIENT) as sending:
            first = await sending.put(ASKING, Priority.APPROVAL)
            await until(lambda: api.called("sendMessage"))
            outcome = await delivered(sending, replace(ASKING, html="git_push main, expired"))
            assert outcome.marked and await first == Superseded()

    play(scene)
    assert [MARK in message.text for message in chat.shown()] == [False, True]


def test_a_newer_state_after_an_uncertain_end_is_marked(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()
    api.script("sendMessage", [stall(applied=True)])

    async def scene() -> None:
        async with delivery(api, clock, IMPATIENT) as sending:
            first = await sending.put(CARD)
            await until(lambda: api.called("sendMessage"))
            assert (await delivered(sending, replace(CARD, html="done"))).marked
            assert isinstance(await first, Uncertain)

    play(scene)
    assert [MARK in message.text for message in chat.shown()] == [False, True]


def test_a_refused_token_holds_everything_and_loses_nothing(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()
    api.script("sendMessage", [error(401, "Unauthorized")])

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            await delivered(sending, CARD)

    play(scene)
    assert max(clock.slept) >= 60
    assert len(chat.shown()) == 1


@pytest.mark.parametrize("kind", [Kind.SEND, Kind.EDIT])
def test_a_group_is_written_to_20_times_a_minute_at_most_and_once_a_second(
    api: BotApi, clock: SwiftClock, kind: Kind
) -> None:
    api.group()

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            sent = await delivered(sending, CARD)
            for number in range(60):
                text = replace(CARD, html=f"state {number}")
                item = replace(text, kind=kind, message_id=sent.message_id) if kind is Kind.EDIT else text
                await delivered(sending, item)

    play(scene)
    times = [call.at for call in api.calls]
    assert all(later - earlier >= 1 for earlier, later in itertools.pairwise(times))
    assert all(times[index + 20] - times[index] >= 60 for index in range(len(times) - 20))


def test_chatter_leaves_room_for_a_decision_in_every_minute(api: BotApi, clock: SwiftClock) -> None:
    api.group()

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            for number in range(16):
                await delivered(sending, replace(CARD, html=f"line {number}"), Priority.ROUTINE)
            before = clock.now
            await delivered(sending, ASKING, Priority.APPROVAL)
            assert clock.now - before <= 1
            await delivered(sending, replace(CARD, key="r2"), Priority.ROUTINE)
            assert clock.now - before > 30

    play(scene)


def test_a_question_goes_first_after_ten_quick_requests_have_had_all_their_edits(
    api: BotApi, clock: SwiftClock
) -> None:
    api.group()

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            for number in range(10):
                shown = await delivered(sending, replace(ASKING, key=f"r{number}"), Priority.APPROVAL)
                for state in ("running", "done"):
                    edit = replace(CARD, key=f"r{number}", kind=Kind.EDIT, message_id=shown.message_id, html=state)
                    await sending.put(edit, Priority.DECIDED)
            before = clock.now
            for number in range(4):
                await delivered(sending, replace(ASKING, key=f"late-{number}"), Priority.APPROVAL)
            assert clock.now - before <= 10

    play(scene)


def test_a_stop_waits_for_what_is_on_its_way_and_takes_nothing_more(api: BotApi, clock: SwiftClock) -> None:
    chat = api.group()

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            result = await sending.put(CARD)
            await sending.close(grace=10)
            assert isinstance(result.result(), Delivered)
            with pytest.raises(Unavailable):
                await sending.put(replace(CARD, key="r2"))

    play(scene)
    assert len(chat.shown()) == 1


def test_a_stop_in_an_outage_takes_its_grace_and_no_longer(api: BotApi, clock: SwiftClock) -> None:
    api.group()
    api.always("sendMessage", stall())
    results = []

    async def scene() -> None:
        async with delivery(api, clock) as sending:
            results.append(await sending.put(CARD))
            results.append(await sending.put(replace(CARD, kind=Kind.DOCUMENT, file_name="a", content=b"x")))
            await until(lambda: api.called("sendMessage"))
            await sending.close(grace=0.05)

    play(scene)
    assert isinstance(results[0].result(), Uncertain)
    assert results[1].cancelled()


def test_a25_no_failure_of_a_delivery_puts_the_token_into_the_log(
    api: BotApi, clock: SwiftClock, logged: list[str]
) -> None:
    api.group()
    api.script("sendMessage", [error(400, f"Bad Request: https://host/bot{api.token}/x"), reset(), stall()])

    async def scene() -> None:
        async with delivery(api, clock, IMPATIENT) as sending:
            for number in range(3):
                await (await sending.put(replace(CARD, key=f"r{number}")))

    play(scene)
    assert len(logged) >= 3
    assert api.token.partition(":")[2].lower() not in "".join(logged).lower()
