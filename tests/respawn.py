"""A process manager of twenty lines: `respawn.py respawn|once PROGRAM…` runs a program, again when it has ended."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from types import FrameType

kind, *argv = sys.argv[1:]
running: list[subprocess.Popen[bytes]] = []


def stop(_signal: int, _frame: FrameType | None) -> None:
    for each in running:
        each.kill()
    sys.exit(0)


signal.signal(signal.SIGTERM, stop)
while True:
    running[:] = [subprocess.Popen(argv)]
    running[0].wait()
    while kind == "once":
        signal.pause()
    time.sleep(0.1)
