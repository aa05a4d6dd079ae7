"""A host whose gateway is measured: the real process, an agent that sees each result as it comes, and bare git.

Both sides pay for what an agent would pay for: the file it writes and the result it reads here, the start of a
process and its output there.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from asyncinotify import Inotify, Mask

from tests.integration.gateway.gateway_process import ConfiguredHost
from tests.repos import work_tree

_PATIENCE = 120.0  # s for a result that never comes
_TICK = 0.001  # s between looks for READY
_LAST = frozenset({"succeeded", "failed", "refused", "denied", "timed_out", "interrupted"})


class Gateway:
    """`ops-gateway run` as a process. `to_ready` is how long it took to say READY, in seconds."""

    def __init__(self, host: ConfiguredHost) -> None:
        log = host.root / "gateway.log"
        started = time.perf_counter()
        with log.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gateway", "run"],
                cwd=host.root,
                env=host.environment(),
                stdin=subprocess.DEVNULL,
                stderr=file,
            )
        while "READY" not in log.read_text():
            if self.process.poll() is not None:
                raise RuntimeError(log.read_text())
            time.sleep(_TICK)
        self.to_ready = time.perf_counter() - started

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=60)

    def cpu(self) -> float:
        """Return the CPU seconds of the gateway and of the programs that it ran, to a hundredth."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def cpu_alone(self) -> float:
        """Return the CPU seconds of the gateway's own threads, to a nanosecond, since each began."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def resident(self) -> float:
        """Return the memory that is resident now, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


class Served:
    """A host with an adopted repository, the gateway that serves it, and the agent's eye on the results."""

    def __init__(self, root: Path, build: Callable[[Path], Path], settings: Mapping[str, str]) -> None:
        self.host = configured_host(root, build(root / "shop"))
        self.host.settings.update(settings)
        (self.host.shared / "results").mkdir()
        self._results = Inotify(sync_timeout=_PATIENCE, cache_size=512)
        self._results.add_watch(self.host.shared / "results", Mask.MOVED_TO)
        self.gateway = Gateway(self.host)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.gateway.stop()
        self._results.close()

    def raise_flag(self, name: str, body: str = "") -> None:
        """Write a flag as `echo BODY > NAME` does."""
        (self.host.shared / name).write_text(body)

    def answered(self, *request_ids: str) -> dict[str, dict[str, Any]]:
        """Wait for the last result of each request."""
        wanted, found = {f"{each}.json": each for each in request_ids}, {}
        while wanted:
            event = self._results.sync_get()
            if event is None:
                raise TimeoutError(f"no result for {len(wanted)} requests, the first is {next(iter(wanted))}")
            if (name := str(event.name)) in wanted:
                result = json.loads((self.host.shared / "results" / name).read_bytes())
                if result["state"] in _LAST:
                    found[wanted.pop(name)] = result
        return found

    def status(self, request_id: str) -> float:
        """Return the seconds from raising a `git_status` to having its result."""
        started = time.perf_counter()
        self.raise_flag(f"git_status.{request_id}.flag")
        result = self.answered(request_id)[request_id]
        took = time.perf_counter() - started
        if result["state"] != "succeeded":
            raise RuntimeError(f"{request_id}: {result}")
        return took

    def bare_status(self) -> float:
        """Return the seconds that the same takes by bare git."""
        started = time.perf_counter()
        subprocess.run(["git", "status"], cwd=self.host.work_tree, capture_output=True, check=True)
        return time.perf_counter() - started


def configured_host(root: Path, tree: Path) -> ConfiguredHost:
    """Return a host with an adopted repository, where the program that lies beside these files is run."""
    host = ConfiguredHost(root, tree)
    host.settings["PYTHONPATH"] = str(Path(__file__).parents[2])
    return host.adopted()


@contextmanager
def served(build: Callable[[Path], Path] = work_tree, **settings: str) -> Iterator[Served]:
    """A host in a directory of its own that is removed afterwards; `build` makes its work tree.

    `settings` are environment variables of its gateway, beside those that every one has.
    """
    with (
        tempfile.TemporaryDirectory(prefix="ops-gateway-bench-") as directory,
        Served(Path(directory), build, settings) as host,
    ):
        yield host


def children_cpu() -> float:
    """Return the CPU seconds of the programs that this process ran itself and has seen end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
