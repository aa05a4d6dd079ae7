"""The jobs that the scheduler runs, and how: late rather than never, once rather than twice, never side by side."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_MAX_INSTANCES,
    EVENT_JOB_MISSED,
    JobEvent,
)
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from loguru import logger

from executor.errors import Problem
from gateway.schedule.heartbeat import PERIODS, Heartbeat

if TYPE_CHECKING:
    from executor.dispatch import Dispatcher
    from gateway.schedule.pickup import Pickup
    from gateway.schedule.queue_monitor import QueueMonitor

QUEUES = "queues"
QUEUES_SECONDS = 60.0  # what counting the queues may take before that is said; each source has its own time-outs
FIRST = {"health": 5.0, "retention": 600.0, "maintenance": 900.0}  # seconds after the start; the others run at once
_TROUBLES = {EVENT_JOB_ERROR: "failed", EVENT_JOB_MISSED: "missed", EVENT_JOB_MAX_INSTANCES: "skipped"}


@dataclass(frozen=True)
class Duties:
    """What the jobs work on. They share one thread, beside the one that takes flags.

    Each that may take minutes has a thread of its own.
    """

    dispatcher: Dispatcher
    pickup: Pickup
    heartbeat: Heartbeat
    told: Callable[[], None]  # writes down how the gateway is; called in the thread
    monitor: QueueMonitor | None = None  # where queues are watched
    thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(max_workers=1, thread_name_prefix="jobs")
    )
    slow_thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(max_workers=1, thread_name_prefix="slow-jobs")
    )
    tidy_thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(max_workers=1, thread_name_prefix="tidying")
    )
    queue_thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(max_workers=1, thread_name_prefix="queues")
    )

    @property
    def threads(self) -> tuple[ThreadPoolExecutor, ...]:
        return self.thread, self.slow_thread, self.tidy_thread, self.queue_thread

    @property
    def periods(self) -> dict[str, float]:
        """How often each job runs, in seconds."""
        return PERIODS | ({QUEUES: self.monitor.interval} if self.monitor is not None else {})

    async def idle(self) -> None:
        """Wait for what goes on in the threads."""
        for thread in self.threads:
            await asyncio.get_running_loop().run_in_executor(thread, lambda: None)

    def close(self) -> None:
        """Let the threads go; what still goes on in one is not waited for."""
        for thread in self.threads:
            thread.shutdown(wait=False, cancel_futures=True)


async def sweep(duties: Duties) -> None:
    """Ask for a sweep; it is completed, and noted as that, by the pick-up."""
    duties.pickup.sweep_soon()


async def expire(duties: Duties) -> None:
    """Let approvals expire that nobody gave in time."""
    await _bounded(duties, "expire", duties.dispatcher.expire)


async def publish(duties: Duties) -> None:
    """Publish for the agent `gateway.json` and what other processes did, and write down how the gateway is."""

    def whole() -> None:
        duties.dispatcher.publish_rest()
        duties.dispatcher.publish_capabilities()
        duties.told()

    await _bounded(duties, "publish", whole)


async def retention(duties: Duties) -> None:
    """Remove what is older than it is to be kept; approvals go on expiring meanwhile."""
    await _bounded(duties, "retention", duties.dispatcher.retention, duties.tidy_thread)


async def maintenance(duties: Duties) -> None:
    """Keep up the repositories; approvals go on expiring meanwhile."""
    await _bounded(duties, "maintenance", duties.dispatcher.maintain, duties.slow_thread)


async def health(duties: Duties) -> None:
    """See what is bad on the host, so that operators are told; what hangs is waited for some seconds."""
    await _bounded(duties, "health", duties.dispatcher.watch_health, duties.tidy_thread)


async def queues(duties: Duties) -> None:
    """Look at the queues, in a thread of its own: a Redis or an engine that hangs holds up nothing else."""
    if duties.monitor is not None:
        await _bounded(duties, QUEUES, duties.monitor.look, duties.queue_thread, QUEUES_SECONDS)
        if duties.monitor.take_news():
            duties.pickup.word_came()  # a restart may be queued


async def _bounded(
    duties: Duties,
    name: str,
    work: Callable[[], object],
    thread: ThreadPoolExecutor | None = None,
    deadline: float | None = None,
) -> None:
    """Do `work` in `thread`, by default the one that the jobs share.

    When it takes longer than `deadline` seconds, by default half its period, say so, and let it go on (B01). A thread
    cannot be ended from outside. The next run of the job waits its turn behind it.
    """
    deadline = deadline or PERIODS[name] / 2
    running = asyncio.get_running_loop().run_in_executor(thread or duties.thread, work)
    try:
        await asyncio.wait_for(asyncio.shield(running), deadline)
    except TimeoutError:
        duties.heartbeat.trouble(name, "overran")
        logger.warning("the job {} takes longer than {:.0f} s", name, deadline)
        await running
    duties.heartbeat.completed(name)


JOBS: dict[str, Callable[[Duties], Awaitable[None]]] = {
    "sweep": sweep,
    "expire": expire,
    "publish": publish,
    "retention": retention,
    "maintenance": maintenance,
    "health": health,
    QUEUES: queues,
}


def schedule(duties: Duties) -> AsyncIOScheduler:
    """Return a started scheduler with every job in it. Call it on the running loop.

    Memory only: module-level functions under fixed names, so that starting twice makes no second set (B13).
    """
    logging.getLogger("apscheduler.executors").setLevel(logging.CRITICAL)  # all that it says is said by `_note`
    scheduler = AsyncIOScheduler(timezone=UTC)
    scheduler.add_listener(
        lambda event: _note(duties.heartbeat, event), EVENT_JOB_ERROR | EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES
    )
    now = datetime.now(UTC)
    for name, period in duties.periods.items():
        scheduler.add_job(
            JOBS[name],
            "interval",
            seconds=period,
            args=[duties],
            id=name,
            next_run_time=now + timedelta(seconds=FIRST.get(name, 0.0)),
            replace_existing=True,
            misfire_grace_time=None,  # late is better than never (B02)
            coalesce=True,
            max_instances=1,
        )
    scheduler.start()
    return scheduler


def realign(scheduler: AsyncIOScheduler) -> None:
    """Let every job run now and its period begin anew: the wall clock was set back, or the scheduler lost its timer.

    Its plan is made of wall-clock times, so after a step back of an hour nothing would run for an hour (B06).
    """
    for job in scheduler.get_jobs():
        job.modify(next_run_time=datetime.now(UTC))


def _note(heartbeat: Heartbeat, event: JobEvent) -> None:
    """Count what went wrong, by the event's code: the kinds of events carry different fields (B10)."""
    what = _TROUBLES[event.code]
    heartbeat.trouble(event.job_id, what)
    exception = getattr(event, "exception", None) if event.code == EVENT_JOB_ERROR else None
    if isinstance(exception, Problem):  # something around the gateway; where in the program it was met says nothing
        logger.warning("the job {} {}: {}", event.job_id, what, exception)
    else:
        logger.opt(exception=exception).warning("the job {} {}", event.job_id, what)
