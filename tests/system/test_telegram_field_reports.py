"""What went wrong for others who let a bot ask people, played against the real process: each names its report."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bot_api import error, stall
from served_host import HURRIED, ServedHost, until
from telegram_chat import OpsChat

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")

APPROVE, DENY = "✅ Approve", "🚫 Deny"
START = ("getMe", "setMyCommands", "deleteWebhook", "getUpdates")  # what a bot asks before it hears anybody


def test_a01_while_somebody_else_hears_with_the_same_token_that_is_told_once_and_flags_are_served(
    host: ServedHost, chat: OpsChat
) -> None:
    chat.api.always("getUpdates", error(409, "Conflict: terminated by other getUpdates request"))
    with host.running(*HURRIED) as gateway:
        chat.shows("polls with the same bot token")
        assert host.ask("git_status.s1.flag")["state"] == "succeeded"
        until(lambda: state_of_polls(host) == "conflict", "the conflict in `status`", deadline=120)
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.settled_card("tag-1", "Approve?")
        chat.api.always("getUpdates", None)
        chat.ann.presses(chat.group, card, APPROVE)
        until(lambda: host.result("tag-1")["state"] == "succeeded", "a press that is heard again", deadline=120)
        assert len(chat.messages("polls with the same bot token")) == 1
        assert "Traceback" not in gateway.log


def test_a06_a_telegram_that_never_answers_holds_up_neither_the_start_nor_a_flag(
    host: ServedHost, chat: OpsChat
) -> None:
    for method in (*START, "sendMessage"):
        chat.api.always(method, stall())
    with host.running():  # which waits for READY
        until(chat.polls, "the bot asking for updates")
        assert host.ask("git_status.s1.flag")["state"] == "succeeded"
        # it is written once a minute
        until(lambda: state_of_polls(host) == "connecting", "the state of the chat in `status`", deadline=120)


def state_of_polls(host: ServedHost) -> str:
    """What the gateway last said of how hearing operators goes."""
    told = json.loads(host.cli("status", "--json").stdout)
    return str(told["health"].get("telegram", {}).get("polls", ""))


def test_a14_two_taps_at_the_same_moment_are_one_execution_and_the_second_is_told_who_was_first(
    host: ServedHost, chat: OpsChat
) -> None:
    with host.running() as gateway:
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.settled_card("tag-1", "Approve?")
        data = card.data_of(APPROVE)
        presses = [who.presses_data(chat.group, card, data) for who in (chat.ann, chat.ann, chat.bob)]
        until(lambda: all(chat.ann.press(each).answer for each in presses), "an answer to each press")
        first, *others = [chat.ann.press(each).answer or "" for each in presses]
        assert first == "Approved: it runs now."
        assert all("Already approved by @ann" in each for each in others)
        host.in_state("tag-1", "succeeded")
        chat.card("tag-1", "Done")
        assert "ERROR" not in gateway.log
    assert host.kinds("tag-1").count("request.running") == 1


def test_a15_a_decision_counts_also_when_telegram_has_forgotten_the_press(host: ServedHost, chat: OpsChat) -> None:
    forgotten = error(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
    chat.api.always("answerCallbackQuery", forgotten)
    with host.running() as gateway:
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        card = chat.settled_card("tag-1", "Approve?")
        chat.ann.presses(chat.group, card, APPROVE)
        host.in_state("tag-1", "succeeded")
        chat.card("tag-1", "Done", "Approved by @ann")
        assert not any(level in gateway.log for level in ("ERROR", "WARNING  | gateway.telegram"))


def test_a29_of_what_was_said_while_nobody_listened_only_what_is_fresh_is_done(
    host: ServedHost, chat: OpsChat
) -> None:
    for reason in ("one", "two", "three"):
        chat.ann.says(chat.group, f"/freeze {reason}", ago=7200)
    chat.ann.says(chat.group, "/freeze four", ago=10)
    with host.running():
        chat.shows("Frozen", "four")
        until(lambda: len(chat.messages("too old")) == 3, "an answer to each that is too old")
        assert json.loads(host.ok("status", "--json"))["frozen"]["reason"] == "four"
    assert [event["kind"] for event in host.events()].count("control.frozen") == 1


def test_a34_a_press_that_comes_while_its_card_is_still_being_sent_counts(host: ServedHost, chat: OpsChat) -> None:
    def press_at_once(method: str, message: Any) -> None:
        if method == "sendMessage" and "Approve?" in message.get("text", ""):
            with chat.api.lock:
                chat.ann.presses(chat.group, chat.group.messages[message["message_id"]], APPROVE)

    chat.api.before_answer = press_at_once
    with host.running():
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        host.in_state("tag-1", "succeeded")
        chat.card("tag-1", "Done", "Approved by @ann")
        assert len(chat.messages("Request tag-1")) == 1
    assert host.git("tag") == "v9"
