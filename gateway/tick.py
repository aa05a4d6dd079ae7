"""One round and out: for a host where cron starts the gateway every minute and nothing stays resident."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from loguru import logger

from executor.errors import Problem
from gateway import wiring
from gateway.schedule.heartbeat import PERIODS, STALE_PERIODS
from gateway.schedule.pickup import act_on_word
from gateway.settings_model import Settings
from gateway.single import alone

if TYPE_CHECKING:
    from executor.dispatch import Dispatcher

_ORDERLY = "tick.orderly"  # in the state directory while the last tick ended in order; since when, by its time
_TIDIED = "tick.tidied"  # when a tick last removed what is old


def tick(settings: Settings, wait_seconds: float) -> None:
    """Take every flag that is there, run what is queued, expire, tidy up now and then, and say how things are.

    Raise Busy if another process serves this state directory (a `run`, or a `tick` that does not end in time).
    """
    with alone(settings.state_dir, "tick", wait_seconds):
        orderly = settings.state_dir / _ORDERLY
        dispatcher = wiring.dispatcher(settings)
        try:
            dispatcher.recover(after_order=orderly.exists())
            orderly.unlink(missing_ok=True)
            act_on_word(dispatcher, settings.state_dir)
            dispatcher.expire()
            if settings.laravel is not None:
                _look_at_queues(settings, dispatcher)
            going = True
            while going:
                going = dispatcher.take() > 0
                for repository in dispatcher.queued_repositories():
                    while dispatcher.run_next(repository):
                        going = True
                going = going and dispatcher.more_waiting()
            dispatcher.publish_rest()
            if _is_due(settings.state_dir / _TIDIED, PERIODS["retention"]):
                dispatcher.retention()
            dispatcher.publish_capabilities()
            orderly.touch(mode=0o600)
        finally:
            dispatcher.close()


def _look_at_queues(settings: Settings, dispatcher: Dispatcher) -> None:
    """Count the queues; a restart that this calls for is run in the same round. Flags do not wait for a failure."""
    from gateway.schedule.queue_monitor import monitor_of  # brings the counting along: only where there is a queue

    monitor = monitor_of(settings, dispatcher)
    assert monitor is not None
    try:
        monitor.look()
    except Problem as problem:
        logger.warning("the queues were not looked at: {}", problem)


def last_tick(state: Path) -> datetime | None:
    """Return when a tick last ended in order here; None if none ever did, or the last one did not."""
    try:
        return datetime.fromtimestamp((state / _ORDERLY).stat().st_mtime, UTC)
    except OSError:
        return None


def is_fresh(last: datetime | None, now: datetime) -> bool:
    """Given when a tick or a sweep last ended, say whether that is so short ago that flags are still looked for."""
    return last is not None and (now - last).total_seconds() <= STALE_PERIODS * PERIODS["sweep"]


def _is_due(stamp: Path, period: float) -> bool:
    """Return whether `period` seconds have gone since `stamp` was last touched, and touch it if so."""
    try:
        if 0 <= time.time() - stamp.stat().st_mtime < period:
            return False
    except FileNotFoundError:
        pass  # never yet
    stamp.touch(mode=0o600)
    return True
