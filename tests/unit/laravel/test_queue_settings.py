"""The settings about queues: what each may be, what cannot stand together, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor.errors import ConfigError
from executor.laravel.config import ArtisanSource, LaravelConfig, RedisSource, RestartBy, SqlSource
from gateway import settings, wiring
from gateway.settings_model import Settings


@pytest.fixture(autouse=True)
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("shared", "state", "tree"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("GATEWAY_SHARED_DIR", str(tmp_path / "shared"))
    monkeypatch.setenv("GATEWAY_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("GATEWAY_REPO_DIR", str(tmp_path / "tree"))


def loaded(monkeypatch: pytest.MonkeyPatch, **given: str) -> Settings:
    for name, value in given.items():
        monkeypatch.setenv(f"GATEWAY_QUEUE_{name}", value)
    return settings.load()


def laravel(found: Settings) -> LaravelConfig | None:
    return wiring.executor_config(found).laravel


def refusal(monkeypatch: pytest.MonkeyPatch, **given: str) -> str:
    with pytest.raises(ConfigError) as raised:
        loaded(monkeypatch, **given)
    return str(raised.value)


def test_without_queue_names_nothing_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    assert laravel(loaded(monkeypatch)) is None


def test_a_redis_application_on_the_host_is_told_to_the_executor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = wiring.executor_config(
        loaded(
            monkeypatch,
            NAMES="emails, default",
            SOURCE="redis://:pass%20word@127.0.0.1:6379/2",
            REDIS_PREFIX="shop_database_",
            APP_DIR="/srv/www/shop",
        )
    )
    assert found.laravel is not None
    assert found.laravel.queues == ("emails", "default")
    assert found.laravel.source == RedisSource("redis://:pass%20word@127.0.0.1:6379/2", "shop_database_")
    assert found.laravel.app is not None
    assert (found.laravel.app.php, found.laravel.restart_by) == ("/usr/bin/php", RestartBy.ARTISAN)
    assert found.laravel.app.agent_dirs == (tmp_path / "shared", tmp_path / "tree")
    assert "pass word" in found.secrets
    assert "pass%20word" not in repr(found.laravel)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("artisan", ArtisanSource("")),
        ("sqlite:////srv/shop.db", SqlSource("sqlite:////srv/shop.db")),
        ("postgresql+psycopg://a@h/shop", SqlSource("postgresql+psycopg://a@h/shop")),
        ("mariadb://a@h/shop", SqlSource("mariadb://a@h/shop")),
    ],
)
def test_a_source_is_told_by_its_scheme(monkeypatch: pytest.MonkeyPatch, source: str, expected: object) -> None:
    found = laravel(loaded(monkeypatch, NAMES="emails", SOURCE=source, APP_DIR="/srv/www/shop"))
    assert found is not None
    assert found.source == expected


def test_in_a_container_php_is_found_there(monkeypatch: pytest.MonkeyPatch) -> None:
    found = laravel(loaded(monkeypatch, NAMES="emails", SOURCE="artisan", APP_DIR="/app", CONTAINER="shop-app-1"))
    assert found is not None
    assert found.app is not None
    assert (found.app.php, found.app.container) == ("php", "shop-app-1")


def test_a_unit_or_a_group_needs_no_application_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    found = laravel(loaded(monkeypatch, NAMES="emails", SOURCE="sqlite://", RESTART="systemctl:shop-worker.service"))
    assert found is not None
    assert (found.restart_by, found.restart_target) == (RestartBy.SYSTEMCTL, "shop-worker.service")
    assert found.app is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"SOURCE": "ftp://x"}, "GATEWAY_QUEUE_SOURCE: must be artisan"),
        ({"NAMES": "emails,-x"}, "GATEWAY_QUEUE_NAMES: entry 2 is not a queue name"),
        ({"RESTART": "kill -9"}, "GATEWAY_QUEUE_RESTART: must be artisan, horizon"),
        ({"RESTART": "systemctl:--now"}, "GATEWAY_QUEUE_RESTART: must be"),
        ({"HOURS": "Mon-Fri 9-18"}, "GATEWAY_QUEUE_HOURS:"),
        ({"TIME_ZONE": "Sao Paulo"}, "GATEWAY_QUEUE_TIME_ZONE: is no time zone"),
        ({"HOLIDAYS": "2026-12-25,25.12."}, "GATEWAY_QUEUE_HOLIDAYS: entry 2 is not a date"),
        ({"FAILED_URL": "redis://x"}, "GATEWAY_QUEUE_FAILED_URL: must be a database URL"),
        ({"CONTAINER": "--privileged"}, "GATEWAY_QUEUE_CONTAINER:"),
        ({"APP_DIR": "www/shop"}, "GATEWAY_QUEUE_APP_DIR: must be an absolute path"),
        ({"INTERVAL_SECONDS": "0"}, "GATEWAY_QUEUE_INTERVAL_SECONDS:"),
        ({"NAMES": "emails"}, "GATEWAY_QUEUE_SOURCE: is not set"),
        ({"NAMES": "emails", "SOURCE": "artisan"}, "GATEWAY_QUEUE_APP_DIR: is not set, and GATEWAY_QUEUE_SOURCE"),
        ({"NAMES": "emails", "SOURCE": "sqlite://"}, "and GATEWAY_QUEUE_RESTART is artisan"),
        ({"SOURCE": "artisan"}, "GATEWAY_QUEUE_NAMES: is not set, and GATEWAY_QUEUE_SOURCE is"),
    ],
)
def test_what_cannot_be_used_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], said: str
) -> None:
    assert said in refusal(monkeypatch, **given)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "BRT", "../../etc/passwd", "Europe"])
def test_b09_hours_need_a_time_zone_that_is_known_here(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", "UTC")  # which is not a guess at what the hours are meant in
    assert "GATEWAY_QUEUE_TIME_ZONE:" in refusal(monkeypatch, NAMES="emails", SOURCE="artisan", TIME_ZONE=zone)


def test_g07_a_refused_source_does_not_repeat_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "hunter2" not in refusal(monkeypatch, NAMES="emails", SOURCE="ftp://u:hunter2@h/x")
