"""A real Laravel 8 application, its queue servers and its workers, for the tests.

    with redis_server(tmp_path) as redis:
        app = laravel_app(tmp_path / "app", redis=redis)      # or database=sqlite(tmp_path) / a PostgreSQL URL
        app.push("emails", count=3, delay=0)                  # jobs that write their name to app.done()
        with app.workers("emails", count=2) as workers:       # php artisan queue:work, started again when they end
            app.artisan("queue:restart")

Everything listens on loopback or a socket of its own, and is ended with its block.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

DEADLINE = 120.0  # s; the machine may be slow
TEMPLATE = Path(__file__).with_name("laravel_template")
_RESPAWN = Path(__file__).with_name("respawn.py")
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}


def until(look: Callable[[], bool], what: str) -> None:
    """Wait until `look` says yes; fail with `what` when it does not in time."""
    give_up = time.monotonic() + DEADLINE
    while not look():
        assert time.monotonic() < give_up, f"not in time: {what}"
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server:
    """A server that listens on `port` of loopback; `stop` and `start` are for tests of an outage."""

    argv: list[str]
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(self.argv, env=_ENVIRONMENT, stdout=subprocess.DEVNULL)
        until(self._answers, f"{self.argv[0]} listens")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(DEADLINE)
            self.process = None

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return False


@contextmanager
def redis_server(root: Path) -> Iterator[Server]:
    port = free_port()
    argv = ["/usr/bin/redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(root)]
    server = Server(argv, port)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def postgresql_server() -> Iterator[Server]:
    """A cluster of its own, run by the user `nobody`; its database `postgres` belongs to the role `nobody`."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    account = pwd.getpwnam("nobody")
    root = Path(subprocess.check_output(["mktemp", "-d", "/tmp/postgresql.XXXXXX"], text=True).strip())
    os.chown(root, account.pw_uid, account.pw_gid)
    become = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]
    try:
        made = [*become, str(programs / "initdb"), "-A", "trust", "-U", "nobody", "-N", "-D", str(root / "data")]
        subprocess.run(made, env=_ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, cwd=root)
        port = free_port()
        served = [*become, str(programs / "postgres"), "-D", str(root / "data"), "-p", str(port), "-k", str(root)]
        server = Server(
            [*served, "-c", "fsync=off", "-c", "logging_collector=off", "-c", "log_min_messages=fatal"], port
        )
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(root, ignore_errors=True)


@dataclass
class Workers:
    """Workers under a tiny supervisor: one that ends is started again, as long as `respawning`."""

    argv: list[str]
    directory: Path
    environment: dict[str, str]
    count: int
    respawn: bool
    supervisors: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        kind = "respawn" if self.respawn else "once"
        for _ in range(self.count):
            argv = [sys.executable, str(_RESPAWN), kind, *self.argv]
            self.supervisors.append(
                subprocess.Popen(argv, cwd=self.directory, env=self.environment, stdout=subprocess.DEVNULL)
            )
        until(lambda: len(self.pids()) == self.count, "the workers run")

    def pids(self) -> set[int]:
        """The processes that work now: the children of the supervisors that have begun to look for jobs."""
        found = set()
        for each in self.supervisors:
            with suppress(OSError):
                children = Path(f"/proc/{each.pid}/task/{each.pid}/children").read_text().split()
                found |= {int(child) for child in children if (self.directory / "storage/looping" / child).exists()}
        return found

    def stop(self) -> None:
        for each in self.supervisors:
            each.send_signal(signal.SIGTERM)
        for each in self.supervisors:
            each.wait(DEADLINE)
        self.supervisors.clear()


@dataclass
class LaravelApplication:
    """The application in `directory`; `environment` is what it and its workers run with."""

    directory: Path
    environment: dict[str, str]

    def artisan(self, *words: str, check: bool = True) -> str:
        """Run artisan as a person would and return what it printed."""
        done = subprocess.run(
            ["/usr/bin/php", "artisan", *words],
            cwd=self.directory,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or done.returncode == 0, f"artisan {words}: {done.stdout}{done.stderr}"
        return done.stdout

    def push(self, queue: str, *, count: int = 1, delay: int = 0, kind: str = "note", seconds: float = 0.0) -> None:
        """Push jobs: `note` writes a line to done(), after `seconds`; `poison` fails each time."""
        options = [f"--count={count}", f"--delay={delay}", f"--kind={kind}", f"--seconds={seconds}"]
        self.artisan("shop:push", queue, *options)

    def done(self) -> list[str]:
        """The queues of the jobs that ended well, in order."""
        path = self.directory / "storage/done.txt"
        return path.read_text().split() if path.exists() else []

    @contextmanager
    def workers(self, queues: str, *, count: int = 1, respawn: bool = True, sleep: float = 0.2) -> Iterator[Workers]:
        argv = ["/usr/bin/php", "artisan", "queue:work", f"--queue={queues}", f"--sleep={sleep}", "--tries=1"]
        workers = Workers(argv, self.directory, self.environment, count, respawn)
        workers.start()
        try:
            yield workers
        finally:
            workers.stop()


def laravel_app(
    directory: Path,
    *,
    redis: Server | None = None,
    postgresql: Server | None = None,
    cache: str = "file",
    name: str = "Shop",
) -> LaravelApplication:
    """Make an application whose queues are in Redis, or in PostgreSQL, or else in a SQLite file of its own."""
    shutil.copytree(TEMPLATE, directory)
    for place in (
        "bootstrap/cache",
        "storage/framework/cache/data",
        "storage/framework/views",
        "storage/logs",
        "storage/looping",
    ):
        (directory / place).mkdir(parents=True, exist_ok=True)
    environment = _ENVIRONMENT | {
        "APP_NAME": name,
        "CACHE_DRIVER": cache,
        "QUEUE_CONNECTION": "redis" if redis else "database",
        "REDIS_PORT": str(redis.port if redis else 0),
        "DB_CONNECTION": "pgsql" if postgresql else "sqlite",
        "DB_PORT": str(postgresql.port if postgresql else 0),
        "DB_DATABASE": "postgres" if postgresql else str(directory / "storage/shop.sqlite"),
    }
    # What a host reads from, too: artisan is started by the gateway with an environment of its own.
    (directory / ".env").write_text("".join(f'{key}="{value}"\n' for key, value in environment.items() if "_" in key))
    if not postgresql:
        (directory / "storage/shop.sqlite").touch()
    made = LaravelApplication(directory, environment)
    made.artisan("shop:tables")
    return made
