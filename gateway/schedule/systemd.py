"""What systemd is told of the gateway: sd_notify(3), in the few lines that it takes.

Without `NOTIFY_SOCKET` in the environment nothing is sent, and nothing here ever raises: how the gateway is must not
depend on whether somebody listens.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Mapping, Sequence

from loguru import logger

STATUS_CHARACTERS = 400  # of the line that `systemctl status` shows
QUIET_SECONDS = 30.0  # how often the status line is looked at where no watchdog is fed


class Manager:
    """The service manager that started this process, if one did and wants to be told."""

    def __init__(self, environment: Mapping[str, str], pid: int) -> None:
        self._address = _address(environment.get("NOTIFY_SOCKET", ""))
        self._watchdog = _watchdog_seconds(environment, pid)
        self._status = ""
        self._stuck: Sequence[str] = ()

    def ready(self, status: str) -> None:
        """Say that the gateway serves, and what of it does not."""
        self._status = _line(status)
        self._send("READY=1", f"STATUS={self._status}")

    def stopping(self, seconds: float) -> None:
        """Say that it stops, and that it needs so long at most, whatever the unit's own limit is."""
        self._status = f"stopping; what runs may go on, {seconds:.0f} s at most"
        self._send("STOPPING=1", f"STATUS={self._status}", f"EXTEND_TIMEOUT_USEC={int(seconds * 1_000_000)}")

    async def attend(self, status: Callable[[], str], stuck: Callable[[], Sequence[str]]) -> None:
        """Until cancelled, keep the status line true, and feed the watchdog for as long as nothing is stuck.

        It runs on the loop, so a loop that is blocked feeds nothing (E01). `stuck` returns what does not get on, in
        words; each is logged once, and then it is systemd's turn.
        """
        if self._address is None:
            return
        while True:
            try:
                self._beat(stuck())
                self._tell(_line(status()))
            except Exception:  # noqa: BLE001 (nobody waits for this task, so nobody else would say it)
                logger.exception("how the gateway is could not be said")
            await asyncio.sleep(self._watchdog / 2 if self._watchdog else QUIET_SECONDS)

    def _beat(self, stuck: Sequence[str]) -> None:
        if stuck and stuck != self._stuck:
            logger.error("the watchdog is not fed, since this does not get on: {}", "; ".join(stuck))
        self._stuck = stuck
        if self._watchdog and not stuck:
            self._send("WATCHDOG=1")

    def _tell(self, status: str) -> None:
        if status != self._status:
            self._status = status
            self._send(f"STATUS={status}")

    def _send(self, *assignments: str) -> None:
        if self._address is None:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK) as out:
                out.sendto("\n".join(assignments).encode("utf-8", "replace"), self._address)
        except OSError as error:
            logger.warning("systemd could not be told: {}", error)


def _address(name: str) -> str | None:
    """Given `NOTIFY_SOCKET`, return the address: a path, or an abstract name, which is written with `@`."""
    if name.startswith("@"):
        return "\0" + name[1:]
    return name if name.startswith("/") else None


def _watchdog_seconds(environment: Mapping[str, str], pid: int) -> float:
    """Return within how many seconds systemd wants a sign of life from this process; 0.0 if it wants none."""
    if environment.get("WATCHDOG_PID", str(pid)) != str(pid):
        return 0.0  # meant for the process that started this one
    usec = environment.get("WATCHDOG_USEC", "")
    return int(usec) / 1_000_000 if usec.isascii() and usec.isdigit() else 0.0


def _line(text: str) -> str:
    """Return `text` as one line that is not too long."""
    line = " ".join(text.split())
    return line if len(line) <= STATUS_CHARACTERS else line[: STATUS_CHARACTERS - 1] + "…"


def service_manager() -> Manager:
    """Return what systemd, or whatever started this process, wants to be told."""
    return Manager(os.environ, os.getpid())
