"""Files and users that agents may send against the shared directory."""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECRET = b"CANARY-SECRET-7f3a9c"


def obstacles(secret: Path) -> dict[str, Callable[[Path], None]]:
    """What may stand where a file is expected, each made by a function of its path; `secret` is a host file."""
    return {
        "link to a secret": lambda path: path.symlink_to(secret),
        "link to an endless device": lambda path: path.symlink_to("/dev/zero"),
        "dangling link": lambda path: path.symlink_to("nowhere"),
        "link to itself": lambda path: path.symlink_to(path.name),
        "link to a directory": lambda path: path.symlink_to(secret.parent),
        "hard link to a secret": lambda path: path.hardlink_to(secret),
        "named pipe": lambda path: os.mkfifo(path),
        "socket": _socket,
        "empty directory": lambda path: path.mkdir(),
        "full directory": _full_directory,
        "device": _device,
    }


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def _full_directory(path: Path) -> None:
    path.mkdir()
    (path / "inside").write_text("the agent's own")


def _device(path: Path) -> None:
    os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero


def as_user(uid: int, work: Callable[[], Any]) -> Any:
    """Run `work` in a child process as another user; return what it returned."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os.write(writer, pickle.dumps(work()))
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as answer:
        data = answer.read()
    os.waitpid(child, 0)
    return pickle.loads(data)
