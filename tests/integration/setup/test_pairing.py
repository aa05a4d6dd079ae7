"""Finding chat and operator by a one-time code, at a real Bot API server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from bot_api import BotApi, Person, error
from pydantic import SecretStr

from executor.errors import Refused
from gateway.setup import pairing
from gateway.setup.pairing import Paired, new_code, pair
from gateway.telegram.token_lock import TokenLock

CODE = "ABCDEFGHJK"
Started = Callable[..., Future[Paired]]


@pytest.fixture
def said() -> list[str]:
    """What the person at the terminal is told."""
    return []


@pytest.fixture
def started(api: BotApi, said: list[str], monkeypatch: pytest.MonkeyPatch) -> Started:
    """Begin to wait for the code, and return once it has been shown."""
    monkeypatch.setattr(pairing, "_AGAIN_SECONDS", 0.05)
    pool = ThreadPoolExecutor(1)

    def start(seconds: float = 60.0) -> Future[Paired]:
        shown = threading.Event()

        def say(line: str) -> None:
            said.append(line)
            if f"/start {CODE}" in line:
                shown.set()

        future = pool.submit(pair, SecretStr(api.token), api.url, say, seconds=seconds, code=CODE)
        future.add_done_callback(lambda _: shown.set())
        assert shown.wait(60)
        return future

    return start


@pytest.fixture
def ann(api: BotApi) -> Person:
    return api.person(11, "Ann", "ann")


@pytest.mark.parametrize("text", [f"/start {CODE}", f"/start@gateway_bot {CODE}", CODE])
def test_the_chat_and_the_person_are_those_of_the_message_with_the_code(
    api: BotApi, ann: Person, started: Started, text: str
) -> None:
    waiting = started()
    ann.says(api.group(-1001, forum=True), text, topic=5)

    assert waiting.result(60) == Paired(-1001, "supergroup", 5, 11, "@ann")
    assert api.world.updates == [], "the gateway is not told of the code again"
    lock = TokenLock(SecretStr(api.token))
    assert lock.take(), "nor kept from hearing"
    lock.release()


def test_only_the_message_with_the_code_counts(api: BotApi, ann: Person, started: Started, said: list[str]) -> None:
    eve, group = api.person(66, "Eve"), api.group(-1001)
    eve.says(group, "/start ABCDEFGHJX", ago=5)  # it waited before anybody asked
    waiting = started()
    eve.says(group, "/start")
    eve.says(group, CODE[:-1])
    eve.forwards(group, f"/start {CODE}", ann)
    ann.says_anonymously(group, f"/start {CODE}")
    ann.says_as_channel(group, f"/start {CODE}")
    api.person(99, "Robot", is_bot=True).says(group, f"/start {CODE}")
    ann.edits(group, ann.says(group, "hello"), f"/start {CODE}")
    private = api.world.chat(11, "private", "Ann")
    ann.says(private, f"/start {CODE}")

    assert waiting.result(60) == Paired(11, "private", None, 11, "@ann")
    assert any("anonymous administrator" in line for line in said)


def test_the_wait_is_bounded_and_its_end_says_how_to_go_on_without(started: Started) -> None:
    with pytest.raises(Refused, match="nobody sent the code") as caught:
        started(0.5).result(60)

    assert "--chat ID --operators ID" in caught.value.hint


def test_a01_a_gateway_that_hears_on_this_host_is_told_at_once(api: BotApi, said: list[str]) -> None:
    lock = TokenLock(SecretStr(api.token))
    assert lock.take()
    try:
        with pytest.raises(Refused, match="only one can") as caught:
            pair(SecretStr(api.token), api.url, said.append)
    finally:
        lock.release()
    assert "systemctl stop" in caught.value.hint
    assert api.calls == []


def test_a01_a_poller_elsewhere_is_told_after_some_conflicts(api: BotApi, started: Started) -> None:
    api.always("getUpdates", error(409, "Conflict: terminated by other getUpdates request"))

    with pytest.raises(Refused, match="another host"):
        started().result(60)


def test_an_outage_and_a_webhook_are_lived_through(
    api: BotApi, ann: Person, started: Started, said: list[str]
) -> None:
    api.world.webhook = "https://example.org/hook"
    api.script("getUpdates", [error(502, "Bad Gateway")])
    waiting = started()
    ann.says(api.group(-1001), f"/start {CODE}")

    assert waiting.result(60).chat_id == -1001
    assert any("webhook" in line for line in said)
    assert api.world.webhook == ""


def test_a_token_that_telegram_does_not_know_is_refused_and_shown_nowhere(api: BotApi, said: list[str]) -> None:
    api.revoked = True

    with pytest.raises(Refused, match="does not know this token") as caught:
        pair(SecretStr(api.token), api.url, said.append)

    assert api.token not in f"{caught.value}{said}"


def test_codes_are_not_used_twice_and_cannot_be_guessed() -> None:
    codes = {new_code() for _ in range(1_000)}

    assert len(codes) == 1_000
    assert all(len(code) == 10 and code.isalnum() for code in codes)
