"""How a container is, judged by what its engine says of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from executor.health.report import Fact, Finding, Level
from executor.spans import span

PROBE = "container"
SETTLED_SECONDS = 600.0  # a container that restarted and then ran so long is no longer worth a warning


@dataclass(frozen=True, slots=True)
class Container:
    """What an engine says: `status` is one of created, running, paused, restarting, removing, exited, dead.

    `health` is that of its own health check: starting, healthy, unhealthy, or "" and "none" where it has none.
    """

    status: str
    exit_code: int = 0
    restarts: int = 0  # by the engine's restart policy
    oom_killed: bool = False  # it, or one of its processes, since it was last started
    started_at: datetime | None = None
    finished_at: datetime | None = None
    health: str = ""


def judge(name: str, found: Container, now: datetime) -> Finding:
    """Return how a container is that is expected to run."""
    level, what, mend = _judged(name, found, now)
    facts: dict[str, Fact] = {
        "status": found.status,
        "exit_code": found.exit_code,
        "restarts": found.restarts,
        "oom_killed": found.oom_killed,
        "health": found.health or None,
        "up_seconds": _up(found, now) if found.status == "running" else None,
    }
    return Finding(PROBE, name, level, what, mend, facts=facts)


def missing(name: str) -> Finding:
    """Return what is so of a container that the engine does not know."""
    mend = f"docker ps --all shows what there is; start {name}, or correct GATEWAY_HEALTH_CONTAINERS"
    return Finding(PROBE, name, Level.BAD, "there is no container of this name", mend)


def _judged(name: str, found: Container, now: datetime) -> tuple[Level, str, str]:
    logs = f"docker logs --tail 50 {name}"
    if found.status == "restarting":
        what = f"restarts again and again ({found.restarts} times), each time ending with {_ending(found)}"
        return Level.BAD, what, f"it does not stay up: {logs}"
    if found.status != "running":
        return Level.BAD, _not_running(found, now), _revive(name, found, logs)
    return _running(name, found, now, logs)


def _not_running(found: Container, now: datetime) -> str:
    if found.status not in ("exited", "dead"):
        return f"is {found.status}"
    ago = f" {span((now - found.finished_at).total_seconds())} ago" if found.finished_at else ""
    return f"ended{ago} with {_ending(found)}"


def _revive(name: str, found: Container, logs: str) -> str:
    if found.oom_killed:
        return f"give it more memory, or find what takes it; then: docker start {name}"
    if found.status == "paused":
        return f"docker unpause {name}"
    return f"{logs}; then: docker start {name}"


def _running(name: str, found: Container, now: datetime, logs: str) -> tuple[Level, str, str]:
    up = f"runs for {span(_up(found, now))}"
    if found.health == "unhealthy":
        look = f"docker inspect --format '{{{{json .State.Health}}}}' {name} shows what it said"
        return Level.BAD, f"{up}, and its own health check fails", look
    if found.oom_killed:
        return Level.WARNING, f"{up}; a process in it was killed for lack of memory", "give it more memory"
    if found.health == "starting":
        return Level.WARNING, f"{up}; its own health check has not passed yet", "look again in a minute"
    if found.restarts and _up(found, now) < SETTLED_SECONDS:
        times = "once" if found.restarts == 1 else f"{found.restarts} times"
        return Level.WARNING, f"{up}, after it was restarted {times}", f"{logs} says why it ended"
    return Level.GOOD, f"{up}{', healthy' if found.health == 'healthy' else ''}", ""


def _ending(found: Container) -> str:
    if found.oom_killed:
        return "a kill for lack of memory"
    return f"exit code {found.exit_code}"


def _up(found: Container, now: datetime) -> float:
    return (now - found.started_at).total_seconds() if found.started_at else 0.0
