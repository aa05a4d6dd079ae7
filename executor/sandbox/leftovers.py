"""Ending the programs of a gateway that was killed: nobody waits for them, and one may be half-way in a push.

A gateway that ends in order ends them first. After a kill -9 they go on as orphans. They are known by two signs that
nobody else's git has: the git directory in the environment that they were started with, and the mark of
`descendants`, which only a gateway puts on.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

from executor.sandbox.descendants import RLIMIT_LOCKS
from executor.sandbox.processes import kill_if, other_processes, program_of

_PATIENCE = 5.0  # s for a killed process to be gone; only one that hangs inside the kernel takes longer


def end_leftovers(root: Path) -> tuple[str, ...]:
    """Kill what an earlier gateway started on the git directories below `root`, and return the programs' names.

    For who holds that repository alone: a gateway that is at work in it would lose its own.
    """
    give_up = time.monotonic() + _PATIENCE
    sign = b"GIT_DIR=" + os.fsencode(root) + b"/"
    return tuple(name for pid in other_processes() if (name := _ended(pid, sign, give_up)) is not None)


def _ended(pid: int, sign: bytes, give_up: float) -> str | None:
    """Kill the process if it is one, wait for its end, and return its name."""
    if not _is_left(pid, sign):
        return None
    name = program_of(pid) or "a program"
    return name if kill_if(pid, lambda number: _is_left(number, sign), give_up) else None


def _is_left(pid: int, sign: bytes) -> bool:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        soft, _hard = resource.prlimit(pid, RLIMIT_LOCKS)  # the hard one follows the start; a kill may come first
    except OSError:  # gone, or another user's
        return False
    marked = soft != resource.RLIM_INFINITY
    return marked and any(each.startswith(sign) for each in environment.split(b"\0"))
