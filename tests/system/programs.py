"""Programs that a test starts, waits for and ends; and waiting itself."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

DEADLINE = 40.0  # s until a wait fails: less than a minute, so that no scheduled sweep can help


def until(condition: Callable[[], Any], what: str, deadline: float = DEADLINE) -> Any:
    """Wait until `condition` holds and return what it returned; fail the test if it never does."""
    give_up = time.monotonic() + deadline
    while not (found := condition()):
        assert time.monotonic() < give_up, f"never came: {what}"
        time.sleep(0.02)
    return found


class Gateway:
    """A process of the program that writes its standard error to a file."""

    def __init__(self, argv: Sequence[str], environment: dict[str, str], root: Path) -> None:
        self._log = root / f"gateway-{time.monotonic_ns()}.log"
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                argv, cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    @property
    def log(self) -> str:
        return self._log.read_text()

    def says(self, text: str) -> None:
        """Wait until the log has `text`; fail if the process ends without."""
        until(lambda: text in self.log or self.process.poll() is not None, f"{text!r} in the log")
        assert text in self.log, self.log

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.ends()

    def ends(self) -> int:
        """Wait for the end and return the exit code."""
        return self.process.wait(timeout=DEADLINE)


def end(program: Gateway) -> None:
    if program.process.poll() is None:
        program.process.kill()
    program.process.wait()


def speaking_of(text: str) -> list[int]:
    """The living processes that have `text` in their environment or their command line."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            with suppress(OSError):
                told = Path(f"/proc/{entry}/environ").read_bytes() + Path(f"/proc/{entry}/cmdline").read_bytes()
                if text.encode() in told:
                    found.append(int(entry))
    return found
