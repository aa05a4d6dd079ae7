"""Every check of the set-up, in the order in which one would mend what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from executor.errors import ConfigError
from executor.record.anchor import examine as examine_end
from gateway import settings as configuration
from gateway import wiring
from gateway.settings_model import Settings
from gateway.setup import checks_git, checks_host, checks_telegram
from gateway.setup.check import Check, each, fail, ok


def examine() -> Iterator[Check]:
    """Yield what each check found; when the settings cannot be used that is the only thing to be said."""
    try:
        settings = configuration.load()
    except ConfigError as problem:
        yield fail("settings", problem.message, problem.hint)
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
    yield ok("database", "can be written")
    if found is None:
        yield ok("audit log", "its end is where it was; `ops-gateway audit verify` proves the whole of it")
    else:
        yield fail("audit log", found.message, "ops-gateway audit verify; keep a copy before anything else is done")


CHECKS: dict[str, Callable[[Settings], Iterator[Check]]] = {
    "user": checks_host.user,
    "choices": checks_host.choices,
    "secret files": checks_host.secret_files,
    "state directory": checks_host.state_directory,
    "shared directory": checks_host.shared_directory,
    "git": checks_git.program,
    "confinement": checks_git.confinement,
    "repositories": checks_git.repositories,
    "database": record,
    "telegram": checks_telegram.chat,
    "gateway": checks_host.running,
}
