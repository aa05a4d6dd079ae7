"""How the command line sends word to the gateway: an empty file a message, in a directory that the gateway watches.

The decision itself is in the record by then. Word that gets lost costs a minute, or the next start.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

CONTROLS = "_controls"  # about the gateway as a whole; no request's id begins like that


def place(state: Path) -> Path:
    """Given the state directory, return the directory for word, made if need be."""
    directory = state / "word"
    directory.mkdir(mode=0o700, exist_ok=True)
    return directory


def send(state: Path, about: str) -> None:
    """Say that something was decided about the request of that id, or about the gateway (`CONTROLS`)."""
    descriptor = os.open(place(state) / about, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    os.close(descriptor)


def received(state: Path) -> list[str]:
    """Return what word was sent about, and take it away: each is returned once."""
    directory = place(state)
    names = sorted(os.listdir(directory))
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            (directory / name).unlink()
    return names
