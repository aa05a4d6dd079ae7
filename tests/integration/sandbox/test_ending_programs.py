"""A command ends in time and whole: nothing that it started outlives it, and nothing else is touched."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from confined_scene import processes_of, until

from executor.errors import Unavailable
from executor.sandbox import attendance
from executor.sandbox.attendance import Attendance
from executor.sandbox.confinement import Confinement
from executor.sandbox.process import Completed, ProcessRunner

# Leaves its session as a daemon does, wipes its environment, and stays.
DAEMON = "setsid env -i sleep {0} < /dev/null > /dev/null 2>&1 &"
# The same through an intermediate parent that is gone at once, with a child of its own.
DOUBLE_DAEMON = "setsid sh -c 'setsid sleep {0} & sleep {0} & exit' > /dev/null 2>&1 &"


@pytest.fixture
def runner() -> ProcessRunner:
    return ProcessRunner(Confinement())


@pytest.fixture
def span(request: pytest.FixtureRequest) -> Iterator[str]:
    """A number of seconds that names the sleeps of one test; none may be left."""
    number = f"{300 + os.getpid() % 1000}.{abs(hash(request.node.name)) % 10**9}"
    yield number
    for pid in processes_of(number):
        os.kill(pid, signal.SIGKILL)


def zombies() -> set[str]:
    """Return the dead children of this process that nobody has reaped."""
    found = set()
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit():
                state, parent = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[:2]
                found |= {name} if (state, parent) == ("Z", str(os.getpid())) else set()
    return found


def shell(runner: ProcessRunner, script: str, deadline: float = 20.0, **rest: object) -> Completed:
    return runner.run(
        ("/bin/sh", "-c", script),
        env={"PATH": "/usr/bin:/bin"},
        cwd=Path("/"),
        profile=None,
        deadline=deadline,
        **rest,  # type: ignore[arg-type]
    )


def test_c19_a_deadline_ends_a_command_whose_grandchild_holds_the_pipe(runner: ProcessRunner, span: str) -> None:
    done = shell(runner, f"echo begun; sleep {span} & wait", deadline=0.5)

    assert done.timed_out and done.exit_code == -signal.SIGTERM
    assert done.stdout == b"begun\n"
    assert processes_of(span) == []


def test_p8_a_grandchild_that_holds_the_pipe_does_not_hold_us(runner: ProcessRunner, span: str) -> None:
    done = shell(runner, f"sleep {span} & echo done")

    assert (done.exit_code, done.stdout, done.timed_out) == (0, b"done\n", False)
    assert processes_of(span) == []


def test_p8_a_command_gets_time_to_clean_up_before_it_is_killed(runner: ProcessRunner, span: str) -> None:
    done = shell(runner, f"trap 'echo tidied; exit 9' TERM; sleep {span} & wait", deadline=0.3)

    assert (done.timed_out, done.exit_code, done.stdout) == (True, 9, b"tidied\n")


def test_a_command_that_ignores_the_request_to_end_is_killed(runner: ProcessRunner, span: str) -> None:
    done = shell(runner, f"trap '' TERM; echo stubborn; sleep {span}; sleep {span}", deadline=0.3)

    assert (done.timed_out, done.exit_code, done.stdout) == (True, -signal.SIGKILL, b"stubborn\n")
    assert processes_of(span) == []


@pytest.mark.parametrize("script", [DAEMON, DOUBLE_DAEMON], ids=["own-session", "twice-removed"])
def test_a_daemon_that_left_the_session_does_not_outlive_its_command(
    runner: ProcessRunner, span: str, script: str
) -> None:
    done = shell(runner, script.format(span) + " sleep 0.2; echo done")

    assert (done.exit_code, done.stdout) == (0, b"done\n")
    assert processes_of(span) == []


def test_a_daemon_that_starts_at_once_is_born_with_the_mark(runner: ProcessRunner, span: str) -> None:
    for _ in range(20):
        shell(runner, DAEMON.format(span))

    assert processes_of(span) == []


def test_ended_descendants_leave_no_zombies(runner: ProcessRunner) -> None:
    before = zombies()
    shell(runner, "for n in 1 2 3; do setsid true & sh -c 'true & exec true' & done; sleep 0.2")

    assert zombies() <= before


def test_children_that_no_command_started_are_left_alone(runner: ProcessRunner, span: str) -> None:
    foreign = subprocess.Popen(["/bin/sleep", span])
    daemon = subprocess.run(
        ["/bin/sh", "-c", f"setsid sleep {span}1 > /dev/null 2>&1 & echo $!"], capture_output=True
    )
    adopted = int(daemon.stdout)
    try:
        assert until(lambda: len(processes_of(span)) == 2)
        shell(runner, "setsid sleep 300 & true")

        assert sorted(processes_of(span)) == sorted([foreign.pid, adopted])
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()
        os.kill(adopted, signal.SIGKILL)
        assert until(lambda: os.waitid(os.P_PID, adopted, os.WEXITED | os.WNOHANG) is not None)


def test_a_command_does_not_end_the_daemons_of_one_beside_it(runner: ProcessRunner, span: str) -> None:
    release = threading.Event()
    results: list[Completed] = []
    script = f"setsid sleep {span} > /dev/null 2>&1 & sleep 20"
    beside = threading.Thread(target=lambda: results.append(shell(runner, script, 60, cancel=release)))
    beside.start()
    try:
        assert until(lambda: processes_of(f"sleep\0{span}") != [])
        for _ in range(5):
            shell(runner, "setsid sleep 300 & true")
        assert processes_of(f"sleep\0{span}") != []
    finally:
        release.set()
        beside.join()

    assert results[0].cancelled
    assert processes_of(span) == []


def test_a_program_that_not_even_kill_ends_does_not_hold_us_for_ever(
    monkeypatch: pytest.MonkeyPatch, span: str
) -> None:
    monkeypatch.setattr(attendance, "GRACE", 0.01)
    monkeypatch.setattr(attendance, "_STUCK", 0.01)
    out_of_reach = subprocess.Popen(["/bin/sleep", span])  # in our own group: the signals go to one that is not there
    pidfd = os.pidfd_open(out_of_reach.pid)
    try:
        with pytest.raises(TimeoutError):
            Attendance(stdin=None, stdin_data=b"", outputs={}).until_exit(out_of_reach.pid, pidfd, 0.0, None)
    finally:
        os.close(pidfd)
        out_of_reach.kill()
        out_of_reach.wait()


def test_cancelling_ends_a_running_command(runner: ProcessRunner, span: str, tmp_path: Path) -> None:
    cancel = threading.Event()
    begun = tmp_path / "begun"
    timer = threading.Thread(target=lambda: (until(begun.exists), cancel.set()))
    timer.start()
    done = shell(runner, f"touch {begun}; sleep {span}", deadline=60, cancel=cancel)
    timer.join()

    assert done.cancelled and not done.timed_out
    assert done.exit_code == -signal.SIGTERM


def test_after_cancelling_nothing_is_started(runner: ProcessRunner, tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Unavailable) as caught:
        shell(runner, f"touch {tmp_path}/started", cancel=cancel)

    assert caught.value.code == "stopping"
    assert not (tmp_path / "started").exists()


def test_a_runner_that_is_itself_run_by_one_still_ends_its_daemons(runner: ProcessRunner, span: str) -> None:
    code = (
        "from pathlib import Path\n"
        "from executor.sandbox.confinement import Confinement\n"
        "from executor.sandbox.process import ProcessRunner\n"
        f"ProcessRunner(Confinement()).run(('/bin/sh', '-c', {DAEMON.format(span)!r}), env={{}}, cwd=Path('/'),"
        " profile=None, deadline=20)\n"
    )
    done = runner.run((sys.executable, "-c", code), env={}, cwd=Path("/"), profile=None, deadline=60)

    assert (done.exit_code, done.stderr) == (0, b"")
    assert processes_of(span) == []


def test_an_interrupt_in_the_middle_leaves_no_process(tmp_path: Path, span: str) -> None:
    code = (
        "import signal, threading; from pathlib import Path\n"
        "from executor.sandbox.confinement import Confinement\n"
        "from executor.sandbox.process import ProcessRunner\n"
        "runner = ProcessRunner(Confinement())\n"
        # begun after a second: the spawn itself must be over, or the interrupt comes before there is anything to end
        f"runner.run(('/bin/sh', '-c', 'sleep 1; echo > {tmp_path}/begun; sleep {span} & sleep {span}'), env={{}},"
        " cwd=Path('/'), profile=None, deadline=60)\n"
    )
    host = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    assert until((tmp_path / "begun").exists)
    assert until(lambda: len(processes_of(f"sleep\0{span}")) == 2)
    host.send_signal(signal.SIGINT)
    host.wait(timeout=20)

    assert processes_of(f"sleep\0{span}") == []
