"""Which command restarts the workers, and what an operator who is asked must know of it. Pure.

artisan:        `queue:restart` leaves a signal in the application's cache. Each worker ends after its present job;
                a process manager starts it again (laravel/framework, Illuminate/Queue/Worker.php).
horizon:        `horizon:terminate` ends Horizon's master on this machine after its jobs; a process manager starts it
                again. It leaves the signal of queue:restart too, so plain workers that share the cache restart as
                well (F06). `horizon:status` exits 0 while it runs, 1 when it is paused, 2 when it is inactive. This
                was checked against Horizon's documentation and reports, not against a running Horizon.
systemctl:      `systemctl restart UNIT`: the unit's workers get TERM, finish their job within TimeoutStopSec.
supervisorctl:  `supervisorctl restart GROUP:*`: the same, within stopwaitsecs.
"""

from __future__ import annotations

from executor.errors import ConfigError
from executor.laravel.artisan import artisan_argv, shown
from executor.laravel.config import LaravelApp, LaravelConfig, RestartBy

SYSTEMCTL, SUPERVISORCTL = "/usr/bin/systemctl", "/usr/bin/supervisorctl"
_HORIZON_STATES = {0: "Horizon runs", 1: "Horizon is paused: it takes no jobs", 2: "Horizon is inactive"}
_SIGNALS = frozenset({RestartBy.ARTISAN, RestartBy.HORIZON})


def restart_argv(config: LaravelConfig) -> tuple[str, ...]:
    """Return the command that restarts the workers. Raises ConfigError where it needs an application and has none."""
    match config.restart_by:
        case RestartBy.ARTISAN:
            return artisan_argv(app_of(config), "queue:restart")
        case RestartBy.HORIZON:
            return artisan_argv(app_of(config), "horizon:terminate")
        case RestartBy.SYSTEMCTL:
            return (SYSTEMCTL, "--no-ask-password", "restart", "--", config.restart_target)
        case RestartBy.SUPERVISORCTL:
            found = ("-c", str(config.supervisor_config)) if config.supervisor_config is not None else ()
            group = config.restart_target if ":" in config.restart_target else f"{config.restart_target}:*"
            return (SUPERVISORCTL, *found, "restart", group)


def app_of(config: LaravelConfig) -> LaravelApp:
    """Return the application. Raises ConfigError where none is named."""
    if config.app is None:
        raise ConfigError("queue_app_dir", "no application is named", "set GATEWAY_QUEUE_APP_DIR")
    return config.app


def runs_php(config: LaravelConfig) -> bool:
    """Whether the restart is a command of the application, which leaves a signal in its cache."""
    return config.restart_by in _SIGNALS


def what_restarts(config: LaravelConfig, queue: str | None) -> tuple[tuple[str, str | None], ...]:
    """Return what an approval of a restart is for: the command, and whom it concerns."""
    things: list[tuple[str, str | None]] = [("runs", shown(restart_argv(config)))]
    if config.app is not None and not config.app.container:
        things.append(("in", str(config.app.directory)))
    if config.restart_by is RestartBy.HORIZON:
        things.append(("also restarts", "every plain worker that shares the application's cache, on other hosts too"))
    if queue is not None:
        things.append(("concerns", f"all workers of the application, not only those of {queue}"))
    return tuple(things)


def horizon_state(exit_code: int) -> str:
    """Return what `horizon:status` says by its exit code."""
    return _HORIZON_STATES.get(exit_code, f"what Horizon does is not known (horizon:status exited {exit_code})")
