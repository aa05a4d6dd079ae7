"""A person at a terminal: a real process on a pty, what it shows, and what is typed."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from programs import DEADLINE, until


class Terminal:
    """`argv` on a terminal of its own; `shown` is everything that it has shown so far."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], where: Path) -> None:
        self.shown = ""
        self._fd, end = pty.openpty()
        # setsid makes the pty its controlling terminal, so that Ctrl-C and typing without echo work
        self.process = subprocess.Popen(
            ["setsid", "--ctty", "--wait", *argv], cwd=where, env=dict(environment), stdin=end, stdout=end, stderr=end
        )
        os.close(end)
        self._read_to = 0

    def sees(self, text: str) -> None:
        """Wait until `text` is shown, after what was waited for before."""

        def found() -> bool:
            self._read()
            return text in self.shown[self._read_to :] or self.process.poll() is not None

        self._wait(found, f"{text!r} on the terminal")
        assert text in self.shown[self._read_to :], self.shown
        self._read_to = self.shown.index(text, self._read_to) + len(text)

    def types(self, text: str, end: str = "\n") -> None:
        os.write(self._fd, (text + end).encode())

    def answers(self, question: str, text: str, end: str = "\n") -> None:
        """Wait for a question and type the answer."""
        self.sees(question)
        self.types(text, end)

    def ends(self) -> int:
        """Wait for the end and return the exit code."""

        def ended() -> bool:
            self._read()
            return self.process.poll() is not None

        self._wait(ended, "the end of the program")
        self._read()
        return self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._fd)

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        try:
            until(condition, what, deadline=3 * DEADLINE)
        except AssertionError as error:
            error.add_note(self.shown)
            raise

    def _read(self) -> None:
        while select.select([self._fd], [], [], 0)[0]:
            try:
                got = os.read(self._fd, 65_536)
            except OSError:  # the last process has closed it
                return
            if not got:
                return
            self.shown += got.decode("utf-8", "replace").replace("\r\n", "\n")
