"""The long-running process: one loop, what runs on it, and how it ends in order."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from loguru import logger

from executor.errors import Problem
from executor.record.display import visible
from gateway import settings as configuration
from gateway import wiring
from gateway.schedule import jobs
from gateway.schedule.heartbeat import PERIODS, Heartbeat, write_health
from gateway.schedule.pickup import Pickup
from gateway.schedule.queue_monitor import monitor_of
from gateway.schedule.readiness import RUN_DEADLINES, closed_repositories, not_getting_on, status_line
from gateway.schedule.systemd import service_manager
from gateway.schedule.watch import Watcher
from gateway.schedule.workers import Workers
from gateway.settings_model import Settings
from gateway.single import alone
from gateway.stopping import last_resort, stop_signals

if TYPE_CHECKING:
    from apscheduler.schedulers.asyncio import AsyncIOScheduler

    from executor.dispatch import Dispatcher
    from gateway.telegram.service import ChatService

LAST_NEWS_SECONDS = 5.0  # what telling the chat how the last requests ended may take
REST_SECONDS = 0.2  # after which is published what would only hold up the answer if it were published before it
CANCEL_SECONDS = 20.0  # what ending a running git may take: TERM, its grace, KILL, and putting things in order
LEEWAY_SECONDS = 10.0  # for what is beside that, when it stops


def serve(settings: Settings) -> None:
    """Serve the shared directory until SIGTERM or SIGINT. Raise Busy if another process serves this state."""
    with alone(settings.state_dir, "run"):
        dispatcher = wiring.dispatcher(settings)
        try:
            dispatcher.recover()
            gc.freeze()  # what the start made stays: no collection need look at all of it again
            clean = asyncio.run(Host(settings, dispatcher, stopping=last_resort).run())
        finally:
            dispatcher.close()
    if not clean:
        os._exit(1)  # a thread cannot be ended, and waiting for it is what the interpreter would do now


class Host:
    """Ties watcher, pick-up, workers and scheduler to one dispatcher.

    `stopping` is called when it begins to stop, with the seconds that it takes at most.
    """

    def __init__(
        self, settings: Settings, dispatcher: Dispatcher, *, stopping: Callable[[float], None] = lambda _seconds: None
    ) -> None:
        self._settings, self._dispatcher, self._stopping = settings, dispatcher, stopping
        self._manager, self._redact = service_manager(), wiring.redactor(settings)
        self._names = [repository.name for repository in settings.served]
        self._closed: dict[str, str] = {}  # repositories that cannot be worked in -> why
        self._heartbeat = Heartbeat(PERIODS)
        self._workers = Workers(dispatcher, dispatcher.lanes, drained=self._drained)
        self._pickup = Pickup(
            dispatcher,
            settings.state_dir,
            self._heartbeat,
            queued=self._workers.wake,
            taken=self._after_take,
            stuck=self._realign,
        )
        self._watcher = Watcher(
            settings.shared_dir,
            settings.state_dir,
            arrived=self._pickup.arrived,
            word_came=self._pickup.word_came,
            missed=self._pickup.sweep_and_settle,
        )
        self._monitor = monitor_of(settings, dispatcher)
        self._duties = jobs.Duties(
            dispatcher, self._pickup, self._heartbeat, told=self.write_health, monitor=self._monitor
        )
        self._scheduler: AsyncIOScheduler | None = None
        self._chat: ChatService | None = None
        self._rest: asyncio.TimerHandle | None = None

    async def run(self) -> bool:
        """Serve until told to stop, then stop in order: nothing new, grace for what runs, then its end.

        Return False if something still runs all the same. Raise what the pick-up raised, should it ever end.
        """
        stop = asyncio.Event()
        with stop_signals(stop):
            pickup = asyncio.create_task(self._pickup.run(), name="pickup")
            watcher = asyncio.create_task(self._watch(), name="watcher")
            self._workers.start()
            await self._in_jobs_thread(self._look_for_closed, self._names)
            self._scheduler = jobs.schedule(self._duties)
            self._say_ready()
            attention = asyncio.create_task(self._manager.attend(self._status, self._stuck), name="systemd")
            self._open_chat()
            told = asyncio.create_task(stop.wait())
            await asyncio.wait([told, pickup], return_when=asyncio.FIRST_COMPLETED)
            logger.info("stopping: nothing new is begun")
            bound = self._settings.stop_grace_seconds + 2 * CANCEL_SECONDS + LAST_NEWS_SECONDS + LEEWAY_SECONDS
            self._stopping(bound)
            self._manager.stopping(bound)
            clean = await self._stop([told, pickup, watcher])
            attention.cancel()
        logger.info("stopped")
        if pickup.done() and not pickup.cancelled():
            pickup.result()
        return clean

    async def _watch(self) -> None:
        try:
            await self._watcher.run()
        except Exception:  # noqa: BLE001 (only a hint was lost)
            logger.exception("watching the shared directory ended; flags are found by the sweep, within a minute")
            self._watcher.problem = "watching ended with an error"

    async def _stop(self, background: list[asyncio.Task[Any]]) -> bool:
        """End what runs, in the order in which it depends on each other; return False if something still runs."""
        if self._scheduler is not None:
            self._scheduler.pause()  # its own shutdown would cancel what runs in it (P5), so that comes last
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        grace = self._settings.stop_grace_seconds
        ended = await self._workers.stop(grace)
        if not ended:
            logger.warning("still running after {} s: it is ended, and recorded as interrupted", grace)
            self._dispatcher.cancel_running()
            ended = await self._workers.stop(CANCEL_SECONDS)
        if self._chat is not None:
            await self._chat.stop(LAST_NEWS_SECONDS)
        self._dispatcher.cancel_running()  # upkeep may still go on; it is taken up another time
        ended = await self._last_words() and ended
        if not ended:
            logger.error("something could not be ended; the next start finds out what became of it")
        if self._scheduler is not None:
            self._scheduler.shutdown(wait=False)
        self._pickup.close()
        self._workers.close()
        self._duties.close()
        return ended

    async def _last_words(self) -> bool:
        """Wait for the threads that take flags and do the jobs, and write down how things are at the end."""
        try:
            async with asyncio.timeout(CANCEL_SECONDS):
                await self._pickup.idle()
                if self._rest is not None:
                    self._rest.cancel()
                    self._publish_rest()
                await self._duties.idle()
                await self._in_jobs_thread(self.write_health)
        except (TimeoutError, Problem, OSError) as error:
            logger.warning("the end is not written down: {}", error)
            return not isinstance(error, TimeoutError)
        return True

    def _say_ready(self) -> None:
        for choice in configuration.unsafe_choices(self._settings):
            logger.warning("unsafe by choice: {}", choice)
        for stray in configuration.stray_names():
            logger.warning("{}", stray)
        if os.geteuid() == 0:
            logger.warning("running as root: git is confined, the gateway itself is not; use a user of its own")
        for what, why in self._closed.items():
            logger.warning("{}: {}", what, why)
        logger.info("READY: serving {} for {}", self._settings.shared_dir, ", ".join(self._names))
        self._manager.ready(self._status())

    def _look_for_closed(self, names: Iterable[str]) -> None:
        self._closed = closed_repositories(self._dispatcher.repositories, names)

    async def _in_jobs_thread(self, work: Callable[..., None], *args: Any) -> None:
        await asyncio.get_running_loop().run_in_executor(self._duties.thread, work, *args)

    def _open_chat(self) -> None:
        """Begin to tell and to ask operators, where a chat is configured; nothing else waits for it (A05, A06)."""
        if not self._settings.telegram_bot_token.get_secret_value():
            return
        from gateway.telegram import libraries

        libraries.load()
        from gateway.telegram.service import ChatService  # brings an HTTP client along: only for those who chat

        self._chat = ChatService(
            self._settings,
            self._dispatcher,
            decided=self._pickup.word_came,
            troubles=self._troubles,
            health=self._health,
        )
        self._chat.start()

    def _troubles(self) -> dict[str, str]:
        """Return what does not work now, in words; the keys do not change with the words."""
        found = {f"job {job}": "it was not completed for too long" for job in self._heartbeat.late()}
        if self._watcher.problem:
            found["watching"] = self._watcher.problem
        if self._monitor is not None and (late := self._monitor.trouble()):
            found["queue monitor"] = late
        if self._chat is not None and (fails := self._chat.trouble()):
            found["chat"] = fails
        return found | self._closed | self._dispatcher.troubles()

    def _status(self) -> str:
        confinement = self._dispatcher.confinement.report()
        loose = {} if confinement.confined else {"confinement": confinement.summary}
        return visible(self._redact(status_line(self._names, self._troubles() | loose)))

    def _stuck(self) -> list[str]:
        deadline = max(self._settings.deadline_seconds, self._settings.network_deadline_seconds)
        lanes = self._workers.stuck(RUN_DEADLINES * deadline)
        return not_getting_on(self._heartbeat.stuck(), lanes, self._chat.health() if self._chat is not None else {})

    def _after_take(self, anything: bool) -> None:
        self._watcher.check()
        if anything:  # else it is a sweep, as each minute; what others have written is seen each minute, too
            self._rest_soon()
            self._nudge_chat()

    def _drained(self) -> None:
        self._pickup.room_again()
        self._rest_soon()
        self._nudge_chat()

    def _rest_soon(self) -> None:
        """Publish the rest in a moment, for whatever happens until then in one go."""
        if self._rest is None:
            self._rest = asyncio.get_running_loop().call_later(REST_SECONDS, self._publish_rest)

    def _publish_rest(self) -> None:
        self._rest = None
        asyncio.get_running_loop().run_in_executor(self._duties.thread, self._dispatcher.publish_rest)

    def _nudge_chat(self) -> None:
        if self._chat is not None:
            self._chat.nudge()

    def _realign(self) -> None:
        if self._scheduler is not None:
            jobs.realign(self._scheduler)

    def write_health(self) -> None:
        """Write down how the gateway is, for the command line and the doctor. In the thread of the jobs."""
        self._look_for_closed([name for name in self._names if f"repository {name}" in self._closed])
        write_health(self._settings.state_dir, self._health())

    def _health(self) -> dict[str, Any]:
        health: dict[str, Any] = {
            "pid": os.getpid(),
            "watching": self._watcher.problem or "inotify",
            "heartbeat": self._heartbeat.as_data(),
            **self._dispatcher.health(),
            "degraded": self._troubles(),
        }
        return health | ({"telegram": self._chat.health()} if self._chat is not None else {})
