"""What those who serve the chat work with: the record and the executor, reached in threads so that no loop waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from gateway.settings_model import Settings
from gateway.telegram.card_model import Place

if TYPE_CHECKING:
    from executor.dispatch import Dispatcher
    from executor.record.store import Store

P = ParamSpec("P")
R = TypeVar("R")
# A press must not wait for a git that undoes something, nor for a look at a long log: a few threads, used briefly.
_THREADS = 4


@dataclass(frozen=True)
class Desk:
    """Made once. `health` and `troubles` return how the gateway is, as JSON can hold it and in words by key.

    `names` is what `place` calls operators by; it grows as they are heard.

    `decided` is called on the loop after something was decided or asked for, so that it is acted on at once.
    """

    settings: Settings
    dispatcher: Dispatcher
    place: Place
    names: dict[str, str]
    decided: Callable[[], None]
    troubles: Callable[[], Mapping[str, str]]
    health: Callable[[], Mapping[str, Any]]
    threads: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="chat")
    )

    @property
    def store(self) -> Store:
        return self.dispatcher.store

    async def call(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do `work`, which may block, in a thread, and return or raise what it does."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.threads, lambda: work(*args, **kwargs))
