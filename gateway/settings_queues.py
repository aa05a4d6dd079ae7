"""The settings about Laravel's queues: counting them, restarting their workers, and when that is done by itself."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from executor.laravel import config as laravel
from executor.laravel.config import ArtisanSource, LaravelApp, LaravelConfig, RedisSource, RestartBy, SqlSource
from gateway.schedule.hours import parse_hours
from gateway.settings_fields import AbsolutePath, setting
from gateway.settings_sources import variable
from gateway.settings_values import split_list, words_like

_SOURCE = re.compile(r"artisan|(rediss?|unix|sqlite|postgres(ql)?|mysql|mariadb)(\+[a-z0-9]+)?://.*", re.DOTALL)
_DATABASE = re.compile(r"(sqlite|postgres(ql)?|mysql|mariadb)(\+[a-z0-9]+)?://.*", re.DOTALL)
_REDIS = ("redis", "rediss", "unix")
_UNIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9:_.@\\-]{0,254}")  # of systemd, or a supervisor group
_QUEUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")  # as a flag may name it


def _queue_names(value: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words_like(value, _QUEUE, "a queue name: letters, digits, and . : _ - inside it")))


def _source(url: SecretStr) -> SecretStr:
    if url.get_secret_value() and not _SOURCE.fullmatch(url.get_secret_value()):
        raise ValueError("must be artisan, a redis:// URL, or a database URL (sqlite, postgresql, mysql, mariadb)")
    return url


def _database(url: SecretStr) -> SecretStr:
    if url.get_secret_value() and not _DATABASE.fullmatch(url.get_secret_value()):
        raise ValueError("must be a database URL: sqlite, postgresql, mysql or mariadb")
    return url


def _restart(text: str) -> str:
    kind, colon, target = text.partition(":")
    if kind in (RestartBy.ARTISAN, RestartBy.HORIZON) and not colon:
        return text
    if kind in (RestartBy.SYSTEMCTL, RestartBy.SUPERVISORCTL) and _UNIT.fullmatch(target):
        return text
    raise ValueError("must be artisan, horizon, systemctl:UNIT or supervisorctl:GROUP")


def _hours(text: str) -> str:
    parse_hours(text)
    return text


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        raise ValueError("is no time zone known here; write it like America/Sao_Paulo") from None
    return name


def _dates(value: object) -> tuple[date, ...]:
    found = []
    for position, entry in enumerate(split_list(value), start=1):
        try:
            found.append(date.fromisoformat(entry))
        except ValueError:
            raise ValueError(f"entry {position} is not a date; write it like 2026-12-25") from None
    return tuple(found)


class QueueSettings(BaseModel):
    """What begins with GATEWAY_QUEUE_; a part of `Settings`."""

    queue_names: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_queue_names)] = setting(
        "The Laravel queues to watch. Without any, queues are not watched and restart_queue is refused.",
        "default,emails",
        default=(),
    )
    queue_source: Annotated[SecretStr, AfterValidator(_source)] = setting(
        "Where queues are counted: redis://HOST:PORT/DATABASE, the SQLAlchemy URL of the database with the jobs "
        "table, or artisan for `php artisan queue:monitor`.",
        "redis://127.0.0.1:6379/0",
        default=SecretStr(""),
    )
    queue_redis_prefix: str = setting(
        "What every key of the application begins with in Redis (REDIS_PREFIX there): its name in small letters and "
        "_database_; in Laravel 13 -database-.",
        "shop_database_",
        default=laravel.REDIS_PREFIX,
    )
    queue_connection: Annotated[str, Field(pattern=r"^([A-Za-z0-9_-]+)?$")] = setting(
        "The queue connection that artisan is asked about. Default: the application's own default one.",
        "redis",
        default="",
    )
    queue_failed_url: Annotated[SecretStr, AfterValidator(_database)] = setting(
        "The database with the failed_jobs table, where the queues are not counted in that same database.",
        "postgresql://gateway@127.0.0.1/shop",
        default=SecretStr(""),
    )
    queue_app_dir: AbsolutePath | None = setting(
        "The directory of the application's artisan, the one that its workers run in: on this host, or with "
        "GATEWAY_QUEUE_CONTAINER in the container. On this host nobody else may be able to write it, the agent "
        "least of all.",
        "/srv/www/shop/current",
        default=None,
    )
    queue_container: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9_.-]{0,127})?$")] = setting(
        "The container that the application and its workers run in; artisan is then started by docker exec.",
        "shop-app-1",
        default="",
    )
    queue_docker_host: Annotated[str, Field(pattern=r"^((unix|tcp)://\S+)?$")] = setting(
        "Where the Docker engine of that container listens. Default: docker's own default.",
        "unix:///run/user/1000/docker.sock",
        default="",
    )
    queue_php: Annotated[str, Field(pattern=r"^(/[^\s]*|[A-Za-z0-9_.-]*)$")] = setting(
        "The PHP that runs artisan. Default: /usr/bin/php, and php in a container.", "/usr/bin/php8.2", default=""
    )
    queue_restart: Annotated[str, AfterValidator(_restart)] = setting(
        "What restarts the workers: artisan (queue:restart), horizon (horizon:terminate; it writes the signal of "
        "queue:restart too), systemctl:UNIT or supervisorctl:GROUP.",
        "supervisorctl:shop-worker",
        default="artisan",
    )
    queue_supervisor_config: AbsolutePath | None = setting(
        "The configuration file for supervisorctl. Default: the one that it finds by itself.",
        "/etc/supervisor/supervisord.conf",
        default=None,
    )
    queue_restart_verify_seconds: float = setting(
        "How long after a restart new workers are looked for, in seconds. A worker first finishes its job.",
        "60",
        default=laravel.VERIFY_SECONDS,
        gt=0,
        le=900,
    )
    queue_agent_pause_seconds: float = setting(
        "How long after a restart the agent gets no other one, in seconds, whoever asked for the one before.",
        "60",
        default=laravel.AGENT_PAUSE_SECONDS,
        ge=0,
        le=86_400,
    )
    queue_interval_seconds: float = setting(
        "How often queues are counted, in seconds.", "60", default=60.0, ge=1, le=3600
    )
    queue_max_pending: int = setting("So many pending jobs are still no congestion.", "50", default=50, ge=0)
    queue_max_age_seconds: float = setting(
        "So old may the oldest pending job be, in seconds.", "600", default=600.0, gt=0
    )
    queue_breaches: int = setting(
        "How many counts in a row must be beyond a limit before workers are restarted.", "3", default=3, ge=1, le=100
    )
    queue_cooldown_seconds: float = setting(
        "How long after a restart there is no other one by itself, in seconds; doubled after each that did not help.",
        "900",
        default=900.0,
        ge=0,
        le=86_400,
    )
    queue_restarts_an_hour: int = setting(
        "How many restarts there are by themselves within an hour; 0 is none, only telling.",
        "2",
        default=2,
        ge=0,
        le=60,
    )
    queue_hours: Annotated[str, AfterValidator(_hours)] = setting(
        "Business hours; outside of them queues are watched but workers not restarted. Several windows are separated "
        "by ; and those of one day by a comma. `always` is a word for it, too.",
        "Mon-Fri 09:00-12:00, 13:00-18:00; Sat 10:00-12:00",
        default="Mon-Fri 09:00-18:00",
    )
    queue_time_zone: Annotated[str, AfterValidator(_zone)] = setting(
        "The time zone of these hours.", "Europe/Berlin", default="America/Sao_Paulo"
    )
    queue_holidays: Annotated[tuple[date, ...], NoDecode, BeforeValidator(_dates)] = setting(
        "Dates on which there are no business hours.", "2026-12-25,2027-01-01", default=()
    )
    queue_restart_outside_hours: bool = setting(
        "Restart workers outside business hours, too.", "false", default=False
    )


def laravel_config(settings: QueueSettings, agent_dirs: tuple[Path, ...]) -> LaravelConfig | None:
    """Return what settings say about the application, None without queues; the agent is given `agent_dirs`."""
    if not settings.queue_names:
        return None
    by, _, target = settings.queue_restart.partition(":")
    return LaravelConfig(
        queues=settings.queue_names,
        source=_source_of(settings),
        app=_app_of(settings, agent_dirs),
        restart_by=RestartBy(by),
        restart_target=target,
        supervisor_config=settings.queue_supervisor_config,
        failed_url=settings.queue_failed_url.get_secret_value(),
        verify_seconds=settings.queue_restart_verify_seconds,
        agent_pause_seconds=settings.queue_agent_pause_seconds,
    )


def contradictions(settings: QueueSettings) -> list[str]:
    """Given settings about queues that are each right, return what cannot stand together, one sentence each."""
    if not settings.queue_names:
        given = {"queue_source", "queue_app_dir", "queue_container", "queue_restart"} & settings.model_fields_set
        names = ", ".join(map(variable, sorted(given)))
        return [f"GATEWAY_QUEUE_NAMES: is not set, and {names} is"] if given else []
    said = []
    source = settings.queue_source.get_secret_value()
    if not source:
        said.append("GATEWAY_QUEUE_SOURCE: is not set (example: GATEWAY_QUEUE_SOURCE=redis://127.0.0.1:6379/0)")
    needs_app = {
        "GATEWAY_QUEUE_SOURCE is artisan": source == "artisan",
        f"GATEWAY_QUEUE_RESTART is {settings.queue_restart}": settings.queue_restart in ("artisan", "horizon"),
        "GATEWAY_QUEUE_CONTAINER is set": bool(settings.queue_container),
    }
    if settings.queue_app_dir is None:
        said.extend(f"GATEWAY_QUEUE_APP_DIR: is not set, and {why}" for why, needed in needs_app.items() if needed)
    return said


def _source_of(settings: QueueSettings) -> laravel.Source:
    url = settings.queue_source.get_secret_value()
    if url == "artisan":
        return ArtisanSource(settings.queue_connection)
    if url.partition("://")[0] in _REDIS:
        return RedisSource(url, settings.queue_redis_prefix)
    return SqlSource(url)


def _app_of(settings: QueueSettings, agent_dirs: tuple[Path, ...]) -> LaravelApp | None:
    if settings.queue_app_dir is None:
        return None
    in_container = bool(settings.queue_container)
    return LaravelApp(
        directory=settings.queue_app_dir,
        container=settings.queue_container,
        php=settings.queue_php or ("php" if in_container else laravel.PHP),
        docker_host=settings.queue_docker_host,
        agent_dirs=agent_dirs,
    )
