"""What native code tries from inside a domain: prints {attempt: "done" or the error's name} as JSON.

Arguments: the canary, a file of the same user outside, the gateway's pid, a Unix socket's path.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

CANARY, OUTSIDE, GATEWAY, UNIX = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"io_uring_setup": 425, "keyctl": 250, "bpf": 321, "memfd_create": 319, "add_key": 248, "clone3": 435},
    "aarch64": {"io_uring_setup": 425, "keyctl": 219, "bpf": 280, "memfd_create": 279, "add_key": 217, "clone3": 435},
}[os.uname().machine]


def call(name: str, *arguments: int | bytes) -> None:
    if libc.syscall(NUMBERS[name], *arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def c(name: str, *arguments: int | bytes | None) -> None:
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def datagram_pair() -> None:
    ours, _theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.sendto(b"x", UNIX)


ATTEMPTS: dict[str, Callable[[], object]] = {
    "read": lambda: Path(CANARY).read_text(),
    "list": lambda: os.listdir(os.path.dirname(CANARY)),
    "write": lambda: Path(OUTSIDE).write_text("x"),
    "truncate": lambda: os.truncate(OUTSIDE, 0),
    "delete": lambda: os.unlink(OUTSIDE),
    "link": lambda: os.link(CANARY, "hard"),
    "rename": lambda: os.rename(CANARY, "moved"),
    "environ": lambda: Path(f"/proc/{GATEWAY}/environ").read_bytes(),
    "memory": lambda: os.open(f"/proc/{GATEWAY}/mem", os.O_RDONLY),
    "signal": lambda: os.kill(GATEWAY, 0) or os.kill(GATEWAY, signal.SIGURG),
    "ptrace": lambda: c("ptrace", 16, GATEWAY, None, None),
    "tcp": lambda: socket.create_connection(("127.0.0.1", 9), 1),
    "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)),
    "unix": lambda: socket.socket(socket.AF_UNIX).connect(UNIX),
    "datagram pair": datagram_pair,
    "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "vsock": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM),
    "io_uring": lambda: call("io_uring_setup", 1, bytes(120)),
    "keys": lambda: call("keyctl", 0, -3, 0),
    "add key": lambda: call("add_key", b"user\0", b"x\0", b"y", 1, -3),
    "bpf": lambda: call("bpf", 0, bytes(128), 128),
    "memfd": lambda: call("memfd_create", b"x\0", 0),
    "clone3": lambda: call("clone3", bytes(88), 88),
    "user namespace": lambda: c("unshare", 0x10000000),
    "clone into a namespace": lambda: c("syscall", {"x86_64": 56, "aarch64": 220}[os.uname().machine], 0x10000011, 0),
    "mount": lambda: c("mount", b"none", b"/mnt", b"tmpfs", 0, None),
    "chroot": lambda: os.chroot("."),
    "attribute": lambda: os.setxattr(OUTSIDE, "user.x", b"x"),
    "owner": lambda: os.chown(OUTSIDE, os.getuid(), os.getgid()),
    "limit": lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    "mark": lambda: resource.setrlimit(10, (1, 1)),
    "device": lambda: os.mknod("device", 0o600 | 0o020000, os.makedev(1, 3)),
    "fifo": lambda: os.mkfifo("fifo"),
    "symlink": lambda: os.symlink("/", "symlink"),
    "execute": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "own file": lambda: Path("own").write_text("x"),
    "random": lambda: os.open("/dev/urandom", os.O_RDONLY),
    "limits read": lambda: resource.getrlimit(resource.RLIMIT_NOFILE),
    "fork": lambda: os.waitpid(os.fork() or os._exit(0), 0),  # type: ignore[func-returns-value]
}


def attempt(function: Callable[[], object]) -> str:
    try:
        function()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    except ValueError:  # what setrlimit makes of EPERM
        return "EPERM"
    return "done"


sys.stdout.write(json.dumps({name: attempt(function) for name, function in ATTEMPTS.items()}))
