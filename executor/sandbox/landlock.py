"""What a Landlock domain may say, by kernel ABI. Pure: numbers and bytes; kernel.py makes the calls.

Source: Documentation/userspace-api/landlock.rst and include/uapi/linux/landlock.h of Linux 6.15.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntFlag


class Fs(IntFlag):
    """Rights on files and directories (LANDLOCK_ACCESS_FS_*)."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


CONNECT_TCP = 1 << 1
_BIND_AND_CONNECT_TCP = 0b11
_SCOPE_SOCKETS_AND_SIGNALS = 0b11

READ = Fs.READ_FILE | Fs.READ_DIR
EXECUTE = READ | Fs.EXECUTE
# No device nodes, FIFOs or sockets are ever made, and nothing that can be written is executed.
WRITE = READ | Fs.WRITE_FILE | Fs.TRUNCATE | Fs.REMOVE_DIR | Fs.REMOVE_FILE | Fs.MAKE_DIR | Fs.MAKE_REG | Fs.REFER
_ON_FILES = Fs.EXECUTE | Fs.WRITE_FILE | Fs.READ_FILE | Fs.TRUNCATE | Fs.IOCTL_DEV  # the rest only fits directories

LATEST_ABI = 7
# The ABI a protection came with, and what is open without it.
_CAME_WITH: tuple[tuple[int, str], ...] = (
    (2, "files cannot be moved between directories, so `git mv` and renaming a branch fail (Linux 5.19)"),
    (3, "truncating by path is stopped by the system call filter alone (Linux 6.2)"),
    (4, "TCP is not limited to the configured ports for transfers (Linux 6.7)"),
    (5, "ioctl on device files is not limited (Linux 6.10)"),
    (6, "signals to other processes of the same user are not stopped (Linux 6.12)"),
)


@dataclass(frozen=True, slots=True)
class Handled:
    """What a domain denies unless a rule grants it; what is not handled stays as it was."""

    fs: int
    tcp: int
    scopes: int

    def attribute(self) -> bytes:
        """Return `struct landlock_ruleset_attr`, as long as the ABI that these rights belong to knows it."""
        values = [self.fs]
        if self.tcp or self.scopes:
            values.append(self.tcp)
        if self.scopes:
            values.append(self.scopes)
        return struct.pack(f"={len(values)}Q", *values)


def handled(abi: int) -> Handled:
    """Return all that the kernel of `abi` (1 or more) can deny."""
    fs_bits = 13
    for came_with in (2, 3, 5):  # REFER, TRUNCATE, IOCTL_DEV: one bit each
        fs_bits += abi >= came_with
    return Handled(
        fs=(1 << fs_bits) - 1,
        tcp=_BIND_AND_CONNECT_TCP if abi >= 4 else 0,
        scopes=_SCOPE_SOCKETS_AND_SIGNALS if abi >= 6 else 0,
    )


def rule(rights: int, abi: int, *, directory: bool) -> int:
    """Return `rights` as the kernel of `abi` accepts them in a rule on a directory or on a file."""
    return rights & handled(abi).fs & (~0 if directory else _ON_FILES)


def missing(abi: int) -> tuple[str, ...]:
    """Return in words what a kernel of `abi` does not do that the latest one does."""
    return tuple(text for came_with, text in _CAME_WITH if abi < came_with)
