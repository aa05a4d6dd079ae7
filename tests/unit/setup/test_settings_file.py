"""The file that `init` writes: chosen where it is read, judged before it is written, replaced in one step."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from executor.errors import ConfigError, Refused
from gateway import settings_sources as sources
from gateway.setup.settings_file import SettingsFile, chosen


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a work tree and a shared directory beside it."""
    for name in ("home", "shop/.git", "shared"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path


def values(home: Path) -> dict[str, str]:
    return {"shared_dir": f"{home}/shared", "repo_dir": f"{home}/shop", "state_dir": f"{home}/state"}


def test_it_is_the_one_that_will_be_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(None, None) == SettingsFile(home / "home" / ".env")
    assert chosen(None, None).found_by_itself
    monkeypatch.setenv("GATEWAY_ENV_FILE", f"{home}/named.env")
    assert chosen(None, None).path == home / "named.env"
    assert not chosen(None, None).found_by_itself
    assert chosen(None, f"{home}/gateway.toml").named_in == "GATEWAY_CONFIG_FILE"


def test_a_place_where_it_would_not_be_read_or_an_agent_could_write_it_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home / "shop")
    with pytest.raises(Refused, match="not read"):
        chosen(None, None)
    (home / "link").symlink_to(home / "home" / ".env")
    with pytest.raises(Refused, match="a link"):
        chosen(f"{home}/link", None)
    with pytest.raises(ConfigError, match="where the agent could change it"):
        file = chosen(f"{home}/shared/gateway.env", None)
        file.checked(file.with_values(values(home)))


@pytest.mark.parametrize("toml", [False, True])
def test_a_text_is_judged_as_if_it_stood_there_and_nothing_is_written(home: Path, toml: bool) -> None:
    file = chosen(None, f"{home}/gateway.toml") if toml else chosen(None, None)
    before = dict(os.environ)

    settings = file.checked(file.with_values(values(home) | {"approve": "git_push"}))

    assert settings.repo_dir == home / "shop"
    assert settings.approve == ("git_push",)
    with pytest.raises(ConfigError, match="GATEWAY_STATE_DIR lies inside"):
        file.checked(file.with_values(values(home) | {"state_dir": f"{home}/shared/state"}))
    assert not file.path.exists()
    assert dict(os.environ) == before


@pytest.mark.parametrize("toml", [False, True])
def test_it_is_replaced_in_one_step_for_its_owner_alone_and_read_back(home: Path, toml: bool) -> None:
    file = chosen(None, f"{home}/gateway.toml") if toml else chosen(None, None)
    more = {"telegram_chat_id": "-1001", "telegram_operator_ids": "11,22", "approve": "git_push,git_add"}
    text = file.with_values(values(home) | more)

    file.replace(text)

    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert file.values() == values(home) | more
    assert [entry.name for entry in file.path.parent.iterdir() if entry.name.startswith(f".{file.path.name}.")] == []
    without = file.with_values({"telegram_chat_id": ""})
    file.replace(without)
    assert file.values().get("telegram_chat_id", "") == ""


def test_e07_a_value_that_readers_would_not_agree_on_is_refused_by_its_name(home: Path) -> None:
    with pytest.raises(Refused, match="GATEWAY_SHARED_DIR: the value cannot be written"):
        chosen(None, None).with_values({"shared_dir": "/srv/a'b"})


@pytest.mark.needs("root")
def test_e04_a_file_that_its_user_cannot_read_is_said_so(open_to_all: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (open_to_all / ".env").write_text("GATEWAY_SHARED_DIR=/x\n")
    (open_to_all / ".env").chmod(0o600)
    monkeypatch.chdir(open_to_all)
    os.seteuid(65534)
    try:
        with pytest.raises(ConfigError) as caught:
            sources.read_env_file(sources.env_file(os.environ))
    finally:
        os.seteuid(0)
    assert "cannot be read" in caught.value.message
    assert "chown 65534" in caught.value.hint
