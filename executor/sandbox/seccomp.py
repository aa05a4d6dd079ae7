"""The system call filter of confined programs: assembled as classic BPF. Pure; kernel.py installs it.

It closes what Landlock does not cover: sockets of every family, other ways to the same (io_uring), new namespaces,
other processes' memory, and the resource limits by which the gateway knows its own descendants. It is a deny-list on
purpose: git's own needs vary with every libc, while each line here names a way out that git never takes.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable
from dataclasses import dataclass

# Bits of <linux/audit.h>; x32 is the 32-bit-pointer ABI that shares x86-64's architecture value.
AUDIT_ARCH = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_X32_BIT = 0x4000_0000

# struct seccomp_data
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

# Classic BPF operations (<linux/bpf_common.h>)
_LOAD = 0x20  # A = data[k], 32 bits
_JUMP_IF_EQUAL = 0x15
_JUMP_IF_SET = 0x45
_RETURN = 0x06

_ALLOW = 0x7FFF_0000
_ERRNO = 0x0005_0000
_DENY = _ERRNO | errno.EPERM

# Numbers by architecture: (x86_64, aarch64); None where the call does not exist.
_CALLS: dict[str, tuple[int | None, int | None]] = {
    # Sockets. A datagram socket pair can be sent to any named socket, so pairs are sockets too.
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242),
    # Asynchronous I/O opens sockets and files past a filter.
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    # Other processes.
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
    "kcmp": (312, 272), "process_madvise": (440, 440), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    # Keys of the user's session.
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    # Namespaces and mounts.
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    # The machine.
    "bpf": (321, 280), "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "syslog": (103, 116), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, None), "ioperm": (173, None),
    "modify_ldt": (154, None), "vhangup": (153, 58), "fanotify_init": (300, 262),
    # Files by other roads than a path: Landlock does not see these.
    "open_by_handle_at": (304, 265), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    # Metadata outside the domain that Landlock does not cover and git never writes.
    "chown": (92, None), "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54), "setxattr": (188, 5),
    "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    # Limits: RLIMIT_LOCKS carries the mark of the command (descendants.py).
    "setrlimit": (160, 164),
    # Only denied where the kernel has no Landlock right for it.
    "truncate": (76, 45),
    # Looked at by argument.
    "prlimit64": (302, 261), "clone": (56, 220), "clone3": (435, 435), "ioctl": (16, 29),
}  # fmt: skip

_SOCKET_CALLS = frozenset({"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4"})
_BY_ARGUMENT = frozenset({"prlimit64", "clone", "clone3", "ioctl"})
_ALLOWED_FAMILIES = (1, 2, 10, 16)  # AF_UNIX (agent, name service), AF_INET, AF_INET6, AF_NETLINK (getaddrinfo)
_CLONE_NEW = 0x7E02_0080  # CLONE_NEWTIME|NS|CGROUP|UTS|IPC|USER|PID|NET
_TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX

_Instruction = tuple[int, int, int, int]  # operation, jump if true, jump if false, operand


@dataclass(frozen=True, slots=True)
class Filter:
    """What a filter lets through beyond the base: `sockets` for transfers, `truncate` where Landlock has it."""

    sockets: bool
    truncate: bool


def program(machine: str, wanted: Filter) -> bytes:
    """Return the BPF program for `machine` ("x86_64", "aarch64"), 8 bytes an instruction.

    Denied calls fail with EPERM, and so does every call made through a foreign architecture's entry (i386, x32).
    Raise ValueError for another machine.
    """
    column = list(AUDIT_ARCH).index(machine)
    numbers = {name: row[column] for name, row in _CALLS.items()}
    code: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_IF_EQUAL, 1, 0, AUDIT_ARCH[machine]),
        (_RETURN, 0, 0, _DENY),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        code += [(_JUMP_IF_SET, 0, 1, _X32_BIT), (_RETURN, 0, 0, _DENY)]
    for name in _denied(wanted):
        number = numbers[name]
        if number is not None:
            code += _on(number, [(_RETURN, 0, 0, _DENY)])
    for name, body in _argument_checks(wanted):
        number = numbers[name]
        assert number is not None
        code += _on(number, body)
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _denied(wanted: Filter) -> Iterable[str]:
    for name in _CALLS:
        if name in _BY_ARGUMENT or (wanted.sockets and name in _SOCKET_CALLS):
            continue
        if not (name == "truncate" and wanted.truncate):
            yield name


def _argument_checks(wanted: Filter) -> Iterable[tuple[str, list[_Instruction]]]:
    # clone3 hides its flags behind a pointer; without it libc falls back to clone, whose flags are visible.
    yield "clone3", [(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    yield "clone", [_load_argument(0), (_JUMP_IF_SET, 0, 1, _CLONE_NEW), *_deny_else_allow()]
    yield "ioctl", [_load_argument(1), *_deny_if_in(_TERMINAL_INJECTION), (_RETURN, 0, 0, _ALLOW)]
    # Reading limits is harmless, setting (a non-null third argument) is not.
    null = [(_JUMP_IF_EQUAL, 1, 0, 0), (_RETURN, 0, 0, _DENY)]
    yield "prlimit64", [_load_argument(2), *null, _load_argument(2, high=True), *null, (_RETURN, 0, 0, _ALLOW)]
    if wanted.sockets:
        families = [
            (_JUMP_IF_EQUAL, len(_ALLOWED_FAMILIES) - at, 0, family) for at, family in enumerate(_ALLOWED_FAMILIES)
        ]
        yield "socket", [_load_argument(0), *families, *_deny_else_allow()]


def _on(number: int, body: list[_Instruction]) -> list[_Instruction]:
    """Return code that runs `body`, which always returns, if the system call is `number`."""
    return [(_JUMP_IF_EQUAL, 0, len(body), number), *body]


def _load_argument(position: int, *, high: bool = False) -> _Instruction:
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * position + (4 if high else 0))  # both architectures are little-endian


def _deny_if_in(values: Iterable[int]) -> list[_Instruction]:
    return [part for value in values for part in ((_JUMP_IF_EQUAL, 0, 1, value), (_RETURN, 0, 0, _DENY))]


def _deny_else_allow() -> list[_Instruction]:
    return [(_RETURN, 0, 0, _DENY), (_RETURN, 0, 0, _ALLOW)]
