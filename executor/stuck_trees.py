"""Work trees in which git hangs: the first requests find that out, and those behind them do not wait for it again."""

from __future__ import annotations

import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Refused, TimedOut
from executor.outcome import Outcome
from executor.policy.model import Contact, Decision, Operation, Request, Run

ENOUGH = 2  # time-outs in a row
HELD_SECONDS = 60.0  # then one request is let through to see whether it still hangs
_READ_BY_GIT = (".gitignore", ".gitattributes", ".mailmap", ".gitmodules")  # at the top, where each command looks
_TYPED = frozenset({Operation.GIT_STATUS, Operation.GIT_ADD})


@dataclass(frozen=True, slots=True)
class _Standing:
    timeouts: int
    since: float  # of the last one, monotonic, s
    fifo: str | None


class StuckTrees:
    """Remembers how requests ended that touched a work tree. One thread a repository."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._found: dict[str, _Standing] = {}

    def check(self, repo: str, tree: Path) -> None:
        """Raise Refused("work_tree_stuck") where git hung in `tree` time after time, a moment ago.

        A FIFO that was found then and is gone now is taken for the reason, and everything goes on.
        """
        standing = self._found.get(repo)
        if standing is None or standing.timeouts < ENOUGH or self._clock() - standing.since >= HELD_SECONDS:
            return
        if standing.fifo is not None and fifo_in(tree) is None:
            del self._found[repo]
            return
        what = f"{standing.fifo} is a FIFO: remove it" if standing.fifo else "look for FIFOs (find . -type p)"
        raise Refused(
            "work_tree_stuck",
            f"git hung in the work tree {standing.timeouts} times in a row, so nothing that reads it is run now",
            f"{what}; after a minute one request is tried again",
        )

    def note(self, repo: str, tree: Path, outcome: Outcome) -> None:
        """Remember how a request ended that touched `tree`."""
        if not isinstance(outcome.error, TimedOut):
            self._found.pop(repo, None)
            return
        before = self._found.get(repo)
        self._found[repo] = _Standing(before.timeouts + 1 if before else 1, self._clock(), fifo_in(tree))


def is_concerned(request: Request, decision: Decision) -> bool:
    """Whether a request touches the work tree and runs with nobody's yes, so that any number of them can wait."""
    if not isinstance(decision, Run):
        return False
    contact = decision.command.contact if decision.command is not None else None
    return request.operation in _TYPED or contact in (Contact.READ, Contact.WRITE)


def fifo_in(tree: Path) -> str | None:
    """Return the name of a FIFO where git expects one of its own files at the top of `tree`, or None."""
    for name in _READ_BY_GIT:
        try:
            if stat.S_ISFIFO((tree / name).lstat().st_mode):
                return name
        except OSError:
            continue
    return None
