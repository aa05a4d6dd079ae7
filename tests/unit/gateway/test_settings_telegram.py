"""The settings of the chat: nobody is an operator by default, and half of them is a mistake that is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor.errors import ConfigError
from gateway import cli, settings, wiring

TOKEN = "123456789:AbCdEfGhIjKlMnOpQrStUvWxYz"


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SHARED_DIR", "REPO_DIR", "STATE_DIR"):
        monkeypatch.setenv(f"GATEWAY_{variable}", str(tmp_path / variable.lower()))
    monkeypatch.chdir(tmp_path)


def test_without_a_token_there_is_no_chat_and_that_is_no_mistake() -> None:
    loaded = settings.load()
    assert loaded.telegram_bot_token.get_secret_value() == ""
    assert loaded.telegram_chat_id is None


def test_a26_nobody_is_an_operator_unless_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TELEGRAM_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("GATEWAY_TELEGRAM_CHAT_ID", "-1001234567890")
    assert settings.load().telegram_operator_ids == ()
    monkeypatch.setenv("GATEWAY_TELEGRAM_OPERATOR_IDS", "11111111, 22222222")
    assert settings.load().telegram_operator_ids == (11111111, 22222222)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"BOT_TOKEN": TOKEN}, "GATEWAY_TELEGRAM_CHAT_ID"),
        ({"CHAT_ID": "-1001234567890"}, "GATEWAY_TELEGRAM_BOT_TOKEN"),
        ({"OPERATOR_IDS": "11111111"}, "GATEWAY_TELEGRAM_BOT_TOKEN"),
        ({"BOT_TOKEN": TOKEN, "CHAT_ID": "@shop_ops"}, "GATEWAY_TELEGRAM_CHAT_ID"),
        ({"BOT_TOKEN": TOKEN, "CHAT_ID": "-1", "OPERATOR_IDS": "@ann"}, "OPERATOR_IDS"),
        ({"BOT_TOKEN": TOKEN, "CHAT_ID": "-1", "API_URL": "ftp://bot"}, "GATEWAY_TELEGRAM_API_URL"),
    ],
)
def test_what_cannot_be_meant_is_named(given: dict[str, str], named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"GATEWAY_TELEGRAM_{name}", value)
    with pytest.raises(ConfigError) as refused:
        settings.load()
    assert named in refused.value.message


@pytest.mark.parametrize("chat", [None, "@shop_ops", ""])
def test_g07_a_missing_or_wrong_chat_does_not_bring_the_token_out(
    chat: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GATEWAY_TELEGRAM_BOT_TOKEN", TOKEN)
    if chat is not None:
        monkeypatch.setenv("GATEWAY_TELEGRAM_CHAT_ID", chat)
    assert cli.main(["run"]) == cli.EXIT_CONFIG
    said = "".join(capsys.readouterr())
    assert "GATEWAY_TELEGRAM_CHAT_ID" in said
    assert TOKEN.partition(":")[2] not in said


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1,2", (1, 2)), ("1 2", (1, 2)), ("[1,2]", (1, 2)), ("7", (7,)), ("", ()), ("1,,2", (1, 2))],
)
def test_g06_operators_are_listed_in_whatever_way(
    text: str, expected: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_TELEGRAM_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("GATEWAY_TELEGRAM_CHAT_ID", "-1001234567890")
    monkeypatch.setenv("GATEWAY_TELEGRAM_OPERATOR_IDS", text)
    assert settings.load().telegram_operator_ids == expected


@pytest.mark.parametrize("text", ["abc", "1,abc", "-1001234567890", "1.5"])
def test_g06_what_is_no_user_is_answered_with_the_variable_and_an_example(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_TELEGRAM_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("GATEWAY_TELEGRAM_CHAT_ID", "-1001234567890")
    monkeypatch.setenv("GATEWAY_TELEGRAM_OPERATOR_IDS", text)
    with pytest.raises(ConfigError) as refused:
        settings.load()
    assert "example: GATEWAY_TELEGRAM_OPERATOR_IDS=" in refused.value.message + refused.value.hint


def test_e07_quotes_around_the_token_that_docker_keeps_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TELEGRAM_BOT_TOKEN", f'"{TOKEN}"')
    monkeypatch.setenv("GATEWAY_TELEGRAM_CHAT_ID", "-1001234567890")
    with pytest.raises(ConfigError) as refused:
        settings.load()
    assert "GATEWAY_TELEGRAM_BOT_TOKEN: the value is wrapped in quotes" in refused.value.message
    assert TOKEN.partition(":")[2] not in str(refused.value)


def test_a25_a_token_that_is_none_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TELEGRAM_BOT_TOKEN", f"bot{TOKEN}")
    monkeypatch.setenv("GATEWAY_TELEGRAM_CHAT_ID", "-1")
    with pytest.raises(ConfigError) as refused:
        settings.load()
    assert "GATEWAY_TELEGRAM_BOT_TOKEN" in refused.value.message
    assert TOKEN not in str(refused.value)


def test_a25_the_token_is_masked_wherever_something_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TELEGRAM_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("GATEWAY_TELEGRAM_CHAT_ID", "-1")
    redact = wiring.redactor(settings.load())
    secret = TOKEN.partition(":")[2]
    assert secret not in redact(f"POST https://api.telegram.org/bot{TOKEN}/getUpdates, and again {secret}")
