"""A configured host for tests: directories, an adopted repository, and the gateway as a real process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from executor.sandbox.leftovers import end_leftovers

DEADLINE = 40.0  # seconds until a test gives up; less than a minute, so that no scheduled sweep can help


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait until `condition` holds and return what it returned; fail the test if it never does."""
    give_up = time.monotonic() + DEADLINE
    while not (found := condition()):
        assert time.monotonic() < give_up, f"never came: {what}"
        time.sleep(0.02)
    return found


class ConfiguredHost:
    """Directories and settings of a host; `adopted` has the repository taken into its keeping."""

    def __init__(self, root: Path, work_tree: Path) -> None:
        self.root, self.work_tree = root, work_tree
        self.shared, self.state = root / "shared", root / "state"
        self.shared.mkdir(mode=0o777)
        self.settings = {
            "GATEWAY_SHARED_DIR": str(self.shared),
            "GATEWAY_REPO_DIR": str(work_tree),
            "GATEWAY_STATE_DIR": str(self.state),
            "GATEWAY_HOST_NAME": "test-host",
        }

    def adopted(self) -> Self:
        done = self.cli("adopt", "--yes")
        assert done.returncode == 0, done.stderr
        return self

    def environment(self, **more: str) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.root), **self.settings, **more}

    def cli(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gateway", *words],
            cwd=self.root,
            env=self.environment(**settings),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def raise_flag(self, name: str, body: str = "") -> None:
        """Write a flag as an agent does: under another name, then renamed."""
        draft = self.shared / f"{name}.draft"
        draft.write_text(body)
        draft.rename(self.shared / name)

    def result(self, request_id: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.shared / "results" / f"{request_id}.json").read_text())
        except FileNotFoundError:
            return {}
        return found

    def in_state(self, request_id: str, *states: str) -> dict[str, Any]:
        """Wait until the result of a request says one of `states`, and return it."""
        found: dict[str, Any] = until(
            lambda: (seen := self.result(request_id)).get("state") in states and seen, f"{request_id} in {states}"
        )
        return found


class Gateway:
    """`ops-gateway run` as a process; `log` is what it wrote to standard error so far."""

    def __init__(self, host: ConfiguredHost, program: str, settings: dict[str, str]) -> None:
        self._log = host.root / f"gateway-{time.monotonic_ns()}.log"
        arguments = ["-c", program, "run"] if program else ["-m", "gateway", "run"]
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=host.root,
                env=host.environment(**settings),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def log(self) -> str:
        return self._log.read_text()

    def ready(self) -> None:
        until(lambda: "READY" in self.log or self.process.poll() is not None, "READY")
        assert self.process.poll() is None, self.log

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=DEADLINE)


@contextmanager
def running(host: ConfiguredHost, program: str = "", **settings: str) -> Iterator[Gateway]:
    """A gateway that is ready. `program` is Python to run in place of the command; it ends with calling it."""
    gateway = Gateway(host, program, settings)
    try:
        gateway.ready()
        yield gateway
    finally:
        if gateway.process.poll() is None:
            gateway.process.kill()
            gateway.process.wait()
            end_leftovers(host.state / "repos")  # a git that hangs would outlive the tests, and seem to hold locks


def children(pid: int, word: str) -> list[int]:
    """Return the processes that descend from `pid` directly and have `word` in their command line."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1]
                words = Path(f"/proc/{entry}/cmdline").read_bytes().decode().split("\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(parent) == pid and word in words:
                found.append(int(entry))
    return found
