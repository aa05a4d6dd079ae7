"""What the host says about its Laravel application: which queues, where they can be counted, how workers restart."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

REDIS_PREFIX = "laravel_database_"  # Laravel 8 to 12: slug(APP_NAME) + `_database_`, for an app without a name
PHP = "/usr/bin/php"
DOCKER = "/usr/bin/docker"
VERIFY_SECONDS = 60.0
AGENT_PAUSE_SECONDS = 60.0


class RestartBy(StrEnum):
    """What restarts the workers."""

    ARTISAN = "artisan"  # php artisan queue:restart: workers end after their job, and somebody starts new ones
    HORIZON = "horizon"  # php artisan horizon:terminate
    SYSTEMCTL = "systemctl"  # systemctl restart UNIT
    SUPERVISORCTL = "supervisorctl"  # supervisorctl restart GROUP:*


@dataclass(frozen=True, slots=True)
class RedisSource:
    """Queues in Redis; `url` may hold a password. Every key begins with `prefix`."""

    url: str = field(repr=False)
    prefix: str = REDIS_PREFIX


@dataclass(frozen=True, slots=True)
class SqlSource:
    """Queues in the `jobs` table of a database; `url` is SQLAlchemy's and may hold a password."""

    url: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ArtisanSource:
    """Queues counted by `php artisan queue:monitor`; `connection` "" is the application's default one."""

    connection: str = ""


Source = RedisSource | SqlSource | ArtisanSource


@dataclass(frozen=True, slots=True)
class LaravelApp:
    """Where the application's artisan is: a directory of this host, or one in `container`.

    In a container PHP is started by `docker exec`; `docker_host` is the engine's address ("" is docker's default).
    `agent_dirs` are the directories that the agent is given: PHP that lies there is never run on this host.
    """

    directory: Path
    container: str = ""
    php: str = PHP  # in a container it may be a bare name
    docker: str = DOCKER
    docker_host: str = ""
    agent_dirs: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class LaravelConfig:
    """The queues that are watched, and all that is needed to count them and to restart their workers.

    `failed_url` is the database of `failed_jobs` where the source is not that database itself; "" leaves failed jobs
    unknown. `restart_target` is the unit or group for systemctl and supervisorctl. For `agent_pause_seconds` after a
    restart the agent gets no other one: workers that are restarted in a loop do nothing, and a unit that starts too
    often is given up by systemd or supervisor.
    """

    queues: tuple[str, ...]
    source: Source
    app: LaravelApp | None = None
    restart_by: RestartBy = RestartBy.ARTISAN
    restart_target: str = ""
    supervisor_config: Path | None = None
    failed_url: str = field(default="", repr=False)
    verify_seconds: float = VERIFY_SECONDS
    agent_pause_seconds: float = AGENT_PAUSE_SECONDS
