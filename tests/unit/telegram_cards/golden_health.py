"""What /health answers, on a good day and on a bad one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from telegram_samples import PLACE

from executor.health.container_probes import trouble_of
from executor.health.containers import Container, judge, missing
from executor.health.engine import EngineError, EngineTrouble
from executor.health.gateway import Said, Waiting, judge_approvals, judge_gateway, judge_telegram
from executor.health.host import Clock, Memory, Space, judge_clock, judge_memory, judge_space
from executor.health.report import Finding, Level, report
from executor.health.workers import judge as judge_workers
from executor.laravel.model import Worker
from gateway.telegram.card_model import Card
from gateway.telegram.health_card import health

GB = 1000**3
NOW = datetime(2025, 11, 30, 17, 40, tzinfo=UTC)
_APP = Container("running", started_at=NOW - timedelta(days=3), health="healthy")
_ENDED = Container("exited", exit_code=137, oom_killed=True, finished_at=NOW - timedelta(minutes=12))
_FLAPS = Container("running", restarts=6, started_at=NOW - timedelta(seconds=40))


def _workers(*queues: str) -> list[Finding]:
    now = NOW.timestamp()
    found = [Worker(40 + place, now - 7200 * place, (queue,), "queue:work") for place, queue in enumerate(queues, 1)]
    return list(judge_workers(["emails", "reports"], found, now))


def _gateway(sweep: float, poll: float, polls: str = "ok") -> list[Finding]:
    done = {"sweep": (NOW - timedelta(seconds=sweep)).isoformat()}
    chat = {"polls": polls, "last_poll_seconds_ago": poll, "problem": "", "waiting_messages": 0}
    said = Said({"heartbeat": {"completed": done, "late": []}, "telegram": chat}, 5)
    return [*judge_gateway(said, NOW), *judge_telegram(said)]


def _good() -> list[Finding]:
    room = Space(100 * GB, 50 * GB, 1000, 900)
    return [
        judge("shop-app", _APP, NOW),
        *_workers("emails", "emails", "reports"),
        judge_space("shared directory", room, "/srv/agent/shared"),
        judge_space("state directory", room, "/var/lib/ops-gateway"),
        judge_memory(Memory(8 * GB, 4 * GB, 0.0)),
        judge_clock(Clock(True, 0.002)),
        Finding("remote", "shop", Level.GOOD, "origin answers"),
        *_gateway(20, 3),
        judge_approvals((), NOW),
    ]


def _bad() -> list[Finding]:
    asked = Waiting(NOW - timedelta(minutes=20), NOW + timedelta(minutes=40))
    hint = "An operator has to check the ssh key or the credential file; nothing can be typed here."
    return [
        judge("shop-app", _APP, NOW),
        judge("shop-worker", _ENDED, NOW),
        judge("shop-redis", _FLAPS, NOW),
        missing("shop-mail"),
        *_workers("emails"),
        judge_space("shared directory", Space(100 * GB, GB, 1000, 900), "/srv/agent/shared"),
        judge_memory(Memory(8 * GB, GB // 2, 22.0)),
        judge_clock(Clock(False, 16.0)),
        Finding("remote", "shop", Level.BAD, "cannot be reached (auth_failed)", hint),
        *_gateway(20, 3),
        judge_approvals((asked,), NOW),
    ]


def _no_socket() -> list[Finding]:
    error = EngineError(EngineTrouble.NOT_PERMITTED, "Permission denied")
    return [
        *(trouble_of("unix:///var/run/docker.sock", name, error) for name in ("shop-app", "shop-redis")),
        *_good(),
    ]


def _card(findings: list[Finding]) -> Callable[[], Card]:
    return lambda: health(PLACE, report("web-1", NOW, findings))


HEALTH_CARDS: dict[str, Callable[[], Card]] = {
    "health-good": _card(_good()),
    "health-bad": _card(_bad()),
    "health-no-socket": _card(_no_socket()),
    "health-nothing": _card([]),
}
