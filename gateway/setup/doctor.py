"""Every check of the set-up, in the order in which one would mend what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from executor.errors import ConfigError
from executor.record.anchor import examine as examine_end
from executor.record.audit import last_events
from gateway import settings as configuration
from gateway import wiring
from gateway.settings_model import Settings
from gateway.setup import (
    checks_directories,
    checks_docker,
    checks_files,
    checks_git,
    checks_host,
    checks_queues,
    checks_systemd,
    checks_telegram,
)
from gateway.setup.check import Check, each, fail, ok


def examine() -> Iterator[Check]:
    """Yield what each check found; when the settings cannot be used that is the only thing to be said."""
    try:
        settings = configuration.load()
    except ConfigError as problem:
        yield fail("settings", problem.message, problem.hint or "docs/settings.md describes every setting")
        return
    except OSError as error:  # the working directory or a file that is named cannot even be looked at
        what = f"{error.filename or 'the settings'}: {error.strerror}"
        yield fail("settings", what, "start it where its user may look, or name the file in GATEWAY_ENV_FILE")
        return
    yield ok("settings", "can be used; state, work trees and shared directory are apart")
    for name, look in CHECKS.items():
        yield from each(name, lambda look=look: look(settings))  # type: ignore[misc]


def record(settings: Settings) -> Iterator[Check]:
    """The database must take an event, and the end of the audit log must be where it was."""
    with wiring.record(settings) as store:
        with store.transaction() as tx:
            tx.append("doctor.checked")
        with store.reading() as reading:
            found = examine_end(reading.connection, store.host, store.anchor)
            newest = [datetime.fromisoformat(event.at) for event in last_events(reading, 2)]
    yield ok("database", "can be written")
    yield from checks_host.clock_against(max(newest, default=None))
    if found is None:
        yield ok("audit log", "its end is where it was; `ops-gateway audit verify` proves the whole of it")
    else:
        yield fail("audit log", found.message, "ops-gateway audit verify; keep a copy before anything else is done")


CHECKS: dict[str, Callable[[Settings], Iterator[Check]]] = {
    "user": checks_host.user,
    "program": checks_host.program,
    "choices": checks_host.choices,
    "clock": checks_host.clock,
    "secret files": checks_files.secret_files,
    "state directory": checks_directories.state_directory,
    "shared directory": checks_directories.shared_directory,
    "disk": checks_directories.room,
    "git": checks_git.program,
    "confinement": checks_git.confinement,
    "repositories": checks_git.repositories,
    "database": record,
    "docker": checks_docker.docker,
    "queues": checks_queues.queues,
    "telegram": checks_telegram.chat,
    "systemd": checks_systemd.unit,
    "gateway": checks_host.running,
}
