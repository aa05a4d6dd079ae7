"""Hearing operators: every update once, confirmed after it was handled, and a loop that nothing ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from bot_api import BotApi, Fault, SwiftClock, error, flood, garbage, reset, server_error, stall
from pydantic import SecretStr
from scenes import IMPATIENT, Listener, client, listener, play, until

from gateway.telegram.polling import HANDLE_MAX, PollState
from gateway.telegram.token_lock import TokenLock
from gateway.telegram.transport import Timeouts
from gateway.telegram.update_facts import UpdateFacts

CONFLICT = error(409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance runs")


def texts(listening: Listener) -> list[str]:
    return [facts.text for facts in listening.heard]


def test_updates_are_heard_in_order(api: BotApi, clock: SwiftClock) -> None:
    chat, ann = api.group(), api.person(11, "Ann", "ann")
    ann.says(chat, "/status")

    async def scene() -> None:
        async with listener(api, clock) as listening:
            await until(lambda: listening.heard)
            card = api.world.post(chat, api.world.bot, "card", buttons=[[{"text": "Approve", "callback_data": "t1"}]])
            press = ann.presses(chat, card, "Approve")
            ann.says(chat, "too risky", reply_to=card.message_id)
            await until(lambda: len(listening.heard) == 3)
            command, pressed, reply = listening.heard
            assert (command.text, command.user_name, command.chat_id) == ("/status", "@ann", chat.chat_id)
            assert (pressed.query_id, pressed.query_data, pressed.message_id) == (press, "t1", card.message_id)
            assert (reply.text, reply.reply_to) == ("too risky", card.message_id)
            assert listening.polling.state is PollState.OK

    play(scene)


def test_an_update_is_confirmed_only_after_it_was_handled(api: BotApi, clock: SwiftClock) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    ann.says(chat, "/status")

    async def scene() -> None:
        async with client(api) as transport:
            hanging = Listener(transport, clock, api.token)
            heard = asyncio.Event()

            async def hang(_facts: UpdateFacts) -> None:
                heard.set()
                await asyncio.Event().wait()

            task = asyncio.create_task(hanging.polling.run(hang))
            await heard.wait()
            task.cancel()  # as when the process ends in the middle
            await asyncio.gather(task, return_exceptions=True)
        async with listener(api, clock) as listening:
            await until(lambda: listening.heard)
            assert texts(listening) == ["/status"]
            await until(lambda: api.world.updates == [])

    play(scene)


def test_an_update_that_was_handled_before_a_restart_says_so(api: BotApi, clock: SwiftClock) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    ann.says(chat, "/queue restart")
    number = api.world.updates[0]["update_id"]
    remembered: list[int] = []

    async def remember(update_id: int) -> None:
        remembered.append(update_id)

    async def scene() -> None:
        ann.says(chat, "/status")
        async with listener(api, clock, handled=[number], remember=remember) as listening:
            await until(lambda: len(listening.heard) == 2)
            assert [facts.redelivered for facts in listening.heard] == [True, False]
            await until(lambda: remembered == [number + 1])

    play(scene)


def test_what_is_confirmed_is_not_confirmed_again(api: BotApi, clock: SwiftClock) -> None:
    """Telegram begins with other numbers after a quiet week; an offset from before would swallow what comes then."""
    chat, ann = api.group(), api.person(11, "Ann")
    ann.says(chat, "/status")

    async def scene() -> None:
        async with listener(api, clock, IMPATIENT) as listening:
            await until(lambda: len(api.called("getUpdates")) >= 2)  # the second has confirmed, and heard nothing
            with api.lock:
                api.world.redeliver({"update_id": 7, "poll": {"id": "1"}})
            await until(lambda: len(listening.heard) == 2)
            await until(lambda: not api.world.updates)

    play(scene)
    offsets = [call.values.get("offset") for call in api.called("getUpdates")]
    assert offsets[:3] == [None, "1001", None]


def test_a01_a_few_conflicts_are_one_alert_and_the_bot_recovers(api: BotApi, clock: SwiftClock) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    ann.says(chat, "/status")
    api.script("getUpdates", [CONFLICT] * 5)

    async def scene() -> None:
        async with listener(api, clock) as listening:
            await until(lambda: listening.heard)
            assert listening.alerts == [PollState.CONFLICT]

    play(scene)


def test_a01_conflicts_without_end_are_one_alert_and_no_crash(api: BotApi, clock: SwiftClock) -> None:
    api.always("getUpdates", CONFLICT)

    async def scene() -> None:
        async with listener(api, clock) as listening:
            await until(lambda: len(api.called("getUpdates")) > 40)
            assert listening.alerts == [PollState.CONFLICT]
            assert listening.polling.state is PollState.CONFLICT

    play(scene)
    assert min(clock.slept) >= 1


def test_a01_a_second_poller_ends_the_poll_of_the_first(api: BotApi, clock: SwiftClock) -> None:
    async def scene() -> None:
        async with listener(api, clock) as listening, client(api, IMPATIENT) as other:
            await until(lambda: listening.polling.state is not PollState.CONNECTING or api.world.heard)
            polling = asyncio.create_task(other.get_updates(None))
            await until(lambda: listening.polling.state is PollState.CONFLICT)
            await asyncio.gather(polling, return_exceptions=True)

    play(scene)


def test_a02_a_webhook_in_the_way_is_taken_away_even_at_the_second_try(api: BotApi, clock: SwiftClock) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    ann.says(chat, "/status")
    api.world.webhook = "https://old.example/hook"
    api.script("deleteWebhook", [reset()])

    async def scene() -> None:
        async with listener(api, clock) as listening:
            await until(lambda: listening.heard)
            assert texts(listening) == ["/status"]

    play(scene)


def test_a02_after_a_conflict_and_a_recovery_that_failed_twice_the_next_one_is_still_tried(
    api: BotApi, clock: SwiftClock
) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    ann.says(chat, "/status")
    api.script("getUpdates", [CONFLICT, CONFLICT])
    api.world.webhook = "https://old.example/hook"
    api.script("deleteWebhook", [reset(), stall()])

    async def scene() -> None:
        async with listener(api, clock, IMPATIENT) as listening:
            await until(lambda: listening.heard)
            assert texts(listening) == ["/status"]
            assert listening.alerts == []

    play(scene)
    assert len(api.called("deleteWebhook")) == 3


def test_a04_conflicts_that_come_and_go_are_one_alert(api: BotApi, clock: SwiftClock) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    api.script("getUpdates", [CONFLICT, None] * 25)

    async def scene() -> None:
        async with listener(api, clock) as listening:
            for number in range(25):
                ann.says(chat, f"/why {number}")
                await until(lambda: len(listening.heard) == number + 1)  # noqa: B023 (awaited at once)
            assert listening.alerts == [PollState.CONFLICT]
            assert listening.polling.state is PollState.CONFLICT

    play(scene)


def test_a04_a_conflict_that_stays_away_is_over(api: BotApi, clock: SwiftClock) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    api.script("getUpdates", [CONFLICT] * 5)

    async def scene() -> None:
        async with listener(api, clock) as listening:
            ann.says(chat, "/status")
            await until(lambda: listening.heard)
            clock.now += 600
            ann.says(chat, "/status")
            await until(lambda: len(listening.heard) == 2)
            assert listening.polling.state is PollState.OK

    play(scene)


def test_a05_without_a_network_at_the_start_the_bot_joins_later(api: BotApi, clock: SwiftClock) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    ann.says(chat, "/status")
    api.stop()

    async def scene() -> None:
        async with listener(api, clock) as listening:
            await until(lambda: len(clock.slept) >= 10)
            assert listening.polling.state is PollState.CONNECTING
            api.start()
            await until(lambda: listening.heard)
            assert listening.polling.state is PollState.OK

    play(scene)
    assert clock.slept[:8] == [1, 2, 4, 8, 16, 32, 60, 60]


TROUBLES = {
    "a hanging poll (A06)": stall(),
    "a lost answer": reset(),
    "a server error": server_error(),
    "a proxy's page": garbage(),
    "a flood": flood(5),
}


@pytest.mark.parametrize("fault", TROUBLES.values(), ids=TROUBLES)
def test_p2_every_failure_has_its_wait_and_none_ends_the_loop(api: BotApi, clock: SwiftClock, fault: Fault) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    ann.says(chat, "/status")

    async def scene() -> None:
        async with listener(api, clock, IMPATIENT) as listening:
            await until(lambda: listening.heard)
            api.script("getUpdates", [fault] * 2)
            await until(lambda: listening.polling.state is PollState.DEGRADED)
            ann.says(chat, "/help")
            await until(lambda: len(listening.heard) == 2)
            assert listening.polling.state is PollState.OK

    play(scene)
    assert len(clock.slept) == 2 and min(clock.slept) >= 1


def test_p1_a_refused_token_is_noticed_told_once_and_tried_again(api: BotApi, clock: SwiftClock) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    ann.says(chat, "/status")

    async def scene() -> None:
        async with listener(api, clock) as listening:
            await until(lambda: listening.heard)
            api.revoked = True
            ann.says(chat, "/help")  # ends the poll that is under way
            await until(lambda: listening.polling.state is PollState.UNAUTHORISED)
            await until(lambda: len(clock.slept) > 3)
            assert listening.alerts == [PollState.UNAUTHORISED]
            assert (listening.polling.silence() or 0) > 100
            api.revoked = False
            ann.says(chat, "/why")
            await until(lambda: "/why" in texts(listening))

    play(scene)


def test_a23_an_update_whose_handling_fails_is_not_fetched_for_ever(
    api: BotApi, clock: SwiftClock, logged: list[str]
) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    for text in ("/bad", "/status"):
        ann.says(chat, text)
    heard: list[str] = []

    async def handle(facts: UpdateFacts) -> None:
        heard.append(facts.text)
        if facts.text == "/bad":
            raise RuntimeError("a bug")

    async def scene() -> None:
        async with client(api) as transport:
            task = asyncio.create_task(Listener(transport, clock, api.token).polling.run(handle))
            await until(lambda: heard and not api.world.updates)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    play(scene)
    assert heard == ["/bad", "/status"]
    assert sum("was not handled" in line for line in logged) == 1


def test_a_handler_that_hangs_does_not_make_the_bot_deaf(
    api: BotApi, clock: SwiftClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    for text in ("/bad", "/status"):
        ann.says(chat, text)
    heard: list[str] = []
    monkeypatch.setattr("gateway.telegram.polling.HANDLE_MAX", HANDLE_MAX / 1000)

    async def handle(facts: UpdateFacts) -> None:
        heard.append(facts.text)
        if facts.text == "/bad":
            await asyncio.Event().wait()

    async def scene() -> None:
        async with client(api) as transport:
            task = asyncio.create_task(Listener(transport, clock, api.token).polling.run(handle))
            await until(lambda: heard == ["/bad", "/status"])
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    play(scene)


def test_a29_old_updates_are_heard_with_their_age(api: BotApi, clock: SwiftClock) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    for ago in (7200, 7200, 7200, 10):
        ann.says(chat, "/queue restart", ago=ago)

    async def scene() -> None:
        async with listener(api, clock) as listening:
            await until(lambda: len(listening.heard) == 4)
            ages = [facts.age(datetime.now(UTC)) or 0 for facts in listening.heard]
            assert [age > 600 for age in ages] == [True, True, True, False]

    play(scene)


def test_a01_a_second_process_of_this_host_does_not_poll_and_takes_over_when_the_first_is_gone(
    api: BotApi, clock: SwiftClock
) -> None:
    program = (
        "import sys; from pydantic import SecretStr; from gateway.telegram.token_lock import TokenLock; "
        "lock = TokenLock(SecretStr(sys.argv[1])); print(lock.take(), flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, api.token], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "True\n"

        async def scene() -> None:
            async with listener(api, clock) as listening:
                await until(lambda: listening.alerts)
                assert listening.polling.state is PollState.CONFLICT
                assert api.called("getUpdates") == []
                first.kill()
                await until(lambda: api.world.heard)
                assert listening.alerts == [PollState.CONFLICT]

        play(scene)


def test_another_token_has_another_lock(api: BotApi) -> None:
    one, two = TokenLock(SecretStr(api.token)), TokenLock(SecretStr(api.token + "x"))

    assert one.take() and two.take()
    assert not TokenLock(SecretStr(api.token)).take()
    one.release()
    two.release()


def test_a25_no_failure_of_polling_puts_the_token_into_the_log(
    api: BotApi, clock: SwiftClock, logged: list[str]
) -> None:
    chat, ann = api.group(), api.person(11, "Ann")
    faults = [garbage(), CONFLICT, error(401, "Unauthorized"), reset(), error(404, f"no /bot{api.token}/getUpdates")]
    api.script("getUpdates", faults)
    ann.says(chat, "/status")

    async def scene() -> None:
        async with listener(api, clock) as listening:
            await until(lambda: listening.heard)

    play(scene)
    assert len(logged) >= 3
    assert api.token.partition(":")[2].lower() not in "".join(logged).lower()


def test_whether_operators_are_heard_is_known_before_the_first_poll_would_end(api: BotApi, clock: SwiftClock) -> None:
    async def scene() -> None:
        async with listener(api, clock, Timeouts(poll=3600.0)) as listening:
            await until(lambda: listening.polling.state is PollState.OK)

    play(scene)
