"""Restart the workers, and look whether that had an effect: `restart` is the whole of the operation restart_queue.

The command is the host's configuration and never the agent's. What the agent names, at most, is a configured queue,
and Laravel has no way to restart the workers of one queue only: all of the application's workers restart.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from executor.errors import Failed, Problem, Refused, TimedOut
from executor.laravel.app_facts import PRIVATE_CACHES, ask_app
from executor.laravel.artisan import SECONDS, artisan_argv, environment, run_in_app, said, shown
from executor.laravel.config import LaravelApp, LaravelConfig, RestartBy
from executor.laravel.counts import count_queues
from executor.laravel.model import RestartProof
from executor.laravel.proof import Observation, is_settled, prove, workers_are_gone
from executor.laravel.restart_plan import horizon_state, restart_argv, runs_php
from executor.laravel.workers import list_workers
from executor.outcome import Outcome, State
from executor.sandbox.process import Completed, ProcessRunner

_PAUSE = 1.0  # s between two looks
_SERVICE_SECONDS = 120.0  # systemctl and supervisorctl wait for workers to finish their jobs


def restart(
    config: LaravelConfig, runner: ProcessRunner, queue: str | None = None, cancel: threading.Event | None = None
) -> Outcome:
    """Restart the workers and return what came of it; `queue` only names what is looked at (None: all).

    `verified` is `{"effect": True, "seen": [...]}` when new workers were seen or a job was taken within the
    configured time; else `{"effect": False, "why": ..., "seen": [...]}`: executed, not verified. It fails where the
    command fails, and where workers ended that nobody started again. Raises Refused where it would have no effect or
    is not safe, and Problem where it cannot be begun.
    """
    if queue is not None:
        config = replace(config, queues=(queue,))
    stop = cancel or threading.Event()
    before = _look(config, runner, begin=True)
    started = time.time()
    done = _run(config, runner, stop)
    if done.exit_code != 0:
        return _failed(config, done)
    after = _wait(config, runner, before, stop)
    proof = _explained(config, runner, before, prove(before, after, signals=runs_php(config)))
    gone = workers_are_gone(before, after)
    return _outcome(config, done, proof, gone=gone, seconds=time.time() - started)


def _look(config: LaravelConfig, runner: ProcessRunner, *, begin: bool = False) -> Observation:
    """Look at workers, signal and jobs. Raises Refused at the beginning, where a restart would reach nobody."""
    at = datetime.now(UTC)
    found = Observation(at.timestamp(), counts=count_queues(config, runner, at).counts)
    try:
        found = replace(found, workers=list_workers(config.app, runner))
    except Problem as problem:
        found = replace(found, unseen=problem.message)
    if config.app is None or not runs_php(config):
        return found
    try:
        told = ask_app(config.app, runner)
    except Refused as refused:
        raise _without_place(refused) from refused
    except Problem:
        return found  # the command itself will tell what is wrong with the application
    if begin and config.restart_by is RestartBy.ARTISAN and told.cache in PRIVATE_CACHES:
        raise Refused(
            "restart_without_effect",
            f"the application's cache driver is {told.cache}, which no worker shares: queue:restart reaches nobody",
            "give it a shared cache (CACHE_DRIVER, since Laravel 11 CACHE_STORE: file, redis or database), or let "
            "GATEWAY_QUEUE_RESTART be systemctl:UNIT or supervisorctl:GROUP",
        )
    return replace(found, asked=told.read, signal=told.signal)


def _without_place(refused: Refused) -> Refused:
    """Say why PHP is not run without naming places of this host, for the agent reads it; the doctor names them."""
    message = "that PHP is the agent's, or could be, so it is not run: `ops-gateway doctor` says where"
    return Refused(refused.code, message, refused.hint)


def _run(config: LaravelConfig, runner: ProcessRunner, stop: threading.Event) -> Completed:
    argv = restart_argv(config)
    if runs_php(config) and config.app is not None:
        return run_in_app(config.app, runner, argv, cancel=stop)
    done = runner.run(
        argv, env=environment(), cwd=Path("/"), profile=None, deadline=_SERVICE_SECONDS + SECONDS, cancel=stop
    )
    if done.cancelled:
        raise Failed("cancelled", "it was ended because the gateway stops", "ask again when it is back")
    if done.timed_out:
        raise TimedOut("restart_timeout", f"{shown(argv)} did not end in time", "a job may take longer: look at it")
    return done


def _wait(config: LaravelConfig, runner: ProcessRunner, before: Observation, stop: threading.Event) -> Observation:
    """Look again until the restart is seen to have had its effect, or the time is up; return the last look."""
    give_up = time.monotonic() + config.verify_seconds
    while True:
        late = time.monotonic() >= give_up
        seen = _workers_only(config, runner, before)
        if late or seen is None or is_settled(before, seen):
            after = _look(config, runner)
            if late or is_settled(before, after):
                return after
        if stop.wait(min(_PAUSE, config.verify_seconds)):
            raise Failed("cancelled", "the gateway stopped while it waited for new workers", "look with /queue")


def _workers_only(config: LaravelConfig, runner: ProcessRunner, before: Observation) -> Observation | None:
    """Take the cheap look, at the workers alone; None where they tell nothing and the jobs must be counted."""
    try:
        workers = list_workers(config.app, runner)
    except Problem:
        return None
    if not before.workers and not workers:
        return None
    return Observation(time.time(), workers)


def _explained(
    config: LaravelConfig, runner: ProcessRunner, before: Observation, proof: RestartProof
) -> RestartProof:
    """Add what else there is to know of a restart: Horizon's own state, and workers of another release (F02)."""
    app, missing = config.app, list[str]()
    if app is None:
        return proof
    if config.restart_by is RestartBy.HORIZON:
        running, told = _horizon(app, runner)
        if running:
            proof = replace(proof, seen=(*proof.seen, told))
        else:
            missing.append(told)
    if not app.container and not proof.verified:
        real = app.directory.resolve()
        others = {worker.directory for worker in before.workers or () if worker.directory} - {str(real)}
        missing += [f"workers run in {Path(other).name}, the restart was given in {real.name}" for other in others]
    return replace(proof, missing=(*proof.missing, *sorted(missing)))


def _horizon(app: LaravelApp, runner: ProcessRunner) -> tuple[bool, str]:
    """Return whether Horizon runs by its own account, and what it says."""
    try:
        done = run_in_app(app, runner, artisan_argv(app, "horizon:status"))
    except Problem as problem:
        return False, f"what Horizon does is not known: {problem.message}"
    return done.exit_code == 0, horizon_state(done.exit_code)


def _failed(config: LaravelConfig, done: Completed) -> Outcome:
    """The command itself failed: nothing is tried again (F04)."""
    hints = {
        RestartBy.SYSTEMCTL: "let a polkit rule allow the gateway's user to restart this one unit",
        RestartBy.SUPERVISORCTL: "let the gateway's user write to supervisor's socket (its chown setting)",
    }
    hint = hints.get(config.restart_by, "look whether the application's cache answers, and run the command by hand")
    error = Failed("restart_failed", f"the restart command exited {done.exit_code}: {said(done)}", hint)
    why = {"effect": False, "why": "the command failed"}
    return Outcome(State.FAILED, exit_code=done.exit_code, output=error.message, error=error, verified=why)


def _outcome(config: LaravelConfig, done: Completed, proof: RestartProof, *, gone: bool, seconds: float) -> Outcome:
    lines = [f"ran: {shown(done.argv)}", *(f"seen: {fact}" for fact in proof.seen)]
    lines += [f"not seen: {fact}" for fact in proof.missing]
    verified: dict[str, object] = {"effect": proof.verified, "seen": list(proof.seen)}
    if not proof.verified:
        verified["why"] = "; ".join(proof.missing) or "no new worker was seen"
        lines.append(f"executed, not verified within {seconds:.0f} s")
    error = None
    if gone:
        error = Failed(
            "workers_gone",
            f"the workers ended, and nobody started them again within {config.verify_seconds:.0f} s",
            "start them on the host, and let a process manager (supervisor, systemd) do that from now on",
        )
    state = State.FAILED if gone else State.SUCCEEDED
    return Outcome(state, exit_code=0, output="\n".join(lines) + "\n", error=error, verified=verified)
