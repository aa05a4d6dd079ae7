"""Count queues by asking the application itself: `php artisan queue:monitor`, on the host or in its container."""

from __future__ import annotations

from collections.abc import Mapping

from executor.errors import ConfigError, Failed
from executor.laravel.artisan import artisan_argv, run_in_app, said
from executor.laravel.config import ArtisanSource, LaravelApp
from executor.laravel.model import QueueCount
from executor.laravel.queue_monitor_output import read_output
from executor.sandbox.process import ProcessRunner

_WITHOUT_JSON: set[LaravelApp] = set()  # applications whose artisan does not know --json, as seen by this process
_MAX = "1000000000"  # what is too much is not artisan's to say: beyond it events are fired in the application


def count_by_artisan(
    source: ArtisanSource, app: LaravelApp | None, runner: ProcessRunner, queues: tuple[str, ...], now: float
) -> Mapping[str, QueueCount]:
    """Return the counts by queue. Raises Failed where artisan does not work, Refused where it is not run (ownership).

    Laravel 13 answers in JSON; what is older does not know the option, and is asked for its table from then on.
    """
    if app is None:
        raise ConfigError("queue_source", "artisan is to count, and no application is named", "GATEWAY_QUEUE_APP_DIR")
    named = ",".join(f"{source.connection}:{queue}" if source.connection else queue for queue in queues)
    if app not in _WITHOUT_JSON:
        argv = artisan_argv(app, "queue:monitor", named, f"--max={_MAX}", "--json")
        done = run_in_app(app, runner, argv)
        if done.exit_code == 0:
            return read_output(done.stdout.decode("utf-8", "replace"), now)
        if b"--json" not in done.stdout + done.stderr:
            raise _failed(said(done))
        _WITHOUT_JSON.add(app)
    done = run_in_app(app, runner, artisan_argv(app, "queue:monitor", named, f"--max={_MAX}"))
    if done.exit_code != 0:
        raise _failed(said(done))
    return read_output(done.stdout.decode("utf-8", "replace"), now)


def _failed(what: str) -> Failed:
    return Failed("artisan_failed", f"artisan could not count: {what}", "run the same command by hand and see")
