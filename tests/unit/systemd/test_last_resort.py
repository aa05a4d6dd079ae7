"""Being gone in the end: a process that hangs while it stops is ended after its time."""

from __future__ import annotations

import subprocess
import sys

_HANGS = """
import threading
from gateway.stopping import last_resort
last_resort(0.1)
threading.Thread(target=threading.Event().wait).start()  # the interpreter would wait for it for ever
"""
_IS_DONE = """
from gateway.stopping import last_resort
last_resort(3600.0)
"""


def exit_code(program: str) -> int:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60).returncode


def test_a_process_that_hangs_is_ended_after_its_time() -> None:
    assert exit_code(_HANGS) == 1


def test_one_that_stops_by_itself_does_not_wait_for_it() -> None:
    assert exit_code(_IS_DONE) == 0
