"""The chat comes and goes, and the gateway goes on: started without it, cut off from it, kicked out of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bot_api import error
from served_host import ALTERED, HURRIED, ServedHost, until
from telegram_chat import OpsChat

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")

APPROVE = "✅ Approve"
EXIT_BUG = 70
# What Python and asyncio write when something was torn down the wrong way round, and the start of any error.
_NOISE = re.compile(r"\w*Warning\b|never awaited|was destroyed|never retrieved|event loop|Unclosed|Traceback")


def noise(log: str) -> list[str]:
    """Return what a log has that an orderly end leaves none of."""
    return _NOISE.findall(log)


def scheduled(host: ServedHost) -> bool:
    """Whether the scheduler has run the job that writes this file."""
    return (host.shared / "gateway.json").exists()


def test_without_a_token_nothing_of_the_chat_is_loaded() -> None:
    program = (
        "import sys, gateway.host, gateway.commands.serve; print('telegram' in sys.modules, 'httpx' in sys.modules)"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_bug_that_keeps_ending_the_chat_is_in_the_status_and_flags_go_on(host: ServedHost, chat: OpsChat) -> None:
    with host.running(ALTERED, "chatless", "run"):
        host.raise_flag("git_status.s1.flag")
        host.in_state("s1", "succeeded")

        def said() -> bool:
            done = host.cli("status")
            return done.returncode == 1 and "chat: it ended with an error (RuntimeError)" in done.stdout

        until(said, "the status to tell of the chat")
        assert re.search(r"telegram +failing", host.cli("status").stdout)


def test_a05_the_host_serves_without_telegram_and_joins_it_later(host: ServedHost, chat: OpsChat) -> None:
    chat.api.stop()
    with host.running():
        assert host.ask("git_status.s1.flag")["state"] == "succeeded"
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        host.in_state("tag-1", "awaiting_approval")
        chat.api.start()
        card = chat.card("tag-1", "Approve?")
        chat.tap(chat.ann, card, APPROVE)
        host.in_state("tag-1", "succeeded")
        chat.card("tag-1", "Done")
        assert len(chat.messages("Request tag-1")) == 1


def test_a07_the_bot_and_the_scheduler_share_a_loop_and_end_on_sigterm_without_a_warning(
    host: ServedHost, chat: OpsChat
) -> None:
    with host.running(PYTHONWARNINGS="always") as gateway:
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        chat.card("tag-1", "Approve?")
        until(lambda: scheduled(host) and chat.polls(), "the scheduler at work and the bot listening")
        assert gateway.stop() == 0
        assert gateway.log.rstrip().endswith("stopped")
        assert noise(gateway.log) == []


def test_a08_a_start_without_a_scheduler_ends_at_once_and_with_that_error_alone(
    host: ServedHost, chat: OpsChat
) -> None:
    gateway = host.start(ALTERED, "unscheduled", "run", PYTHONWARNINGS="always")
    assert gateway.ends() == EXIT_BUG
    assert "RuntimeError: no scheduler" in gateway.log
    assert noise(gateway.log) == ["Traceback"]


def test_a08_what_fails_once_the_bot_listens_ends_it_all_in_order_and_with_that_error_alone(
    host: ServedHost, chat: OpsChat
) -> None:
    with host.running(ALTERED, "short-lived", "run", PYTHONWARNINGS="always") as gateway:
        until(chat.polls, "the bot listening")
        host.raise_flag("git_status.s1.flag")
        assert gateway.ends() == EXIT_BUG
        assert "RuntimeError: no pick-up any more" in gateway.log
        assert noise(gateway.log) == ["Traceback"]
    with host.running():
        assert host.in_state("s1", "succeeded")["state"] == "succeeded"


def test_a23_a_bot_that_was_kicked_out_leaves_the_gateway_at_work(host: ServedHost, chat: OpsChat) -> None:
    kicked = error(403, "Forbidden: bot was kicked from the supergroup chat")
    for method in ("sendMessage", "editMessageText"):
        chat.api.always(method, kicked)
    with host.running(*HURRIED, GATEWAY_APPROVAL_EXPIRY_SECONDS="4") as gateway:
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        assert host.in_state("tag-1", "expired", "undeliverable")["error"]["hint"]
        assert host.ask("git_status.s1.flag")["state"] == "succeeded"
        assert gateway.stop() == 0
        assert "Traceback" not in gateway.log


def test_what_happened_while_telegram_was_away_is_told_and_nothing_is_lost(host: ServedHost, chat: OpsChat) -> None:
    with host.running():
        host.raise_flag("git_cmd.tag-1.flag", "git tag v1")
        card = chat.settled_card("tag-1", "Approve?")
        chat.api.stop()
        host.ok("approve", "tag-1")
        host.in_state("tag-1", "succeeded")
        host.raise_flag("git_cmd.tag-2.flag", "git tag v2")
        host.in_state("tag-2", "awaiting_approval")
        chat.api.start()
        assert chat.card("tag-1", "Done", "on the host").message_id == card.message_id
        chat.card("tag-2", "Approve?")


def test_a25_the_token_is_nowhere(host: ServedHost, chat: OpsChat) -> None:
    chat.api.script("getUpdates", [error(409, "Conflict: terminated by other getUpdates request")])
    with host.running(GATEWAY_LOG_LEVEL="DEBUG") as gateway:
        host.raise_flag("git_cmd.tag-1.flag", f"git log --grep={chat.api.token}")
        host.in_state("tag-1", "succeeded", "refused", "failed")
        chat.ann.says(chat.group, "/status")
        chat.shows("All is well")
        gateway.stop()
        secret = chat.api.token.partition(":")[2]
        assert secret not in gateway.log
    assert secret not in json.dumps(host.events())
    assert secret not in "".join(chat.texts())
    for path in (host.shared / "results").iterdir():
        assert secret not in path.read_text()


def test_a_command_is_answered_and_an_old_one_is_not_done(host: ServedHost, chat: OpsChat) -> None:
    with host.running():
        for text, part in (("/help", "/freeze"), ("/pending", "Nothing waits"), ("/why nothing", "no request")):
            chat.ann.says(chat.group, text)
            chat.shows(part)
        chat.ann.says(chat.group, "/freeze now", ago=7200)
        chat.shows("too old")
        assert json.loads(host.cli("status", "--json").stdout)["frozen"] is None
    assert [command["command"] for command in chat.api.world.commands][:2] == ["status", "pending"]


def test_approve_by_name_is_for_what_a_card_shows(host: ServedHost, chat: OpsChat) -> None:
    with host.running():
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        chat.settled_card("tag-1", "Approve?")
        chat.bob.says(chat.group, "/approve tag-1")
        host.in_state("tag-1", "succeeded")
        chat.card("tag-1", "Approved by @bob")


def test_the_end_of_the_audit_log_is_posted(host: ServedHost, chat: OpsChat) -> None:
    with host.running():
        posted = chat.shows("Audit log").text
    anchor = next(line for line in posted.splitlines() if line.count(":") == 1 and len(line) > 64)
    until(lambda: host.cli("audit", "verify", "--anchor", anchor).returncode == 0, "a log that holds what was posted")
