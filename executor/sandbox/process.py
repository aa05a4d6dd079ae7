"""Running a program: the one place that starts any.

A program gets an argv (never a shell line), an environment from an allow-list, its own session, a deadline, bounded
output, and the kernel restrictions of its profile. When `run` returns, nothing that it started is alive.
"""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Failed, Problem, TimedOut, Unavailable
from executor.sandbox.attendance import Attendance, Ending
from executor.sandbox.confinement import Confinement, Profile
from executor.sandbox.descendants import Descendants, become_subreaper
from executor.sandbox.output import BoundedOutput

__all__ = ["Completed", "ProcessRunner", "become_subreaper"]

# Per process, put on right after the spawn: a preexec function would forbid vfork and is not safe among threads.
# They bound accidents (a runaway pack, a core dump of a process that held a key); confinement keeps attacks in.
MEMORY_LIMIT = 2 << 30  # bytes that one process may allocate
_LIMITS: tuple[tuple[int, int], ...] = (
    # Not RLIMIT_AS: git maps whole packs, and what is only mapped from a file takes no memory that others lack.
    (resource.RLIMIT_DATA, MEMORY_LIMIT),
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_FSIZE, 16 << 30),  # bytes in one file
    (resource.RLIMIT_NOFILE, 4096),
)


@dataclass(frozen=True, slots=True)
class Completed:
    """A program that has ended.

    `exit_code` is -N after signal N. `stdout` and `stderr` hold at most about `output_limit` bytes each; `truncated`
    says that something was left out of one of them.
    """

    argv: tuple[str, ...]
    exit_code: int
    stdout: bytes
    stderr: bytes
    truncated: bool
    timed_out: bool
    cancelled: bool = False


class ProcessRunner:
    """Runs programs one after the other or, from several threads, side by side."""

    def __init__(self, confinement: Confinement) -> None:
        self.confinement = confinement
        become_subreaper()

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        profile: Profile | None,
        stdin: bytes = b"",
        deadline: float,
        output_limit: int = 256 * 1024,
        exact: bool = False,
        cancel: threading.Event | None = None,
    ) -> Completed:
        """Run `argv` (its program an absolute path) with exactly `env` in `cwd`, and return how it ended.

        `profile` None is for the host's own trusted programs on the host's own data: they run unconfined. `deadline`
        is in seconds from now; after it, and when `cancel` is set, the program gets TERM, then KILL. `output_limit`
        bytes are kept of each stream; with `exact` a longer stdout raises Failed("output_too_large") instead.
        Raise Unavailable if the program cannot be started (or `cancel` was set before), TimedOut if it cannot even
        be killed.
        """
        argv = tuple(argv)
        if not os.path.isabs(argv[0]):
            raise ValueError(f"not an absolute path: {argv[0]!r}")
        if cancel is not None and cancel.is_set():
            raise Unavailable("stopping", "The gateway is stopping; nothing was started.", "Ask when it is back.")
        give_up = time.monotonic() + deadline
        streams = _Streams(argv[0], stdin, output_limit)
        descendants = Descendants()
        with descendants.marked():
            child = self._spawn(argv, env, cwd, profile, streams)
        try:
            descendants.hold(child.pid)
            _limit(child.pid)
            ending = _attend(child.pid, streams.attendance, give_up, cancel)
        except TimeoutError:
            raise TimedOut(
                "program_stuck", f"{argv[0]} cannot be ended.", "It hangs in the kernel: look at its storage."
            ) from None
        except OSError as error:  # no descriptor was left to watch it with; it is ended below
            raise Failed(
                "program_lost", f"{argv[0]} was ended: it could not be watched ({error.strerror})."
            ) from error
        finally:
            exit_code = descendants.end(child.pid)
            child.returncode = exit_code if exit_code is not None else -1  # it is reaped: Popen need not look
            streams.attendance.drain()
            streams.attendance.close()
        if exit_code is None:
            raise Failed("exit_code_lost", f"How {argv[0]} ended is not known: something else waited for it.")
        if exact and streams.out.truncated:
            raise _too_large(argv[0], streams.out.total, output_limit)
        return _completed(argv, exit_code, streams, ending)

    def _spawn(
        self, argv: tuple[str, ...], env: Mapping[str, str], cwd: Path, profile: Profile | None, streams: _Streams
    ) -> subprocess.Popen[bytes]:
        """Spawn the program from the thread of its profile; where that fails, leave no descriptor open."""

        def spawn() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                argv,
                stdin=streams.stdin if streams.stdin is not None else subprocess.DEVNULL,
                stdout=streams.stdout,
                stderr=streams.stderr,
                env=env,
                cwd=cwd,
                start_new_session=True,  # its own group to signal, and no terminal to ask on (C03)
            )

        try:
            return spawn() if profile is None else self.confinement.call(profile, spawn)
        except BaseException as error:
            streams.attendance.close()
            if isinstance(error, OSError):
                raise _not_started(argv[0], cwd, error) from error
            raise
        finally:
            streams.close_childs()


class _Streams:
    """The pipes of one program: its ends by name, ours in the hands of `attendance`, and what comes out of them."""

    def __init__(self, program: str, stdin_data: bytes, output_limit: int) -> None:
        self.out, self.err = BoundedOutput(output_limit), BoundedOutput(output_limit)
        opened: list[int] = []
        try:
            for _stream in range(3 if stdin_data else 2):
                opened += os.pipe2(os.O_CLOEXEC)
        except OSError as error:
            for descriptor in opened:
                os.close(descriptor)
            raise _no_room(program, error) from error
        out, self.stdout, err, self.stderr, *rest = opened
        self.stdin: int | None = None
        feed: int | None = None
        if rest:
            self.stdin, feed = rest
        self.attendance = Attendance(stdin=feed, stdin_data=stdin_data, outputs={out: self.out, err: self.err})

    def close_childs(self) -> None:
        """Close the program's ends in this process, so that their end is seen when the program closes its own."""
        for descriptor in (self.stdout, self.stderr, self.stdin):
            if descriptor is not None:
                os.close(descriptor)


def _attend(leader: int, attendance: Attendance, give_up: float, cancel: threading.Event | None) -> Ending:
    pidfd = os.pidfd_open(leader)
    try:
        return attendance.until_exit(leader, pidfd, give_up, cancel)
    finally:
        os.close(pidfd)


def _completed(argv: tuple[str, ...], exit_code: int, streams: _Streams, ending: Ending) -> Completed:
    return Completed(
        argv=argv,
        exit_code=exit_code,
        stdout=streams.out.value(),
        stderr=streams.err.value(),
        truncated=streams.out.truncated or streams.err.truncated,
        timed_out=ending is Ending.TIMED_OUT,
        cancelled=ending is Ending.CANCELLED,
    )


def _limit(pid: int) -> None:
    for kind, most in _LIMITS:
        try:
            _soft, hard = resource.prlimit(pid, kind)
            ceiling = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(pid, kind, (ceiling, ceiling))
        except (OSError, ValueError):  # it has ended, or it is another user's by now (sudo)
            return


def _too_large(program: str, total: int, limit: int) -> Failed:
    what = f"{Path(program).name} wrote {total} bytes where at most {limit} can be read."
    return Failed("output_too_large", what, "Ask for less at once.")


def _not_started(program: str, cwd: Path, error: OSError) -> Problem:
    """Return what to say when `program` could not be spawned."""
    where_wrong = error.filename is not None and os.fspath(error.filename) == os.fspath(cwd)
    if where_wrong or (error.errno in (errno.ENOENT, errno.ENOTDIR) and not cwd.is_dir()):
        return Unavailable(
            "directory_missing", f"{cwd} cannot be entered: {error.strerror}.", "Check that it exists."
        )
    if error.errno == errno.ENOENT:
        return Unavailable("program_missing", f"There is no program {program}.", "Install it, or configure its path.")
    if error.errno in (errno.EACCES, errno.EPERM):
        return Unavailable(
            "program_not_permitted",
            f"{program} may not be executed here.",
            "Check its mode; a confined program can only be one that its profile names.",
        )
    if error.errno == errno.E2BIG:
        return Failed("arguments_too_long", f"The arguments of {program} are longer than the system allows.")
    return _no_room(program, error)


def _no_room(program: str, error: OSError) -> Unavailable:
    what = f"{program} could not be started: {error.strerror}."
    return Unavailable("program_not_started", what, "Try again later.")
