"""Watches the shared directory, so that a flag is taken when its writer closes it. A hint and nothing more (D01):

the sweep finds every flag without it, so whatever goes wrong here costs time and never a flag.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from asyncinotify import Event, Inotify, Mask, Watch
from loguru import logger

from executor.protocol.names import parse_name, withdrawn_id
from gateway.schedule import word

# A flag is complete when its writer closed it or renamed it there. Not CREATE: it comes before the content (D02).
# What is neither (a link, a FIFO) is refused anyway, and the sweep does that.
_ARRIVALS = Mask.CLOSE_WRITE | Mask.MOVED_TO
_LOSSES = Mask.DELETE_SELF | Mask.MOVE_SELF | Mask.UNMOUNT | Mask.IGNORED
# In the parent: a directory that is held open tells nothing when it is removed, its parent does.
_REPLACEMENTS = Mask.CREATE | Mask.DELETE | Mask.MOVE
_EVENTS_AT_ONCE = 256  # of the longest names: a buffer of 70 KB
LOST_RETRY_SECONDS = 2.0  # how often a directory that is gone is looked for
NONE_RETRY_SECONDS = 10.0  # how often inotify is asked for where there is none to be had


class Watcher:
    """Tells of names that arrived in `shared`, of word from the command line, and of events that were lost.

    `arrived` gets one file name; `word_came` and `missed` get nothing, and `missed` means: look at everything. All
    are called on the loop and must not block.
    """

    def __init__(
        self,
        shared: Path,
        state: Path,
        *,
        arrived: Callable[[bytes], None],
        word_came: Callable[[], None],
        missed: Callable[[], None],
    ) -> None:
        self._shared, self._word = shared, word.place(state)
        self._arrived, self._word_came, self._missed = arrived, word_came, missed
        self._watch: Watch | None = None
        self._identity: tuple[int, int] | None = None
        self.problem = "the shared directory is not watched yet"  # why there are no hints; empty when there are

    async def run(self) -> None:
        """Watch until cancelled; where the system has no inotify to give, say so and ask again until it has."""
        while (inotify := self._open()) is None:  # noqa: ASYNC110 (nobody tells when there is one)
            await asyncio.sleep(NONE_RETRY_SECONDS)
        with inotify:
            self._add(inotify, self._word, Mask.CLOSE_WRITE)
            while True:
                if self._watch is None:
                    self._attach(inotify)
                try:
                    # wait_for can lose a cancellation that comes with an event
                    async with asyncio.timeout(None if self._watch else LOST_RETRY_SECONDS):
                        event = await inotify.get()
                except TimeoutError:
                    self._word_came()  # it may have: what is read as the time runs out is lost
                    continue
                self._handle(event)

    def _open(self) -> Inotify | None:
        try:
            return Inotify(cache_size=_EVENTS_AT_ONCE)
        except OSError as error:  # EMFILE: the user's limit of instances, which others use up and give back
            self._lost(f"inotify is not available ({error.strerror})")
            return None

    def check(self) -> None:
        """Notice that another directory now stands under the watched name (a mount makes no event)."""
        if self._watch is not None and _identity(self._shared) != self._identity:
            self._detach()

    def _attach(self, inotify: Inotify) -> None:
        self._add(inotify, self._shared.parent, _REPLACEMENTS)  # first, so that no replacement goes by unseen
        identity = _identity(self._shared)
        self._watch = self._add(inotify, self._shared, _ARRIVALS | _LOSSES | Mask.EXCL_UNLINK)
        if self._watch is None:
            return
        self._identity = identity
        if self.problem:
            logger.info("watching the shared directory: flags are taken as they arrive")
        self.problem = ""
        self._missed()  # what arrived before the watch

    def _add(self, inotify: Inotify, path: Path, mask: Mask) -> Watch | None:
        try:
            return inotify.add_watch(path, mask | Mask.ONLYDIR)
        except OSError as error:  # ENOENT; ENOSPC: the user's limit of watches
            self._lost(f"{path} cannot be watched ({error.strerror})")
            return None

    def _handle(self, event: Event) -> None:
        name = os.fsencode(event.name) if event.name is not None else b""
        if Mask.Q_OVERFLOW in event:
            self._missed()
        elif event.watch is not None and event.watch is self._watch:
            if event.mask & _LOSSES:
                self._detach()
            elif parse_name(name) is not None or withdrawn_id(name) is not None:
                self._arrived(name)
        elif event.watch is not None and event.watch.path == self._word:
            self._word_came()
        elif event.mask & _REPLACEMENTS and name == os.fsencode(self._shared.name):
            self.check()

    def _detach(self) -> None:
        watch, self._watch, self._identity = self._watch, None, None
        if watch is not None and watch.inotify is not None:
            with contextlib.suppress(OSError):  # the kernel may have removed it already
                watch.inotify.rm_watch(watch)
        self._lost("the shared directory was replaced or is gone")

    def _lost(self, why: str) -> None:
        if self.problem != why:
            logger.warning("{}; flags are found by the sweep, within a minute", why)
        self.problem = why


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
