"""How the host's disks, memory and clock are, judged by what the kernel says. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from executor.disk_space import floor
from executor.health.report import Finding, Level
from executor.spans import size

DISK, MEMORY, CLOCK = "disk", "memory", "clock"

_DISK_WARNS = 3  # times the floor below which nothing but reading is done
_INODES_WARN, _INODES_BAD = 0.05, 0.01  # share that is free
_MEMORY_WARN, _MEMORY_BAD = 0.10, 0.03  # share that is available
_STALLED_WARN, _STALLED_BAD = 10.0, 40.0  # % of the last minute in which nothing got on for want of memory
_CLOCK_ERROR_WARN = 1.0  # s that the kernel thinks it may be wrong


@dataclass(frozen=True, slots=True)
class Space:
    """A file system: bytes and inodes, all and free for the gateway's user. 0 inodes: it does not count them."""

    total: int
    free: int
    inodes: int
    inodes_free: int
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of memory; `stalled` is pressure/memory's `full avg60` in per cent, None where the kernel has none."""

    total: int
    available: int
    stalled: float | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """What adjtimex(2) says: whether something keeps the clock right, and how wrong it may be (s)."""

    synchronised: bool
    error_seconds: float


def judge_space(subject: str, found: Space, where: str) -> Finding:
    """Return how the file system is on which `subject` lies, at the path `where`."""
    level, what = _space(found)
    mend = "" if level is Level.GOOD else f"make room: du -xh {where} | sort -h | tail shows what takes it"
    if level is Level.BAD:
        mend += f"; with less than {size(floor(found.total))} in the state directory only what reads is run"
    if found.read_only:
        mend = "remount it for writing; dmesg says why it was turned"
    facts = {
        "total_bytes": found.total,
        "free_bytes": found.free,
        "inodes": found.inodes,
        "inodes_free": found.inodes_free,
    }
    return Finding(DISK, subject, level, what, mend, where if level is not Level.GOOD else "", facts)


def _space(found: Space) -> tuple[Level, str]:
    least = floor(found.total)
    share = found.inodes_free / found.inodes if found.inodes else 1.0
    room = f"{size(found.free)} of {size(found.total)} free"
    if found.read_only:
        return Level.BAD, "cannot be written: it is mounted read-only"
    if found.free < least:
        return Level.BAD, f"as good as full: {room}"
    if share < _INODES_BAD:
        return Level.BAD, f"no more files fit: {share:.1%} of its inodes are free"
    if found.free < _DISK_WARNS * least:
        return Level.WARNING, f"nearly full: {room}"
    if share < _INODES_WARN:
        return Level.WARNING, f"hardly more files fit: {share:.1%} of its inodes are free"
    return Level.GOOD, room


def judge_memory(found: Memory) -> Finding:
    """Return how much memory the host has left."""
    share = found.available / found.total if found.total else 0.0
    stalled = found.stalled or 0.0
    what = f"{size(found.available)} of {size(found.total)} available"
    level = Level.GOOD
    if share < _MEMORY_BAD or stalled > _STALLED_BAD:
        level = Level.BAD
    elif share < _MEMORY_WARN or stalled > _STALLED_WARN:
        level = Level.WARNING
    if stalled > _STALLED_WARN:
        what += f"; for {stalled:.0f} % of the last minute everything waited for memory"
    facts = {"total_bytes": found.total, "available_bytes": found.available, "stalled_percent": found.stalled}
    mend = "" if level is Level.GOOD else "ps --sort=-rss -eo rss,args | head shows what takes it"
    return Finding(MEMORY, "", level, what, mend, facts=facts)


def judge_clock(found: Clock) -> Finding:
    """Return whether the host's clock can be trusted: it says when approvals expire."""
    facts = {"synchronised": found.synchronised, "error_seconds": found.error_seconds}
    if not found.synchronised:
        mend = "timedatectl set-ntp true, or run chrony; a virtual machine may be kept right from outside"
        return Finding(CLOCK, "", Level.WARNING, "nothing on this host keeps it right", mend, facts=facts)
    if found.error_seconds > _CLOCK_ERROR_WARN:
        what = f"it may be wrong by {found.error_seconds:.1f} s"
        return Finding(CLOCK, "", Level.WARNING, what, "see chronyc tracking or timedatectl", facts=facts)
    return Finding(CLOCK, "", Level.GOOD, "kept right", facts=facts)


def parse_meminfo(text: str) -> dict[str, int]:
    """Given /proc/meminfo, return what its lines say, in bytes."""
    found = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdecimal():
            found[name] = int(words[0]) * (1024 if words[1:] == ["kB"] else 1)
    return found


def parse_stalled(text: str) -> float | None:
    """Given /proc/pressure/memory, return `full avg60`; None where it does not say."""
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        values = dict(pair.split("=", 1) for pair in rest.split() if "=" in pair)
        if kind == "full":
            try:
                return float(values["avg60"])
            except (KeyError, ValueError):
                return None
    return None
