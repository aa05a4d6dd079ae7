"""Ending everything that one command started, and nothing else.

A command is its own session and process group, so one signal to the group reaches all that stayed in it. What left
the group (a daemon's setsid) is known by a mark that every descendant inherits: RLIMIT_LOCKS, a resource limit that
Linux has not enforced since 2.4, that anyone of the same user can read, and that stays readable on a zombie. It
holds the command's random token. The soft limit is there from the first instruction; the hard limit, which a process
without privileges can never raise again, is put on right after the spawn. Confined programs can set neither
(seccomp.py). So commands side by side, and children that no command started, are not taken for each other; and
whatever is in this process's own session is nobody's descendant, for every command left it and none can come back.

Orphans come to this process (it is their subreaper) and are reaped here.
"""

from __future__ import annotations

import contextlib
import os
import resource
import secrets
import signal
import threading
import time
from collections.abc import Iterator

from executor.errors import ConfigError
from executor.sandbox.kernel import Kernel
from executor.sandbox.processes import kill_if, other_processes

RLIMIT_LOCKS = 10  # <asm-generic/resource.h>; the resource module has no name for it
_UNLIMITED_TOKENS = 1 << 62
_FEWEST_TOKENS = 1 << 32
_PATIENCE = 2.0  # s for killed processes to be gone; only one that hangs inside the kernel takes longer
_TICK = 0.001  # s
_spawning = threading.Lock()  # a limit belongs to the whole process, so one command is born at a time


def become_subreaper() -> None:
    """Make this process the parent of its descendants' orphans, so that none escapes to init unseen.

    Raise ConfigError if somebody lowered the limit that carries the mark.
    """
    if _tokens() < _FEWEST_TOKENS:
        raise ConfigError("limit_locks", "RLIMIT_LOCKS is lowered.", "Remove LimitLOCKS= from the service.")
    Kernel().become_subreaper()


class Descendants:
    """The processes of one command: born inside `marked`, then `hold`, and in the end `end`, each called once."""

    def __init__(self) -> None:
        self._token = secrets.randbelow(_tokens())

    @contextlib.contextmanager
    def marked(self) -> Iterator[None]:
        """Let what is spawned inside be born with the mark.

        A program that another thread starts in that same instant gets it too. The gateway starts none but through
        here; and elsewhere it would have to leave our session besides to be taken for a descendant.
        """
        with _spawning:
            soft, hard = resource.getrlimit(RLIMIT_LOCKS)
            resource.setrlimit(RLIMIT_LOCKS, (self._token, hard))
            try:
                yield
            finally:
                resource.setrlimit(RLIMIT_LOCKS, (soft, hard))

    def hold(self, leader: int) -> None:
        """Make the mark one that the spawned process cannot take off."""
        with contextlib.suppress(OSError, ValueError):  # it has ended, or it is another user's by now (sudo)
            resource.prlimit(leader, RLIMIT_LOCKS, (self._token, self._token))

    def end(self, leader: int) -> int | None:
        """Kill what is left, reap what is ours, and return the leader's exit code (-N for signal N).

        Return None where that cannot be told: it hangs inside the kernel, or someone else reaped it.
        """
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)  # the leader is not reaped yet, so its number means no other group
        give_up = time.monotonic() + _PATIENCE
        code = _reap_group(leader, give_up)
        while _has_children() and time.monotonic() < give_up:
            try:
                found = [pid for pid in other_processes() if self._is_ours(pid)]
            except OSError:  # no descriptor to list with: another thread will give one back
                time.sleep(_TICK)
                continue
            if not found:
                break
            for pid in found:
                kill_if(pid, self._is_ours, give_up)
        return code

    def _is_ours(self, pid: int) -> bool:
        try:
            marked = self._token in resource.prlimit(pid, RLIMIT_LOCKS)
            return marked and os.getsid(pid) != os.getsid(0)
        except OSError:  # gone, or another user's
            return False


def _tokens() -> int:
    _soft, hard = resource.getrlimit(RLIMIT_LOCKS)
    return _UNLIMITED_TOKENS if hard == resource.RLIM_INFINITY else hard


def _reap_group(leader: int, give_up: float) -> int | None:
    """Reap the children of this process that are in the leader's group; return the leader's exit code."""
    code: int | None = None
    while True:
        try:
            ended = os.waitid(os.P_PGID, leader, os.WEXITED | os.WNOHANG)
        except ChildProcessError:
            return code
        if ended is None:
            if time.monotonic() >= give_up:
                return code
            time.sleep(_TICK)
        elif ended.si_pid == leader:
            code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def _has_children() -> bool:
    """Return whether this process has any child at all: without one there is nothing to look for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
