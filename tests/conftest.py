"""What every test shares: a clean environment, skipping by the part a test needs, a directory for other users."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

# No test is judged by the clock, and CI tries the same examples each time; elsewhere they are drawn anew.
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")

# What is started in the background by a script is told to ignore Ctrl-C, and hands that on to all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

_GIT_EXEC_PATH = Path("/usr/lib/git-core")


def _landlock() -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.syscall(444, None, ctypes.c_size_t(0), 1) > 0)


def _root() -> bool:
    return os.geteuid() == 0


# Each real part: how to see that it is here, and what to install where it is not.
PARTS: dict[str, tuple[Callable[[], bool], str]] = {
    "git": (lambda: shutil.which("git") is not None, "git (Debian: git)"),
    "sshd": (
        lambda: Path("/usr/sbin/sshd").exists() and _root(),
        "OpenSSH server (Debian: openssh-server), started by root",
    ),
    "http-backend": (lambda: (_GIT_EXEC_PATH / "git-http-backend").exists(), "git http-backend (Debian: git)"),
    "landlock": (_landlock, "a kernel with Landlock (5.13 or newer, enabled)"),
    "root": (_root, "to be root (device nodes, other uids, immutable files)"),
    "unprivileged-user": (
        lambda: _root() and shutil.which("setpriv") is not None,
        "to be root with setpriv (Debian: util-linux), to become another uid",
    ),
    "laravel": (
        lambda: shutil.which("php") is not None and Path("/usr/share/php/Illuminate/Queue").exists(),
        "Laravel (Debian: php-cli php-laravel-framework php-sqlite3 php-redis php-pgsql php-mbstring php-xml)",
    ),
    "redis": (lambda: shutil.which("redis-server") is not None, "a Redis server (Debian: redis-server)"),
    "postgresql": (
        lambda: any(Path("/usr/lib/postgresql").glob("*/bin/initdb")) and _root(),
        "PostgreSQL (Debian: postgresql), started by root as another user",
    ),
    "docker-engine": (
        lambda: shutil.which("dockerd") is not None and Path("/bin/busybox").exists() and _root(),
        "a Docker engine started by root (Debian: docker.io busybox-static)",
    ),
    "systemd-nspawn": (
        lambda: shutil.which("systemd-nspawn") is not None and _root(),
        "systemd-nspawn started by root (Debian: systemd-container)",
    ),
    "supervisor": (lambda: shutil.which("supervisord") is not None, "supervisor (Debian: supervisor)"),
    "git-lfs": (lambda: shutil.which("git-lfs") is not None, "git-lfs (Debian: git-lfs)"),
    "bwrap": (lambda: shutil.which("bwrap") is not None, "bubblewrap (Debian: bubblewrap)"),
    "faketime": (
        lambda: shutil.which("faketime") is not None and any(Path("/usr/lib").glob("*/faketime/*MT.so.1")),
        "faketime (Debian: faketime)",
    ),
    "shellcheck": (lambda: shutil.which("shellcheck") is not None, "shellcheck (Debian: shellcheck)"),
    "systemd-analyze": (lambda: shutil.which("systemd-analyze") is not None, "systemd-analyze (Debian: systemd)"),
    "acl": (lambda: shutil.which("setfacl") is not None, "setfacl (Debian: acl)"),
    "strace": (lambda: shutil.which("strace") is not None, "strace (Debian: strace)"),
}


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for part in marker.args:
            present, what = PARTS[part]
            if not present():
                pytest.skip(f"needs {what}")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the person who runs the tests reaches what is tested (C06)."""
    for name in list(os.environ):
        if name.startswith(("GIT_", "GATEWAY_", "SSH_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/nonexistent/gitconfig")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Test Person")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "person@example.org")


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A directory that other users can reach, though nobody else can write it (tmp_path is closed to them)."""
    with tempfile.TemporaryDirectory(prefix="ogw-test-") as path:
        Path(path).chmod(0o755)
        yield Path(path)
