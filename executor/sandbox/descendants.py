"""Ending everything that one command started, and nothing else.

A command is its own session and process group, so one signal to the group reaches all that stayed in it. What left
the group (a daemon's setsid) is found by two marks that every descendant inherits:

- a variable in its environment, there from the first instruction, but a program can wipe it;
- a resource limit: RLIMIT_LOCKS, which Linux has not enforced since 2.4 and which stays readable on a zombie. A
  process without privileges cannot raise it back, and confined ones cannot set it at all (seccomp.py). It is put on
  right after the spawn, so a child forked within those microseconds has the first mark only.

Both carry the command's random token, so commands that run side by side, and children of the process that no command
started, are never taken for each other. Orphans come to this process (subreaper) and are reaped here.
"""

from __future__ import annotations

import contextlib
import os
import resource
import secrets
import select
import signal
import time

from executor.sandbox.kernel import Kernel

MARK = "OPS_GATEWAY_COMMAND"

_RLIMIT_LOCKS = 10  # <asm-generic/resource.h>; the resource module has no name for it
_UNLIMITED_TOKENS = 1 << 62
_MARK_WINDOW = 4096  # bytes of an environment that are looked at; the mark is its first variable
_PATIENCE = 2.0  # s for killed processes to be gone; only one that hangs inside the kernel takes longer
_TICK = 0.001  # s


def become_subreaper() -> None:
    """Make this process the parent of its descendants' orphans, so that none escapes to init unseen."""
    Kernel().become_subreaper()


class Descendants:
    """The processes of one command. `end` must be called once, when the command's first process has been spawned."""

    def __init__(self) -> None:
        _soft, self._own_limit = resource.getrlimit(_RLIMIT_LOCKS)
        space = _UNLIMITED_TOKENS if self._own_limit == resource.RLIM_INFINITY else max(self._own_limit, 1)
        self._token = secrets.randbelow(space)
        self._mark = f"{MARK}={self._token}\0".encode()

    @property
    def environment(self) -> dict[str, str]:
        """The variable to put first in the command's environment."""
        return {MARK: str(self._token)}

    def adopt(self, leader: int) -> None:
        """Put the second mark on the spawned process."""
        with contextlib.suppress(OSError, ValueError):  # it may have ended; a limit of 0 leaves the first mark
            resource.prlimit(leader, _RLIMIT_LOCKS, (self._token, self._token))

    def end(self, leader: int) -> int | None:
        """Kill what is left, reap what is ours, and return the leader's exit code (-N for signal N).

        Return None where that cannot be told: it hangs inside the kernel, or someone else reaped it.
        """
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)  # the leader is not reaped yet, so its number means no other group
        give_up = time.monotonic() + _PATIENCE
        code = _reap_group(leader, give_up)
        while _has_children() and time.monotonic() < give_up:
            found = [pid for pid in _other_processes() if self._is_ours(pid)]
            if not found:
                break
            for pid in found:
                self._kill(pid, give_up)
        return code

    def _kill(self, pid: int, give_up: float) -> None:
        """Kill `pid` if it bears a mark, wait until it is dead, and reap it if it is a child of this process."""
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:
            return
        try:
            if not self._is_ours(pid):  # asked again: from here on the descriptor, not the number, says who is meant
                return
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            poller.poll(max(0.0, give_up - time.monotonic()) * 1000)
            with contextlib.suppress(ChildProcessError):  # a grandchild comes to us when its parent is dead
                os.waitid(os.P_PIDFD, descriptor, os.WEXITED | os.WNOHANG)
        finally:
            os.close(descriptor)

    def _is_ours(self, pid: int) -> bool:
        try:
            _soft, limit = resource.prlimit(pid, _RLIMIT_LOCKS)
            if limit != self._own_limit:
                return limit == self._token
            with open(f"/proc/{pid}/environ", "rb") as file:
                return self._mark in file.read(_MARK_WINDOW)
        except OSError:  # gone, or another user's
            return False


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


def _other_processes() -> list[int]:
    own = os.getpid()
    return [pid for name in os.listdir("/proc") if name.isdigit() and (pid := int(name)) != own]
