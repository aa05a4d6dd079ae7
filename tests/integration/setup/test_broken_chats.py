"""Chats that are not as they should be, at a real Bot API server: the doctor says which part is wrong."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from bot_api import BotApi, error
from pydantic import SecretStr
from set_up_host import SetUpHost

from gateway.telegram.token_lock import TokenLock

pytestmark = pytest.mark.needs("git", "landlock", "unprivileged-user")

CHAT = -1001


@pytest.fixture
def chat_host(host: SetUpHost, api: BotApi) -> SetUpHost:
    """A host whose bot may write in a group, with one operator."""
    api.group(CHAT)
    host.write_settings(
        TELEGRAM_BOT_TOKEN=api.token,
        TELEGRAM_CHAT_ID=str(CHAT),
        TELEGRAM_OPERATOR_IDS="11",
        TELEGRAM_API_URL=api.url,
    )
    return host


@pytest.fixture
def other_poller(api: BotApi) -> Iterator[None]:
    """Another program, on another host as it were, that polls with the same token and never gives up."""
    ended = threading.Event()

    def poll() -> None:
        address = f"{api.url}/bot{api.token}/getUpdates"
        while not ended.is_set():
            try:
                with urllib.request.urlopen(address, b"timeout=30", timeout=60) as answer:
                    json.load(answer)
            except (urllib.error.HTTPError, OSError):
                ended.wait(0.5)

    thread = threading.Thread(target=poll, daemon=True)
    thread.start()
    yield
    ended.set()
    api.stop()
    thread.join(60)


def test_a_good_chat_is_found_good_and_left_as_it_was(chat_host: SetUpHost, api: BotApi) -> None:
    found = chat_host.doctor()

    names = ("telegram", "telegram chat", "telegram poller", "operators")
    assert {name: found[name]["state"] for name in names} == dict.fromkeys(names, "ok")
    assert api.group(CHAT).from_bot() == []
    assert api.token not in json.dumps(found)


@pytest.mark.parametrize(
    ("settings", "check", "named"),
    [
        ({"TELEGRAM_OPERATOR_IDS": ""}, "operators", "init --pair"),
        ({"TELEGRAM_CHAT_ID": "77"}, "operators", "add 77"),
        ({"QUORUM": "2"}, "operators", "GATEWAY_QUORUM"),
        ({"TELEGRAM_CHAT_ID": "-9"}, "telegram chat", "check the id"),
    ],
)
def test_what_the_settings_say_of_the_chat_is_checked(
    chat_host: SetUpHost, settings: dict[str, str], check: str, named: str
) -> None:
    chat_host.write_settings(**settings)

    found = chat_host.doctor()[check]

    assert found["state"] == "fail"
    assert named in f"{found['mend']} {found['command']}"


def test_a22_a_topic_that_is_gone_is_told_from_a_chat_that_is(chat_host: SetUpHost, api: BotApi) -> None:
    chat_host.write_settings(TELEGRAM_TOPIC_ID="7")
    api.script("sendMessage", [error(400, "Bad Request: message thread not found")])

    found = chat_host.doctor()

    assert found["telegram topic"]["state"] == "warn"
    assert "GATEWAY_TELEGRAM_TOPIC_ID" in found["telegram topic"]["mend"]


def test_a_token_that_was_revoked_fails_and_nothing_else_is_asked(chat_host: SetUpHost, api: BotApi) -> None:
    api.revoked = True

    found = chat_host.doctor()

    assert found["telegram"]["state"] == "fail"
    assert "BotFather" in found["telegram"]["mend"]
    assert "telegram chat" not in found


def test_a01_a_second_poller_on_this_host_is_found(chat_host: SetUpHost, api: BotApi) -> None:
    lock = TokenLock(SecretStr(api.token))
    assert lock.take()
    try:
        found = chat_host.doctor()["telegram poller"]
    finally:
        lock.release()
    assert found["state"] == "fail"
    assert "stop it" in found["mend"]
    assert chat_host.doctor()["telegram poller"]["state"] == "ok"


@pytest.mark.usefixtures("other_poller")
def test_a01_a_second_poller_elsewhere_is_found(chat_host: SetUpHost) -> None:
    found = chat_host.doctor()["telegram poller"]

    assert found["state"] == "fail"
    assert "elsewhere" in found["what"]


def test_a_webhook_that_takes_the_updates_is_found(chat_host: SetUpHost, api: BotApi) -> None:
    api.world.webhook = "https://example.org/hook"

    assert "webhook" in chat_host.doctor()["telegram poller"]["what"]


def test_updates_that_wait_are_still_there_after_the_doctor(chat_host: SetUpHost, api: BotApi) -> None:
    api.person(11, "Ann").says(api.group(CHAT), "/status")

    assert chat_host.doctor()["telegram poller"]["state"] == "ok"

    assert len(api.world.updates) == 1
