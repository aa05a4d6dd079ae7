"""From flag to result: one at a time, in a large work tree, a thousand at once, and among a hundred thousand files.

What is compared runs by turns, so that whatever else the machine does hits both.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from executor.config import ExecutorConfig, RepositoryConfig
from executor.dispatch import Dispatcher
from tests.benchmarks.rows import Row, ms
from tests.benchmarks.served import Served, children_cpu, served
from tests.repos import plain_git

_WARM_UP = 20
_FLAGS = 300
_LARGE_FILES, _LARGE_FLAGS = 100_000, 15
_BURST, _BURSTS, _SHARE = 1_000, 3, 100
_JUNK, _JUNK_FLAGS = 100_000, 20


def small() -> Row:
    """One flag after the other in a small repository."""
    with served() as host:
        bare, ours, cpu = _by_turns(host, _FLAGS)
    ratio = ms(ours) / ms(bare)
    beside = f"bare {ms(bare):.1f} ms, ours {ms(ours):.1f} ms (+{ms(ours) - ms(bare):.1f}); {cpu}"
    return Row("flag to result, small repository", f"{ratio:.2f} x", "<= 2.5 x", ratio <= 2.5, beside)


def large() -> Row:
    """The same where git itself has much to do."""
    with served(large_work_tree) as host:
        bare, ours, cpu = _by_turns(host, _LARGE_FLAGS)
    ratio = ms(ours) / ms(bare)
    beside = f"bare {ms(bare):.0f} ms, ours {ms(ours):.0f} ms; {cpu}"
    return Row(f"the same, {_LARGE_FILES:,} files", f"{ratio:.2f} x", "<= 1.1 x", ratio <= 1.1, beside)


def burst() -> list[Row]:
    """A thousand flags at once against a thousand bare processes in a row: the same flag, and each another one."""
    with served() as host:
        _warm_up(host)
        return [
            _burst_row(host, "equal", f"{_BURST:,} flags at once", _same),
            _burst_row(host, "other", "the same, no two alike", _different),
        ]


def _same(name: str) -> tuple[str, str]:
    return f"git_status.{name}.flag", ""


def _different(name: str) -> tuple[str, str]:
    return f"git_cmd.{name}.flag", f"git status -- README.md {name}.txt"


def _burst_row(host: Served, kind: str, title: str, flag: Callable[[str], tuple[str, str]]) -> Row:
    bare, ours = [], []
    before, used = host.gateway.cpu(), children_cpu()
    for number in range(_BURSTS):
        half = _BURST // 2
        first = sum(host.bare_status() for _ in range(half))
        ours.append(_burst(host, [f"{kind}-{number}-{each}" for each in range(_BURST)], flag))
        bare.append(first + sum(host.bare_status() for _ in range(half)))
    cpu = _cpu(children_cpu() - used, host.gateway.cpu() - before, _BURST * _BURSTS)
    share = 100 * ms(bare) / ms(ours)
    beside = f"bare {_BURST * 1000 / ms(bare):.0f}/s, ours {_BURST * 1000 / ms(ours):.0f}/s; {cpu}"
    return Row(title, f"{share:.0f} %", ">= 70 %", share >= 70, beside)


def junk() -> list[Row]:
    """Among files that are no flags: as the events tell, and by a sweep."""
    with served() as host:
        _warm_up(host)
        started = time.perf_counter()
        for number in range(_JUNK):
            (host.host.shared / f"junk-{number:06}.txt").touch()
        beside = f"{_JUNK:,} files written in {time.perf_counter() - started:.1f} s"
        first = host.status("first")
        times = [host.status(f"junk-{number}") for number in range(_JUNK_FLAGS)]
        host.gateway.stop()
        sweeps = _sweeps(host)
    return [
        Row(
            f"flag among {_JUNK:,} files", f"{ms(times):.0f} ms", "< 1000 ms", max(times) < 1,
            f"longest {1000 * max(times):.0f} ms, right after the flood {1000 * first:.0f} ms; {beside}",
        ),
        Row("a sweep over them", f"{ms(sweeps):.0f} ms", "< 2000 ms", max(sweeps) < 2, "one flag among them"),
    ]  # fmt: skip


def large_work_tree(path: Path) -> Path:
    """Make a repository with a hundred thousand committed files, a hundred to a directory."""
    path.mkdir()
    for number in range(_LARGE_FILES):
        directory = path / f"{number // 10_000:02}" / f"{number // 100 % 100:02}"
        if number % 100 == 0:
            directory.mkdir(parents=True)
        (directory / f"{number:06}.txt").write_text("the same in each, so that adopting copies few objects\n")
    plain_git(path, "init", "-q", "-b", "main")
    plain_git(path, "config", "gc.auto", "0")
    plain_git(path, "add", ".")
    plain_git(path, "commit", "-q", "-m", "Many files")
    return path


def _by_turns(host: Served, count: int) -> tuple[list[float], list[float], str]:
    """Return the times of bare git and of ours, and what both cost in CPU time."""
    _warm_up(host, min(count, _WARM_UP))
    bare, ours = [], []
    before, used = host.gateway.cpu(), children_cpu()
    for number in range(count):
        bare.append(host.bare_status())
        ours.append(host.status(f"turn-{number}"))
    return bare, ours, _cpu(children_cpu() - used, host.gateway.cpu() - before, count)


def _warm_up(host: Served, count: int = _WARM_UP) -> None:
    for number in range(count):
        host.bare_status()
        host.status(f"warm-{number}")


def _cpu(bare: float, ours: float, count: int) -> str:
    return f"CPU bare {1000 * bare / count:.1f} ms, ours {1000 * ours / count:.1f} ms"


def _burst(host: Served, names: list[str], flag: Callable[[str], tuple[str, str]]) -> float:
    """Return how long these flags take, from the first one's raising to the last one's result."""
    started = time.perf_counter()
    for name in names:
        host.raise_flag(*flag(name))
    results = host.answered(*names)
    took = time.perf_counter() - started
    ends = [results[name]["finished_at"] for name in names]
    if ends != sorted(ends):
        raise RuntimeError("not in the order in which they were raised")
    if any(result["state"] != "succeeded" for result in results.values()):
        raise RuntimeError("not all of them succeeded")
    return took


def _sweeps(host: Served) -> list[float]:
    """Return the times of some sweeps with one flag to be found, made here as the gateway makes them."""
    times = []
    where = host.host
    repositories = (RepositoryConfig(where.work_tree.name, where.work_tree),)
    dispatcher = Dispatcher(ExecutorConfig(where.shared, where.state, repositories, host="test-host"))
    try:
        for number in range(5):
            host.raise_flag(f"git_status.sweep-{number}.flag")
            started = time.perf_counter()
            taken = dispatcher.take(settle=False)
            times.append(time.perf_counter() - started)
            if taken != 1:
                raise RuntimeError(f"the sweep took {taken} flags")
    finally:
        dispatcher.close()
    return times
