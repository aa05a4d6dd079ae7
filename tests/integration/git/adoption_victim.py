"""A process that adopts or releases, and kills itself at the n-th moment at which something on disk changes.

Usage: adoption_victim.py (adopt|release) ROOT WORK_TREE MOMENT [three-steps]
Prints each moment it lives through (MOMENT 0 is: live). Audit events of the interpreter are the moments, so nothing
in the product knows about this; a kernel's exchange of two names falls between two of them.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
from pathlib import Path

from executor.git import gitfile
from executor.git.adoption import adopt, plan_adoption
from executor.git.paths import RepositoryPaths
from executor.git.release import release
from executor.sandbox.confinement import Confinement
from executor.sandbox.process import ProcessRunner

CHANGING = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "subprocess.Popen")
WRITING = os.O_WRONLY | os.O_RDWR


class _NoExchange:
    """A C library on a file system that cannot exchange two names."""

    def renameat2(self, *_: object) -> int:
        ctypes.set_errno(errno.EINVAL)
        return -1


def watch(fatal: int) -> None:
    seen = 0

    def look(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING
        if event in CHANGING or writes:
            seen += 1
            if seen == fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            os.write(1, f"{event} {arguments[0]!r}\n".encode())

    sys.addaudithook(look)


def main() -> None:
    what, root, tree, moment, *more = sys.argv[1:]
    paths = RepositoryPaths("project", Path(tree), Path(root))
    runner = ProcessRunner(Confinement())
    if more:
        gitfile._libc = _NoExchange()  # type: ignore[assignment]
    if what == "adopt":
        plan = plan_adoption(paths, runner, allow_local_remote=True)
        watch(int(moment))
        adopt(plan, runner)
    else:
        watch(int(moment))
        release(paths, runner)


if __name__ == "__main__":
    main()
