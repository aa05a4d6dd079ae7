"""The few system calls that Python has no words for. Thin: no decision is made here."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from pathlib import Path

# The same numbers on every architecture (they are newer than the unified table).
_OPENAT2 = 437
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_SECCOMP = {"x86_64": 317, "aarch64": 277}

_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_GET_ACTION_AVAIL = 2
_SECCOMP_RET_ERRNO = 0x0005_0000
_LANDLOCK_VERSION = 1  # flag: "tell me the ABI"
_RULE_PATH_BENEATH = 1
_RULE_NET_PORT = 2
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_AT_FDCWD = -100


class _SockFprog(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


class Kernel:
    """The running kernel. Every method raises OSError with the kernel's errno where the call fails.

    What restricts (`no_new_privileges`, `restrict`, `filter`) holds for the calling thread and the children it
    spawns, and can never be taken back.
    """

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.machine = platform.machine()

    def landlock_abi(self) -> int:
        return self._call(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)

    def create_ruleset(self, attribute: bytes) -> int:
        return self._call(_LANDLOCK_CREATE_RULESET, attribute, ctypes.c_size_t(len(attribute)), 0)

    def add_path(self, ruleset: int, rights: int, path_fd: int) -> None:
        self._call(_LANDLOCK_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", rights, path_fd), 0)

    def add_port(self, ruleset: int, rights: int, port: int) -> None:
        self._call(_LANDLOCK_ADD_RULE, ruleset, _RULE_NET_PORT, struct.pack("=QQ", rights, port), 0)

    def restrict(self, ruleset: int) -> None:
        self._call(_LANDLOCK_RESTRICT_SELF, ruleset, 0)

    def no_new_privileges(self) -> None:
        self._prctl(_PR_SET_NO_NEW_PRIVS, 1)

    def become_subreaper(self) -> None:
        self._prctl(_PR_SET_CHILD_SUBREAPER, 1)

    def seccomp_available(self) -> None:
        """Raise OSError if the kernel has no seccomp filters."""
        action = ctypes.c_uint32(_SECCOMP_RET_ERRNO)
        self._call(self._seccomp_number(), _SECCOMP_GET_ACTION_AVAIL, 0, ctypes.byref(action))

    def filter(self, program: bytes) -> None:
        """Install the BPF `program`, 8 bytes an instruction, on this thread alone (no TSYNC)."""
        prog = _SockFprog(len(program) // 8, program)
        self._call(self._seccomp_number(), _SECCOMP_SET_MODE_FILTER, 0, ctypes.byref(prog))

    def open_resolved(self, path: Path) -> int:
        """Return an O_PATH descriptor of `path`; a symbolic link anywhere in it raises OSError(ELOOP)."""
        how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC, 0, _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS)
        return self._call(_OPENAT2, _AT_FDCWD, os.fsencode(path), how, ctypes.c_size_t(len(how)))

    def _seccomp_number(self) -> int:
        try:
            return _SECCOMP[self.machine]
        except KeyError:
            raise OSError(errno.ENOSYS, f"no system call table for {self.machine}") from None

    def _call(self, number: int, *arguments: object) -> int:
        result = int(self._libc.syscall(ctypes.c_long(number), *arguments))
        if result < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        return result

    def _prctl(self, option: int, value: int) -> None:
        zero = ctypes.c_ulong(0)
        if self._libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
