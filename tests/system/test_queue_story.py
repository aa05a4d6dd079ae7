"""A Laravel application gets into trouble with its queues: what the real process does, and what the chat shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from bot_api import Shown
from served_host import ServedHost, until
from shop_queues import PATIENCE, Shop, shop_in
from telegram_chat import OpsChat

pytestmark = [
    pytest.mark.needs("git", "landlock", "http-backend", "laravel", "redis", "postgresql"),
    pytest.mark.slow,
    pytest.mark.timeout(420),
]


@pytest.fixture
def shop(host: ServedHost) -> Iterator[Shop]:
    """An application with its queues in SQLite."""
    with shop_in("sqlite", host) as shop:
        yield shop


@pytest.fixture
def shop_in_redis(host: ServedHost) -> Iterator[Shop]:
    with shop_in("redis", host) as shop:
        yield shop


def shows(chat: OpsChat, *parts: str) -> Shown:
    """Wait, for as long as PHP may take, for a message that holds all these parts."""
    try:
        until(lambda: chat.messages(*parts), f"a message with {parts}", PATIENCE)
    except AssertionError as error:
        error.add_note("\n---\n".join(chat.texts()))
        raise
    return chat.messages(*parts)[-1]


def queue_events(host: ServedHost) -> list[dict[str, Any]]:
    return [event for event in host.events() if str(event["kind"]).startswith("queue.")]


def kinds(host: ServedHost) -> list[str]:
    return [str(event["kind"]).removeprefix("queue.") for event in queue_events(host)]


def looked_at(host: ServedHost) -> datetime:
    """When the monitor last looked, as far as is known."""
    told = json.loads(host.cli("queue", "--json").stdout)["monitor_looked_at"]
    return datetime.fromisoformat(told) if told else datetime.min.replace(tzinfo=UTC)


@pytest.mark.parametrize("kind", ["redis", "postgresql", "sqlite"])
def test_a_congestion_is_seen_restarted_and_drained_and_all_of_it_is_one_message(
    host: ServedHost, chat: OpsChat, kind: str
) -> None:
    with shop_in(kind, host) as shop:
        shop.app.push("emails", count=40, seconds=0.5)
        with shop.app.workers("emails") as workers:
            before = workers.pids()
            with host.running():
                shows(chat, "emails", "🚦 Congested:")
                shows(chat, "emails", "✅ Restarted, verified", "1 worker started")
                card = shows(chat, "✅ All clear: emails", "after 1 restart")
                assert workers.pids().isdisjoint(before)
                until(lambda: len(shop.app.done()) == 40, "every job is done", PATIENCE)
        assert len(chat.messages("Congested:")) == 1
        assert not card.silent
        assert [kind for kind in kinds(host) if kind != "draining"] == ["congested", "restart_asked", "all_clear"]
        (request,) = {event["data"]["request"] for event in queue_events(host) if "request" in event["data"]}
        assert host.result(request)["verified"]["effect"] is True
        assert "the queue monitor" in host.ok("why", request)
        assert host.ok("audit", "verify")

        told = json.loads(host.ok("queue", "--json"))
        assert told["queues"]["emails"]["pending"] == 0
        assert len(told["restarts"]) == 1


def test_the_last_day_is_shown_in_the_chat_on_a_terminal_and_in_a_file(
    host: ServedHost, chat: OpsChat, shop: Shop
) -> None:
    shop.app.push("emails", count=20)
    with host.running():
        shows(chat, "emails", "🚦 Congested:")
        chat.ann.says(chat.group, "/queue")
        numbers = shows(chat, "counted now", "emails: 20 pending", "congested since")
        (picture,) = until(lambda: pictures(chat), "the picture of the last day", PATIENCE)
    assert picture.reply_to == numbers.message_id
    text = host.ok("queue")
    assert all(mark in text for mark in ("▲", "░", "█", "┄"))
    assert all(len(line) <= 80 for line in text.splitlines())
    host.ok("queue", "--chart", str(host.root / "day.png"))
    assert (host.root / "day.png").read_bytes().startswith(b"\x89PNG")


def test_where_restarts_need_a_yes_an_operator_gives_it_in_the_chat(
    host: ServedHost, chat: OpsChat, shop: Shop
) -> None:
    shop.app.push("emails", count=100, seconds=0.5)
    with shop.app.workers("emails") as workers, host.running(GATEWAY_APPROVE="restart_queue"):
        before = workers.pids()
        shows(chat, "⏳ Restart workers? emails", "waits for an operator's yes")
        chat.tap(chat.ann, shows(chat, "Approve?", "emails congested"), "✅ Approve")
        shows(chat, "Done", "Approved by @ann")
        until(lambda: workers.pids().isdisjoint(before), "new workers", PATIENCE)
        shows(chat, "emails", "✅ Restarted, verified")


def test_a_restart_that_still_waits_for_a_yes_when_all_is_clear_is_taken_back(
    host: ServedHost, chat: OpsChat, shop: Shop
) -> None:
    shop.app.push("emails", count=20)
    with host.running(GATEWAY_APPROVE="restart_queue"):
        shows(chat, "Approve?", "emails congested")
        with shop.app.workers("emails"):
            shows(chat, "✅ All clear: emails", "by itself", "taken back before it began")
        shows(chat, "Taken back by the queue monitor")
    assert "draining" not in kinds(host)


def pictures(chat: OpsChat) -> list[Shown]:
    with chat.api.lock:
        return [message for message in chat.group.from_bot() if message.photo is not None]


def test_f01_without_any_worker_a_restart_proves_nothing_and_somebody_is_called(
    host: ServedHost, chat: OpsChat, shop: Shop
) -> None:
    shop.app.push("emails", count=20)
    with host.running(GATEWAY_QUEUE_RESTART_VERIFY_SECONDS="3"):
        shows(chat, "🆘 Still congested: emails", "not seen to take effect", "No job is being worked on")
        shows(chat, "🆘 Still congested: emails", "no queue worker was seen")
        with shop.app.workers("emails"):
            shows(chat, "✅ All clear: emails", "🚦 Congested:")
            shows(chat, "✅ All clear: emails", "at worst 20 pending")
    assert kinds(host).count("restart_asked") == 1


def test_f03_workers_that_nobody_starts_again_call_somebody_once(host: ServedHost, chat: OpsChat, shop: Shop) -> None:
    shop.app.push("emails", count=40, seconds=60.0, delay=0)
    with shop.app.workers("reports", respawn=False), host.running(GATEWAY_QUEUE_RESTART_VERIFY_SECONDS="5"):
        shows(chat, "🆘 Still congested: emails", "nobody started them again")
        shows(chat, "🆘 Still congested: emails", "Look at")
    assert len(chat.messages("🆘 Still congested: emails", "Look at")) == 1
    assert kinds(host).count("restart_asked") == 1


def test_jobs_that_always_fail_are_counted_and_are_no_reason_to_restart(
    host: ServedHost, chat: OpsChat, shop: Shop
) -> None:
    shop.app.push("emails", count=5, kind="poison")
    with shop.app.workers("emails"), host.running():

        def failed() -> bool:
            told = json.loads(host.cli("queue", "--json").stdout)["queues"]["emails"]
            return (told["pending"], told["failed"]) == (0, 5)

        until(failed, "every poisoned job has failed", PATIENCE)
        chat.ann.says(chat.group, "/queue")
        shows(chat, "emails", "5 failed")
    assert kinds(host) == []


def test_outside_business_hours_it_tells_and_restarts_nothing(host: ServedHost, chat: OpsChat, shop: Shop) -> None:
    shop.app.push("emails", count=20)
    with host.running(GATEWAY_QUEUE_HOURS="never"):
        shows(chat, "🚦 Queue congested: emails", "Outside business hours")
        with shop.app.workers("emails"):
            shows(chat, "✅ All clear: emails", "by itself")
    assert kinds(host) == ["congested", "all_clear"]


def test_with_redis_away_nothing_is_known_and_nothing_is_restarted(
    host: ServedHost, chat: OpsChat, shop_in_redis: Shop
) -> None:
    redis = shop_in_redis.server
    assert redis is not None
    with host.running():
        shop_in_redis.app.push("emails", count=3)
        redis.stop()
        shows(chat, "❓ Cannot count: emails")
        assert host.cli("queue").returncode == 1
        assert host.ask("git_status.still.flag")["state"] == "succeeded"
        redis.start()
        shows(chat, "✅ Counted again: emails")
    assert [kind for kind in kinds(host) if kind != "never_existed"] == ["count_unknown", "count_known"]


def test_f08_under_a_wrong_prefix_nothing_is_known_and_the_setting_is_named(
    host: ServedHost, chat: OpsChat, shop_in_redis: Shop
) -> None:
    shop_in_redis.app.push("emails", count=30)
    with host.running(GATEWAY_QUEUE_REDIS_PREFIX="laravel_database_"):
        shows(chat, "❓ Cannot count: emails", "GATEWAY_QUEUE_REDIS_PREFIX", "shop_database_")
    assert kinds(host) == ["count_unknown"]


def test_f08_a_queue_that_was_never_there_is_told_once(host: ServedHost, chat: OpsChat, shop: Shop) -> None:
    shop.app.push("emails", count=1)
    with host.running(GATEWAY_QUEUE_NAMES="emails,emials"):
        shows(chat, "❓ Never seen: emials", "GATEWAY_QUEUE_NAMES")
    stopped = datetime.now(UTC)
    with host.running(GATEWAY_QUEUE_NAMES="emails,emials"):
        until(lambda: looked_at(host) > stopped, "the next process has looked", PATIENCE)
    assert kinds(host) == ["never_existed"]


def test_delayed_jobs_alone_are_no_congestion(host: ServedHost, chat: OpsChat, shop: Shop) -> None:
    shop.app.push("emails", count=30, delay=3600)
    with host.running():
        begun = datetime.now(UTC)
        until(lambda: looked_at(host) > begun + timedelta(seconds=4), "the monitor has looked a few times", PATIENCE)
        chat.ann.says(chat.group, "/queue")
        shows(chat, "emails", "0 pending", "30 delayed")
    assert kinds(host) == []
