"""The processes that work on queues: found by their command lines, on this host or in the application's container.

A worker is a PHP process whose artisan was given queue:work, queue:listen, horizon or one of Horizon's own
(horizon:supervisor, horizon:work). Command lines are what a process says of itself: good for looking, not for trust.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from executor.errors import Unavailable
from executor.laravel.artisan import environment, said
from executor.laravel.config import LaravelApp
from executor.laravel.model import Worker
from executor.sandbox.process import ProcessRunner
from executor.sandbox.processes import other_processes

_SECONDS = 10.0  # that `docker top` may take
_PHP = re.compile(r"(ls)?php[0-9.]*(-cli)?|frankenphp", re.IGNORECASE)
_COMMANDS = frozenset({"queue:work", "queue:listen", "horizon", "horizon:supervisor", "horizon:work"})


def list_workers(app: LaravelApp | None, runner: ProcessRunner) -> tuple[Worker, ...]:
    """Return the workers of `app` that run now; of every application of this host where it is None.

    On the host these are the processes in the application's directory, or in another release beside it where the
    configured directory is a link (`current`), and those whose directory this user cannot see. Raises Unavailable
    where a container cannot be looked into.
    """
    if app is not None and app.container:
        return _in_container(app, runner)
    roots = _roots(app) if app is not None else ()
    return tuple(
        worker
        for worker in _on_host()
        if not roots or not worker.directory or any(Path(worker.directory).is_relative_to(root) for root in roots)
    )


def worker_of(argv: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """Return the artisan command of a worker and the queues that it names, or None for any other program (pure)."""
    if not argv or not _PHP.fullmatch(os.path.basename(argv[0])):
        return None
    for place, word in enumerate(argv[1:-1], start=1):
        if os.path.basename(word) == "artisan" and argv[place + 1] in _COMMANDS:
            return argv[place + 1], _queues(argv[place + 2 :])
    return None


def _queues(options: Sequence[str]) -> tuple[str, ...]:
    for place, word in enumerate(options):
        if word.startswith("--queue="):
            return tuple(filter(None, word.removeprefix("--queue=").split(",")))
        if word == "--queue" and place + 1 < len(options):
            return tuple(filter(None, options[place + 1].split(",")))
    return ()


def _roots(app: LaravelApp) -> tuple[Path, ...]:
    """Where workers of the application may run: its directory, and with a link also the releases beside it."""
    directory = app.directory
    return (directory.parent, directory.resolve()) if directory.is_symlink() else (directory.resolve(),)


def _on_host() -> Iterator[Worker]:
    boot = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    for pid in other_processes():
        if (worker := _of_process(pid, boot)) is not None:
            yield worker


def _of_process(pid: int, boot: float) -> Worker | None:
    """Return the worker that this process is, or None where it is none, or has ended meanwhile."""
    place = Path(f"/proc/{pid}")
    try:
        argv = (place / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        found = worker_of(argv)
        if found is None:
            return None
        state, *fields = (place / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        ticks = int(fields[18])  # field 22 of proc_pid_stat(5), since boot
    except (OSError, ValueError, IndexError):
        return None
    if state in ("Z", "X"):
        return None
    started = boot + ticks / os.sysconf("SC_CLK_TCK")
    worker = Worker(pid, started, found[1], found[0])
    try:
        return replace(worker, directory=os.readlink(place / "cwd").removesuffix(" (deleted)"))
    except OSError:
        return worker  # another user's process


def _in_container(app: LaravelApp, runner: ProcessRunner) -> tuple[Worker, ...]:
    argv = (app.docker, "top", app.container, "-o", "pid,etimes,args")
    done = runner.run(
        argv, env=environment(app.docker_host), cwd=Path("/"), profile=None, deadline=_SECONDS, output_limit=1 << 20
    )
    if done.exit_code != 0 or done.timed_out:
        why = "it did not answer in time" if done.timed_out else said(done)
        raise Unavailable(
            "container_unreadable",
            f"the processes in the container {app.container} cannot be seen: {why}",
            "look whether it runs, and whether the gateway's user may talk to Docker",
        )
    now = time.time()
    return tuple(_of_top(done.stdout.decode("utf-8", "replace"), now, app.container))


def _of_top(text: str, now: float, container: str) -> Iterator[Worker]:
    """Read `docker top`: a heading, then pid, seconds since the start, and the command line of each process."""
    for line in text.splitlines()[1:]:
        pid, elapsed, *rest = [*line.split(None, 2), "", "", ""][:3]
        found = worker_of(rest[0].split())
        if found is not None and pid.isdecimal() and elapsed.isdecimal():
            yield Worker(int(pid), now - int(elapsed), found[1], found[0], container)
