"""What the gateway costs while nothing happens, and how long it takes to begin."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.benchmarks.chats import BotApi, chat_with_ann
from tests.benchmarks.rows import Row, ms
from tests.benchmarks.served import Gateway, configured_host, served
from tests.repos import work_tree

_STARTS = 7
_SETTLE_SECONDS = 60  # what a start leaves to be done is done by then, and the chat has heard of the flags
_IDLE_MINUTES = 3


def idle() -> list[Row]:
    """Whole minutes in which nobody wants anything, after a few flags were served; without a chat, and with one."""
    with BotApi() as api, served() as alone, served(**chat_with_ann(api)[2]) as in_chat:
        hosts = {"idle": alone, "idle in a chat": in_chat}
        for host in hosts.values():
            for number in range(20):
                host.status(f"before-{number}")
        time.sleep(_SETTLE_SECONDS)
        before = [host.gateway.cpu_alone() for host in hosts.values()]
        time.sleep(60 * _IDLE_MINUTES)
        after = [host.gateway.cpu_alone() for host in hosts.values()]
        resident = [host.gateway.resident() for host in hosts.values()]
    rows = []
    for name, begun, ended, megabytes in zip(hosts, before, after, resident, strict=True):
        used = 1000 * (ended - begun) / _IDLE_MINUTES
        rows += [
            Row(f"{name}, CPU a minute", f"{used:.1f} ms", "<= 7 ms", used <= 7, f"over {_IDLE_MINUTES} minutes"),
            Row(f"{name}, resident", f"{megabytes:.0f} MB", "<= 80 MB", megabytes <= 80, "after 20 flags"),
        ]
    return rows


def start() -> Row:
    """From the command to READY, the files of the program in the page cache."""
    with tempfile.TemporaryDirectory(prefix="ops-gateway-bench-") as directory:
        root = Path(directory)
        host = configured_host(root, work_tree(root / "shop"))
        times, cpu = [], []
        for _ in range(_STARTS):
            gateway = Gateway(host)
            times.append(gateway.to_ready)
            cpu.append(gateway.cpu())
            gateway.stop()
    beside = f"longest {1000 * max(times):.0f} ms; CPU {ms(cpu):.0f} ms"
    return Row("start to READY", f"{ms(times):.0f} ms", "<= 1500 ms", ms(times) <= 1500, beside)
