"""A dispatcher that records what the host asks of it, for tests of when it asks."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable


class RecordingDispatcher:
    """Takes what `waiting` holds, runs it by calling it, and keeps a list of everything."""

    def __init__(self) -> None:
        self.taken: list[list[bytes] | None] = []  # None is a sweep
        self.ran: list[str] = []
        self.expired = 0
        self.answered: list[str] = []
        self.published = self.rest_published = 0
        self.cancelled = threading.Event()
        self.queues: dict[str, deque[Callable[[], object]]] = defaultdict(deque)
        self.left_behind: deque[tuple[int, bool]] = deque()  # what the next sweeps return: (taken, more waiting)
        self.fail: Exception | None = None
        self._more = False
        self.threads: set[str] = set()
        self._told: Callable[[set[str]], None] = lambda _repositories: None

    def tell_queued(self, told: Callable[[set[str]], None]) -> None:
        self._told = told

    def take(self, names: Iterable[bytes] | None = None) -> int:
        self.threads.add(threading.current_thread().name)
        self.taken.append(None if names is None else list(names))
        if self.fail is not None:
            raise self.fail
        if names is not None:
            self._told(set(self.queued_repositories()))
            return 0
        count, self._more = self.left_behind.popleft() if self.left_behind else (0, False)
        return count

    def more_waiting(self) -> bool:
        return self._more

    def queued_repositories(self) -> list[str]:
        return [name for name, queue in self.queues.items() if queue]

    def run_next(self, repo: str) -> bool:
        if not self.queues[repo]:
            return False
        self.queues[repo].popleft()()
        self.ran.append(repo)
        return True

    def expire(self) -> int:
        self.expired += 1
        return 0

    def answer(self, request_id: str) -> None:
        self.answered.append(request_id)

    def retention(self) -> None:
        self.ran.append("retention")

    def maintain(self) -> None:
        self.ran.append("maintenance")

    def watch_health(self) -> None:
        self.ran.append("health")

    def publish_rest(self) -> None:
        self.rest_published += 1

    def publish_capabilities(self) -> None:
        self.published += 1

    def cancel_running(self) -> None:
        self.cancelled.set()

    def health(self) -> dict[str, object]:
        return {"last_sweep": None}

    @property
    def sweeps(self) -> int:
        return self.taken.count(None)
