"""Other processes of this host, by their numbers. A number may mean another process from one moment to the next."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path


def other_processes() -> list[int]:
    """Return the numbers of all processes but this one. Raises OSError where there is no descriptor to list with."""
    own = os.getpid()
    return [pid for name in os.listdir("/proc") if name.isdigit() and (pid := int(name)) != own]


def program_of(pid: int) -> str:
    """Return the name of the program that a process runs, "" when it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def owner_of(pid: int) -> int | None:
    """Return the user id that a process acts as; None when it ended, or is in a container (another PID namespace).

    One that nobody has waited for yet is still listed, and one that is ending for a moment: neither has any memory,
    so neither can do anything any more, and the kernel lets only root see what they have open.
    """
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:
        return None
    said = {name: values.split() for name, _, values in (line.partition(":") for line in lines)}
    uids, numbers = said.get("Uid", []), said.get("NSpid", [])
    return int(uids[1]) if len(uids) > 1 and len(numbers) <= 1 and "VmSize" in said else None


def writes_to(pid: int, descriptor: str) -> bool:
    """Whether a process has opened its descriptor of this number to write. Raises OSError."""
    for line in Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "flags":
            return int(value, 8) & os.O_ACCMODE != os.O_RDONLY
    return False


def kill_if(pid: int, is_meant: Callable[[int], bool], give_up: float) -> bool:
    """Kill `pid` if it `is_meant`, wait until it is dead, and reap it if it is a child of this process.

    Waits no longer than until `give_up` (monotonic). Return whether it was meant.
    """
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not is_meant(pid):  # asked now: from here on the descriptor, not the number, says who is meant
            return False
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        poller.poll(max(0.0, give_up - time.monotonic()) * 1000)
        with contextlib.suppress(ChildProcessError):  # a grandchild comes to us when its parent is dead
            os.waitid(os.P_PIDFD, descriptor, os.WEXITED | os.WNOHANG)
        return True
    finally:
        os.close(descriptor)
