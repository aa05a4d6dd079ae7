"""The doctor asks Telegram itself: whether the token is good, the chat open, and anybody listed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bot_api import BotApi, error

from gateway import settings
from gateway.setup import checks_telegram
from gateway.setup.check import Level

Looked = Callable[..., dict[str, Level]]


@pytest.fixture
def looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: BotApi) -> Looked:
    """Look with these settings, and return the level of each check by its name."""

    def look(**more: str) -> dict[str, Level]:
        values = {
            "SHARED_DIR": str(tmp_path / "shared"),
            "REPO_DIR": str(tmp_path / "shop"),
            "STATE_DIR": str(tmp_path / "state"),
            "TELEGRAM_BOT_TOKEN": api.token,
            "TELEGRAM_CHAT_ID": "-1001",
            "TELEGRAM_OPERATOR_IDS": "11",
            "TELEGRAM_API_URL": api.url,
        }
        for name, value in (values | more).items():
            monkeypatch.setenv(f"GATEWAY_{name}", value)
        return {check.name: check.level for check in checks_telegram.chat(settings.load())}

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checks_telegram, "POLL_SECONDS", 0.0)  # nobody else polls here
    return look


def test_a_good_set_up_passes_and_leaves_nothing_in_the_chat(api: BotApi, looked: Looked) -> None:
    group = api.group()
    assert set(looked().values()) == {Level.OK}
    assert group.from_bot() == []


def test_a_revoked_token_fails(api: BotApi, looked: Looked) -> None:
    api.group()
    api.revoked = True
    assert looked()["telegram"] is Level.FAIL


def test_a_chat_that_is_closed_to_the_bot_fails(api: BotApi, looked: Looked) -> None:
    api.group()
    api.script("sendMessage", [error(403, "Forbidden: bot was kicked from the supergroup chat")])
    assert looked()["telegram chat"] is Level.FAIL


def test_a_telegram_that_is_away_is_a_warning(api: BotApi, looked: Looked) -> None:
    api.group()
    api.stop()
    assert looked()["telegram"] is Level.WARN
    api.start()


def test_no_operators_and_too_few_of_them_fail(api: BotApi, looked: Looked) -> None:
    api.group()
    assert looked(TELEGRAM_OPERATOR_IDS="")["operators"] is Level.FAIL
    assert looked(QUORUM="force:2")["operators"] is Level.FAIL


def test_without_a_token_nobody_is_asked(api: BotApi, looked: Looked) -> None:
    found = looked(TELEGRAM_BOT_TOKEN="", TELEGRAM_CHAT_ID="", TELEGRAM_OPERATOR_IDS="")
    assert found == {"telegram": Level.OK}
    assert api.calls == []
