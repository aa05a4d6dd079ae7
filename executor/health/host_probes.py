"""The probes of the host itself: file systems, memory, clock. None of them needs a privilege."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from executor.config import ExecutorConfig
from executor.health import host
from executor.health.report import Finding, Level
from executor.health.run import Probe

_MEMINFO, _PRESSURE = Path("/proc/meminfo"), Path("/proc/pressure/memory")
_TIME_ERROR = 5  # <sys/timex.h>: the clock is not synchronised
_TIMEX_BYTES = 512  # the structure has 208 on 64 bits


class _Timex(ctypes.Structure):
    """The beginning of struct timex; `modes` 0 only reads."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),  # µs
        ("rest", ctypes.c_char * _TIMEX_BYTES),
    )


def host_probes(config: ExecutorConfig) -> Iterator[Probe]:
    """Yield the probes of where the gateway's files lie, of memory and of the clock."""
    places = [("shared directory", config.shared_dir), ("state directory", config.state_dir)]
    places += [(f"work tree of {each.name}", each.work_tree) for each in config.repositories]
    for subject, path in places:
        yield Probe(host.DISK, subject, partial(_space, subject, path))
    yield Probe(host.MEMORY, "", _memory)
    yield Probe(host.CLOCK, "", _clock)


def read_space(path: Path) -> host.Space:
    """Return how the file system is on which `path` lies. Raise OSError."""
    found = os.statvfs(path)
    block = found.f_frsize
    return host.Space(
        total=found.f_blocks * block,
        free=found.f_bavail * block,
        inodes=found.f_files,
        inodes_free=found.f_favail,
        read_only=bool(found.f_flag & os.ST_RDONLY),
    )


def read_clock() -> host.Clock:
    """Return what the kernel says of its clock. Raise OSError where it may not be asked."""
    libc = ctypes.CDLL(None, use_errno=True)
    read = _Timex()
    state = libc.adjtimex(ctypes.byref(read))
    if state < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return host.Clock(state != _TIME_ERROR, read.maxerror / 1e6)


def _space(subject: str, path: Path) -> Finding:
    try:
        found = read_space(path)
    except FileNotFoundError:
        return Finding(
            host.DISK, subject, Level.BAD, "is not there", f"make it again, or mount it: {path}", str(path)
        )
    return host.judge_space(subject, found, str(path))


def _memory() -> Finding:
    told = host.parse_meminfo(_MEMINFO.read_text())
    stalled = host.parse_stalled(_PRESSURE.read_text()) if _PRESSURE.exists() else None
    return host.judge_memory(host.Memory(told.get("MemTotal", 0), told.get("MemAvailable", 0), stalled))


def _clock() -> Finding:
    return host.judge_clock(read_clock())
