"""The audit log: what an event costs in a short and in a very long log, and how long a long one takes to verify."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from executor.record import audit
from executor.record.store import Store
from tests.benchmarks.rows import Row, ms

_EVENTS, _AT_ONCE = 1_000_000, 10_000
_APPENDS, _TURNS = 50, 10
_DATA = {"exit_code": 0, "verified": {"commit": "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "effect": True}}


def record() -> list[Row]:
    """An event in a transaction of its own, by turns in a short and a long log; then every event checked."""
    with tempfile.TemporaryDirectory(prefix="ops-gateway-bench-") as directory:
        short, long = (_store(Path(directory) / name) for name in ("short", "long"))
        _append(short, 1_000)
        for _ in range(_EVENTS // _AT_ONCE):
            _append(long, _AT_ONCE)
        times: dict[Store, list[float]] = {short: [], long: []}
        for _ in range(_TURNS):
            for store, found in times.items():
                found.extend(_append(store, 1) for _ in range(_APPENDS))
        started = time.perf_counter()
        verdict = audit.verify(long)
        took = time.perf_counter() - started
        if not verdict.ok:
            raise RuntimeError(f"the log does not verify: {verdict.found}")
        for store in times:
            store.close()
    few, many = ms(times[short]), ms(times[long])
    beside = f"{few:.2f} ms after 1,000 events, {many:.2f} ms after {_EVENTS:,}, each flushed to the disk"
    return [
        Row("an audit event in a long log", f"{many / few:.2f} x", "flat", many / few <= 1.25, beside),
        Row(f"verify {_EVENTS:,} events", f"{took:.1f} s", "<= 20 s", took <= 20, f"{verdict.events / took:,.0f}/s"),
    ]


def _store(directory: Path) -> Store:
    directory.mkdir()
    return Store.open(f"sqlite:///{directory / 'gateway.db'}", host="bench", key=b"k" * audit.KEY_BYTES)


def _append(store: Store, count: int) -> float:
    """Append events in one transaction, and return how many seconds it took."""
    started = time.perf_counter()
    with store.transaction() as tx:
        for number in range(count):
            tx.append("request.succeeded", f"request-{number}", _DATA)
    return time.perf_counter() - started
