"""Which kernel restrictions a program runs under, and the threads that carry them.

A Landlock domain and a seccomp filter belong to a thread and are inherited by the children it spawns. So for each
profile one thread restricts itself once and is kept; a program is spawned from the thread of its profile, which costs
a queue hand-over instead of a launcher process (docs/decisions/0003-kernel-confinement.md).
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from executor.errors import Refused, Unavailable
from executor.policy.model import Contact
from executor.sandbox import landlock, seccomp
from executor.sandbox.kernel import Kernel
from executor.sandbox.launcher import Launcher
from executor.sandbox.system import System, find_system

Result = TypeVar("Result")

UNSAFE_SETTING = "GATEWAY_UNSAFE_RUN_WITHOUT_CONFINEMENT"
_LAUNCHERS_KEPT = 48  # threads; four profiles of a dozen repositories
# Where a symbolic link is the distribution's (merged /usr, /etc/resolv.conf) and never an agent's.
_SYSTEM_TREES = tuple(
    f"{tree}/"
    for tree in ("/bin", "/etc", "/lib", "/lib64", "/sbin", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/share")
)


@dataclass(frozen=True, slots=True)
class Profile:
    """What one kind of program may touch, beyond what git itself needs to start (system.py).

    `read`, `write` and `execute` are absolute paths; a directory stands for everything below it. What is in `write`
    can be read too, and is never executable. `links` is that part of `write` in which symbolic links may be made;
    nothing can be moved from there into the rest of `write` (ABI 5 on).
    """

    contact: Contact
    read: tuple[Path, ...]
    write: tuple[Path, ...]
    execute: tuple[Path, ...]
    tcp_ports: tuple[int, ...] = ()
    sockets: bool = False
    links: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Support:
    """What the kernel can do: its Landlock ABI (0 is none), seccomp filters, and what is wrong, if anything is."""

    landlock_abi: int
    seccomp: bool
    problem: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """What is in force, for the doctor, `/status` and the start-up event."""

    confined: bool
    summary: str
    missing: tuple[str, ...]  # what a newer kernel would add


def probe(kernel: Kernel) -> Support:
    """Return what `kernel` can do, asking it."""
    try:
        abi = kernel.landlock_abi()
    except OSError as error:
        return Support(0, _has_seccomp(kernel), _why_no_landlock(error))
    if not _has_seccomp(kernel):
        return Support(abi, False, f"the kernel does not offer seccomp filters to this process on {kernel.machine}")
    return Support(abi, True, None)


def grants(profile: Profile, system: System, abi: int) -> dict[Path, landlock.Fs]:
    """Return the rights on each path that make up `profile`.

    A file must not gain rights by being moved. So where links may be made, the other writable directories get a right
    more than that one, on devices, of which they hold none: then nothing can be moved there (a hook, a setting).
    """
    apart = landlock.Fs.IOCTL_DEV if profile.links else landlock.Fs(0)
    closed = tuple(path for path in profile.write if path not in profile.links)
    result: dict[Path, landlock.Fs] = {}
    for paths, rights in (
        ((*system.read, *profile.read), landlock.READ),
        (system.write, landlock.WRITE),
        (closed, landlock.WRITE | apart),
        (profile.links, landlock.WRITE | landlock.Fs.MAKE_SYM),
        ((*system.execute, *profile.execute), landlock.EXECUTE),
    ):
        for path in paths:
            result[path] = result.get(path, landlock.Fs(0)) | rights
    return result


class Confinement:
    """Runs functions in threads that the kernel holds to a profile.

    Where the kernel cannot (`support.problem`), profiles that touch a work tree are refused, unless `unsafe` says
    to run them all the same; what is left of the restrictions is applied in any case. Safe to use from many threads.
    """

    def __init__(self, support: Support | None = None, *, unsafe: bool = False, kernel: Kernel | None = None) -> None:
        self._kernel = kernel or Kernel()
        self.support = support or probe(self._kernel)
        self.unsafe = unsafe
        self._launchers: OrderedDict[Profile, tuple[list[str], list[tuple[int, int]], Launcher]] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def system(self) -> System:
        """What git needs of this host; raises ConfigError where git is missing."""
        return find_system()

    def report(self) -> Report:
        """Return what is in force, in words."""
        support = self.support
        if support.problem is None:
            return Report(
                True,
                f"git runs confined by Landlock (ABI {support.landlock_abi}) and seccomp",
                landlock.missing(support.landlock_abi),
            )
        what = "runs git on the work tree WITHOUT confinement" if self.unsafe else "refuses work-tree operations"
        return Report(False, f"The gateway {what}: {support.problem}", ())

    def call(self, profile: Profile, function: Callable[[], Result]) -> Result:
        """Return what `function` returns (or raises) in a thread confined to `profile`.

        Raise Unavailable if the profile cannot be enforced here, Refused if one of its paths is not what it was
        configured to be (a symbolic link stands in it).
        """
        if self.support.problem is not None and not self.unsafe and profile.contact in (Contact.READ, Contact.WRITE):
            raise Unavailable(
                "confinement_unavailable",
                f"This host cannot confine git on the work tree: {self.support.problem}.",
                f"Use a kernel with Landlock. {UNSAFE_SETTING}=true runs git without it: whoever can write the work"
                " tree can then make git read and write this user's files and run programs.",
            )
        with self._lock:  # the job is queued under the lock, so a launcher is never closed between choice and use
            result = self._launcher(profile).submit(function)
        return result()

    def close(self) -> None:
        """End the threads; programs that they spawned are not touched."""
        with self._lock:
            for _paths, _identity, launcher in self._launchers.values():
                launcher.close()
            self._launchers.clear()

    def _launcher(self, profile: Profile) -> Launcher:
        entry = self._launchers.get(profile)
        if entry is not None:
            paths, identity, launcher = entry
            if _identities(paths) == identity:
                self._launchers.move_to_end(profile)
                return launcher
            launcher.close()  # a root was replaced: the old domain would deny the new one, file by file
            del self._launchers[profile]
        abi = self.support.landlock_abi
        wanted = grants(profile, self.system, abi) if abi else {}
        names = [os.fspath(path) for path in wanted]
        opened = self._open(list(wanted))
        try:
            identity = [(status.st_dev, status.st_ino) for status in map(os.fstat, opened)]
            launcher = Launcher(lambda: self._restrict(profile, list(zip(opened, wanted.values(), strict=True))))
        finally:
            for descriptor in opened:
                os.close(descriptor)
        self._launchers[profile] = (names, identity, launcher)
        if len(self._launchers) > _LAUNCHERS_KEPT:
            _oldest, (_paths, _identity, unused) = self._launchers.popitem(last=False)
            unused.close()
        return launcher

    def _open(self, paths: list[Path]) -> list[int]:
        opened: list[int] = []
        try:
            for path in paths:
                opened.append(_open_root(self._kernel, path))
        except BaseException:
            for descriptor in opened:
                os.close(descriptor)
            raise
        return opened

    def _restrict(self, profile: Profile, roots: list[tuple[int, landlock.Fs]]) -> None:
        """Restrict the calling thread for good."""
        kernel, abi = self._kernel, self.support.landlock_abi
        if abi or self.support.seccomp:
            kernel.no_new_privileges()
        if abi:
            handled = landlock.handled(abi)
            ruleset = kernel.create_ruleset(handled.attribute())
            try:
                for descriptor, rights in roots:
                    directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
                    kernel.add_path(ruleset, landlock.rule(rights, abi, directory=directory), descriptor)
                for port in profile.tcp_ports if handled.tcp else ():
                    kernel.add_port(ruleset, landlock.CONNECT_TCP, port)
                kernel.restrict(ruleset)
            finally:
                os.close(ruleset)
        if self.support.seccomp:
            wanted = seccomp.Filter(sockets=profile.sockets, truncate=abi >= 3)
            kernel.filter(seccomp.program(kernel.machine, wanted))


def _identities(paths: list[str]) -> list[tuple[int, int]] | None:
    try:
        return [(status.st_dev, status.st_ino) for status in map(os.stat, paths)]
    except OSError:
        return None


def _open_root(kernel: Kernel, path: Path) -> int:
    """Return a descriptor for a rule on `path`: the rule binds to what is opened, so it must be what was meant."""
    try:
        if os.fspath(path).startswith(_SYSTEM_TREES) and ".." not in path.parts:
            return os.open(path, os.O_PATH | os.O_CLOEXEC)
        return kernel.open_resolved(path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused(
                "path_is_link",
                f"A symbolic link stands in {path}.",
                "Configure the path that it leads to, if it is yours; otherwise someone replaced the directory.",
            ) from error
        raise Unavailable(
            "path_missing", f"{path} cannot be opened: {error.strerror}.", "Check that it exists and may be entered."
        ) from error


def _has_seccomp(kernel: Kernel) -> bool:
    try:
        kernel.seccomp_available()
    except OSError:
        return False
    return True


def _why_no_landlock(error: OSError) -> str:
    return {
        errno.ENOSYS: "the kernel has no Landlock (Linux 5.13 or newer is needed)",
        errno.EOPNOTSUPP: "Landlock is built in but not enabled (add `landlock` to the `lsm=` boot parameter)",
        errno.EPERM: "the Landlock system calls are blocked (by a container's seccomp profile, most likely)",
    }.get(error.errno or 0, f"Landlock does not answer: {error.strerror}")
