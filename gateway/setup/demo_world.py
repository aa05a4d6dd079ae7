"""The demo's throw-away world: a remote, a work tree, a shared directory, a real gateway process, and two players.

Everything lies in one temporary directory that is removed at the end. The gateway and the operator's commands are
real processes of this very program; the agent is whoever writes files into the shared directory.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from executor.errors import Failed
from executor.sandbox.confinement import Confinement
from executor.sandbox.process import Completed, ProcessRunner

ANSWER_SECONDS = 60.0  # what the slowest step may take on a slow machine
_POLL_SECONDS = 0.02
_OPEN = ("received", "queued", "running")
_FILES = {
    "README.md": "# Shop\n\nA small shop.\n",
    "src/app.py": 'print("hello")\n',
    ".gitignore": "__pycache__/\n",
}


class World:
    """Given an empty directory, everything that the demo plays with."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.remote, self.work = root / "remote.git", root / "shop"
        self.shared, self.state = root / "shared", root / "state"
        self._runner = ProcessRunner(Confinement())
        self._stop = threading.Event()
        self._ended: Completed | None = None
        self._gateway = threading.Thread(target=self._serve, name="gateway")

    def build(self) -> None:
        """Make a remote with two commits, and a clone of it for the agent to work in."""
        for directory in (self.shared, self.state):
            directory.mkdir(mode=0o700)
        self.git("init", "-q", "--bare", "-b", "main", str(self.remote), at=self.root)
        self.git("clone", "-q", str(self.remote), str(self.work), at=self.root)
        for name, text in _FILES.items():
            self.write(name, text)
        self.git("checkout", "-q", "-b", "main")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "Open the shop")
        self.write("README.md", "# Shop\n\nA small shop, open all day.\n")
        self.git("commit", "-q", "-a", "-m", "Say when it is open")
        self.git("push", "-q", "-u", "origin", "main")

    def write(self, name: str, text: str) -> None:
        """The agent (or a person) writes a file in the work tree."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *args: str, at: Path | None = None) -> str:
        """A person at the host runs plain git; return what it says. Raises Failed when it fails."""
        return self._run(["/usr/bin/git", *args], at or self.work)

    def ops_gateway(self, *args: str) -> str:
        """An operator runs the command line; return what it prints. Raises Failed unless it exits with 0."""
        return self._run([sys.executable, "-m", "gateway", *args], self.root)

    def start(self) -> None:
        """Start the gateway and wait until it says that it is there."""
        self._gateway.start()
        self._until(lambda: (self.shared / "gateway.json").exists(), "the gateway to start")

    def stop(self) -> bool:
        """Tell the gateway to stop, and return whether it ended in order."""
        self._stop.set()
        if self._gateway.ident is not None:
            self._gateway.join(ANSWER_SECONDS)
        return self._ended is not None

    def raise_flag(self, name: str, text: str) -> None:
        """The agent raises a flag."""
        (self.shared / name).write_text(text)

    def received_at(self, name: str) -> str:
        """When the request was received whose answer results/NAME.json is; "" while there is none."""
        return str(self._result(name).get("received_at", ""))

    def result(self, name: str, *, before: str = "", still: tuple[str, ...] = _OPEN) -> dict[str, Any]:
        """The agent waits for results/NAME.json to be of another request than the one received at `before`.

        It waits for one in none of the states `still`. The agent's own clock would not do to tell them apart: a flag
        may be received in the very millisecond in which it was raised.
        """
        found: dict[str, Any] = {}

        def there() -> bool:
            found.clear()
            found.update(self._result(name))
            return found.get("received_at", before) != before and found["state"] not in still

        self._until(there, f"the result {name}")
        return found

    def logged(self, request_id: str, end: str) -> list[str]:
        """The agent waits until commands.log, which follows the results, tells a request's end; return all of it.

        `end` is the kind of an event, such as request.succeeded.
        """
        story: list[str] = []

        def told() -> bool:
            path = self.shared / "commands.log"
            lines = path.read_text().split("\n")[:-1] if path.exists() else []  # what follows the last end is torn
            story[:] = [line for line in lines if line.split()[2] == request_id]
            return any(line.split()[3] == end for line in story)

        self._until(told, f"{end} of {request_id} in commands.log")
        return story

    def _result(self, name: str) -> dict[str, Any]:
        path = self.shared / "results" / f"{name}.json"
        result: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return result

    def _serve(self) -> None:
        self._ended = self._runner.run(
            [sys.executable, "-m", "gateway", "run"],
            env=self._environment(),
            cwd=self.root,
            profile=None,
            deadline=3600.0,
            cancel=self._stop,
        )

    def _until(self, ready: Any, what: str) -> None:
        give_up = time.monotonic() + ANSWER_SECONDS
        while not ready():
            if self._ended is not None:
                said = self._ended.stderr.decode("utf-8", "replace")[-2000:]
                raise Failed("gateway_ended", f"The gateway ended while the demo waited for {what}:\n{said}")
            if time.monotonic() > give_up:
                raise Failed("no_answer", f"The demo waited {ANSWER_SECONDS:.0f} s for {what} in vain.")
            time.sleep(_POLL_SECONDS)

    def _run(self, argv: list[str], at: Path) -> str:
        done = self._runner.run(
            argv, env=self._environment(), cwd=at, profile=None, deadline=ANSWER_SECONDS, cancel=None
        )
        if done.exit_code != 0:
            said = (done.stdout + done.stderr).decode("utf-8", "replace")
            raise Failed("command_failed", f"{' '.join(argv[-3:])} exited with {done.exit_code}:\n{said}")
        return done.stdout.decode("utf-8", "replace")

    def _environment(self) -> dict[str, str]:
        """Nothing of a person's own configuration reaches the demo, and nothing of it leaves its directory."""
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.root),
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Olive Operator",
            "GIT_AUTHOR_EMAIL": "olive@example.com",
            "GIT_COMMITTER_NAME": "Olive Operator",
            "GIT_COMMITTER_EMAIL": "olive@example.com",
            "GATEWAY_SHARED_DIR": str(self.shared),
            "GATEWAY_REPO_DIR": str(self.work),
            "GATEWAY_STATE_DIR": str(self.state),
            "GATEWAY_HOST_NAME": "demo-host",
            "GATEWAY_UNSAFE_ALLOW_LOCAL_REMOTES": "true",
            "GATEWAY_LOG_LEVEL": "WARNING",
        }


@contextmanager
def throw_away_world() -> Iterator[World]:
    """Build a world in a temporary directory, and remove it whatever happens."""
    root = Path(tempfile.mkdtemp(prefix="ops-gateway-demo-")).resolve()
    world = World(root)
    try:
        world.build()
        yield world
    finally:
        world.stop()
        shutil.rmtree(root, ignore_errors=True)
