"""Start the application's PHP: on this host, or with `docker exec` in its container."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from executor.errors import Failed, TimedOut
from executor.laravel.config import LaravelApp
from executor.laravel.ownership import require_own
from executor.record.display import visible
from executor.sandbox.environment import base_environment
from executor.sandbox.process import Completed, ProcessRunner

SECONDS = 20.0  # that one artisan command may take; it boots in 0.2 s
_HOME, _TMP = Path("/nonexistent"), Path("/tmp")  # noqa: S108 (where PHP puts its own scratch files)
_SAID_UNITS = 300


def php_argv(app: LaravelApp, *words: str) -> tuple[str, ...]:
    """Return how PHP is started with `words` in the application's directory (pure)."""
    if not app.container:
        return (app.php, *words)
    return (app.docker, "exec", "-w", str(app.directory), app.container, app.php, *words)


def artisan_argv(app: LaravelApp, *words: str) -> tuple[str, ...]:
    """Return how artisan is started (pure)."""
    return php_argv(app, "artisan", *words, "--no-interaction", "--no-ansi")


def environment(docker_host: str = "") -> dict[str, str]:
    """Return the variables of the host's own programs here: nothing is inherited."""
    found = base_environment(_HOME, _TMP)
    return found | ({"DOCKER_HOST": docker_host} if docker_host else {})


def run_in_app(
    app: LaravelApp,
    runner: ProcessRunner,
    argv: tuple[str, ...],
    *,
    deadline: float = SECONDS,
    cancel: threading.Event | None = None,
) -> Completed:
    """Run what `php_argv` or `artisan_argv` gave, and return how it ended, whatever its exit code.

    Raise Refused("app_not_ours") where PHP on the host could have been written by the agent, TimedOut after
    `deadline` seconds, Unavailable where the program cannot be started. In a container what was begun may go on after
    a time-out: `docker exec` does not end it.
    """
    if not app.container:
        require_own(app.directory, app.agent_dirs)
    cwd = Path("/") if app.container else app.directory
    env = environment(app.docker_host if app.container else "")
    done = runner.run(argv, env=env, cwd=cwd, profile=None, deadline=deadline, cancel=cancel)
    if done.cancelled:
        raise Failed("cancelled", "it was ended because the gateway stops", "ask again when it is back")
    if done.timed_out:
        raise TimedOut(
            "artisan_timeout", f"artisan did not end within {deadline:.0f} s", "look at the application's database"
        )
    return done


def said(done: Completed) -> str:
    """Return the end of what a program said, in one line, fit to be shown."""
    text = (done.stderr or done.stdout).decode("utf-8", "replace")
    words = " ".join(text.split())
    return visible(words if len(words) <= _SAID_UNITS else "…" + words[-_SAID_UNITS:])


def shown(argv: tuple[str, ...]) -> str:
    """Return a command line for people."""
    return visible(" ".join((os.path.basename(argv[0]), *argv[1:])))
