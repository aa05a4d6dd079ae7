"""How the command line tells a running gateway that something was decided: by touching a file that it watches."""

from __future__ import annotations

import os
from pathlib import Path

WAKE = "wake"  # in the state directory


def wake(state: Path) -> None:
    """Given the state directory, wake the gateway that serves it, if one runs. Without it the next minute would."""
    descriptor = os.open(state / WAKE, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    os.close(descriptor)
