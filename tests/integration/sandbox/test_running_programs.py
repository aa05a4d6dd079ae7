"""Programs get exactly what they are given, and what they say is kept within bounds."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest

from executor.errors import Failed, Refused, Unavailable
from executor.policy.model import Contact
from executor.sandbox.confinement import Confinement, Profile
from executor.sandbox.process import MEMORY_LIMIT, Completed, ProcessRunner

SH = "/bin/sh"


@pytest.fixture
def runner() -> ProcessRunner:
    return ProcessRunner(Confinement())


def shell(runner: ProcessRunner, script: str, where: Path, deadline: float = 20.0, **rest: object) -> Completed:
    return runner.run(
        (SH, "-c", script),
        env={"PATH": "/usr/bin:/bin"},
        cwd=where,
        profile=None,
        deadline=deadline,
        **rest,  # type: ignore[arg-type]
    )


def test_output_exit_code_and_directory_are_the_programs(runner: ProcessRunner, tmp_path: Path) -> None:
    done = shell(runner, "pwd; echo oops >&2; exit 3", tmp_path)

    assert (done.exit_code, done.stdout, done.stderr) == (3, f"{tmp_path}\n".encode(), b"oops\n")
    assert not (done.truncated or done.timed_out or done.cancelled)


def test_death_by_a_signal_is_a_negative_exit_code(runner: ProcessRunner, tmp_path: Path) -> None:
    assert shell(runner, "kill -9 $$", tmp_path).exit_code == -9


def test_c06_nothing_of_our_environment_is_inherited(
    runner: ProcessRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/decoy/.git")
    monkeypatch.setenv("LD_PRELOAD_DECOY", "x")
    done = runner.run(("/usr/bin/env",), env={"ONLY": "this"}, cwd=tmp_path, profile=None, deadline=20)

    names = {line.split(b"=")[0] for line in done.stdout.splitlines()}
    assert names == {b"ONLY"}


def test_a_large_environment_arrives_whole(runner: ProcessRunner, tmp_path: Path) -> None:
    env = {f"VALUE_{number}": "x" * 10_000 for number in range(100)}
    done = runner.run(("/usr/bin/env",), env=env, cwd=tmp_path, profile=None, deadline=20, output_limit=2_000_000)

    assert done.stdout.count(b"x") == 1_000_000


def test_without_input_stdin_is_at_its_end(runner: ProcessRunner, tmp_path: Path) -> None:
    assert shell(runner, "cat; echo done", tmp_path).stdout == b"done\n"


def test_a_large_input_is_fed_while_output_is_taken(runner: ProcessRunner, tmp_path: Path) -> None:
    data = os.urandom(1_000_000)

    done = shell(runner, "cat", tmp_path, stdin=data, output_limit=2_000_000)

    assert done.stdout == data


def test_a_program_that_does_not_read_its_input_is_not_waited_for(runner: ProcessRunner, tmp_path: Path) -> None:
    assert shell(runner, "exec <&-; echo no thanks", tmp_path, stdin=b"x" * 1_000_000).stdout == b"no thanks\n"


def test_c03_there_is_no_terminal_to_ask_on(runner: ProcessRunner, tmp_path: Path) -> None:
    done = shell(runner, "read answer < /dev/tty", tmp_path)

    assert done.exit_code != 0
    assert not done.timed_out


def test_c22_of_endless_output_head_and_tail_are_kept_and_memory_stays_flat(
    runner: ProcessRunner, tmp_path: Path
) -> None:
    tracemalloc.start()
    try:
        done = shell(runner, "echo first; yes | head -c 200M; echo; echo last", tmp_path, deadline=120)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert done.exit_code == 0 and done.truncated
    assert done.stdout.startswith(b"first\ny\n") and done.stdout.endswith(b"\nlast\n")
    assert b"bytes left out" in done.stdout
    assert len(done.stdout) < 300_000
    assert peak < 10_000_000


def test_c22_output_that_is_parsed_is_never_a_silently_short_list(runner: ProcessRunner, tmp_path: Path) -> None:
    with pytest.raises(Failed) as caught:
        shell(runner, "seq 100000", tmp_path, exact=True, output_limit=1000)

    assert caught.value.code == "output_too_large"
    assert shell(runner, "echo short", tmp_path, exact=True, output_limit=1000).stdout == b"short\n"


def test_both_streams_are_bounded_each_for_itself(runner: ProcessRunner, tmp_path: Path) -> None:
    done = shell(runner, "yes | head -c 5000; echo fine >&2", tmp_path, output_limit=100)

    assert done.truncated and len(done.stdout) < 200
    assert done.stderr == b"fine\n"


@pytest.mark.parametrize(
    ("program", "code"),
    [("/nonexistent/program", "program_missing"), ("/etc/passwd", "program_not_permitted")],
)
def test_a_program_that_cannot_start_is_named(runner: ProcessRunner, tmp_path: Path, program: str, code: str) -> None:
    with pytest.raises(Unavailable) as caught:
        runner.run((program,), env={}, cwd=tmp_path, profile=None, deadline=5)

    assert caught.value.code == code and program in caught.value.message


def test_a_missing_directory_is_not_taken_for_a_missing_program(runner: ProcessRunner, tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        runner.run((SH, "-c", "true"), env={}, cwd=tmp_path / "gone", profile=None, deadline=5)

    assert caught.value.code == "directory_missing"


def test_arguments_longer_than_the_system_allows_are_said_to_be(runner: ProcessRunner, tmp_path: Path) -> None:
    with pytest.raises(Failed) as caught:
        runner.run(("/bin/echo", "x" * 200_000), env={}, cwd=tmp_path, profile=None, deadline=5)

    assert caught.value.code == "arguments_too_long"


def test_a_program_is_never_looked_up_in_a_path(runner: ProcessRunner, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="absolute"):
        runner.run(("git", "status"), env={}, cwd=tmp_path, profile=None, deadline=5)


def test_a_child_has_no_core_dump_and_a_bound_on_files_and_memory(runner: ProcessRunner, tmp_path: Path) -> None:
    done = shell(runner, "sleep 0.2; ulimit -c; ulimit -n; ulimit -f; ulimit -d", tmp_path)

    core, open_files, blocks, kilobytes = done.stdout.split()
    assert core == b"0"
    assert int(open_files) <= 4096
    assert int(blocks) * 512 <= 16 << 30
    assert int(kilobytes) * 1024 <= MEMORY_LIMIT


@pytest.mark.needs("landlock")
def test_no_descriptor_of_ours_reaches_a_child_and_none_is_left_here(runner: ProcessRunner, tmp_path: Path) -> None:
    profile = Profile(Contact.READ, (tmp_path,), (), (Path(SH),))
    secret = os.open("/etc/passwd", os.O_RDONLY)
    os.set_inheritable(secret, True)
    try:
        listing = shell(runner, "ls /proc/self/fd", tmp_path).stdout.split()
        runner.run((SH, "-c", ":"), env={}, cwd=tmp_path, profile=profile, deadline=5)
        before = os.listdir("/proc/self/fd")
        for _ in range(20):
            runner.run((SH, "-c", "echo; exec true"), env={}, cwd=tmp_path, profile=profile, stdin=b"x", deadline=5)
            with pytest.raises(Unavailable):
                runner.run(("/nonexistent",), env={}, cwd=tmp_path, profile=profile, deadline=5)
        after = os.listdir("/proc/self/fd")
    finally:
        os.close(secret)

    assert set(listing) <= {b"0", b"1", b"2", b"3"}  # 3 is ls reading the directory
    assert len(after) == len(before)


@pytest.mark.parametrize("free", range(10))
def test_running_out_of_descriptors_is_named_and_leaks_none(runner: ProcessRunner, tmp_path: Path, free: int) -> None:
    before = len(os.listdir("/proc/self/fd"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    filling = [os.open(os.devnull, os.O_RDONLY) for _ in range(highest)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(filling) + 1, hard))
    try:
        for descriptor in filling[:free]:
            os.close(descriptor)
        with contextlib.suppress(Unavailable, Failed):  # and with enough of them it simply works
            shell(runner, "true", tmp_path, stdin=b"x")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in filling[free:]:
            os.close(descriptor)

    assert len(os.listdir("/proc/self/fd")) == before
    assert shell(runner, "echo again", tmp_path).stdout == b"again\n"


def test_programs_side_by_side_keep_their_outputs_apart(runner: ProcessRunner, tmp_path: Path) -> None:
    results: dict[int, bytes] = {}

    def many(number: int) -> None:
        for _ in range(10):
            results[number] = shell(runner, f"seq {number} {number + 2000} | tail -n 1", tmp_path).stdout

    threads = [threading.Thread(target=many, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == {number: b"%d\n" % (number + 2000) for number in range(8)}


@pytest.mark.needs("landlock")
def test_a_path_of_the_distribution_may_lead_through_its_links(runner: ProcessRunner, tmp_path: Path) -> None:
    profile = Profile(Contact.READ, (Path("/etc/localtime"),), (), (Path("/bin/sh"),))

    assert runner.run((SH, "-c", ":"), env={}, cwd=tmp_path, profile=profile, deadline=5).exit_code == 0
    with pytest.raises(Refused):  # but not out of it and through a link somewhere else
        detour = Path(f"/etc/..{tmp_path}/link")
        (tmp_path / "link").symlink_to("/root")
        runner.run(
            (SH, "-c", ":"), env={}, cwd=tmp_path, profile=Profile(Contact.READ, (detour,), (), ()), deadline=5
        )


@pytest.mark.needs("landlock")
def test_a_root_behind_a_symbolic_link_is_refused(runner: ProcessRunner, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/tree").mkdir()
    (tmp_path / "link").symlink_to("real")
    profile = Profile(Contact.READ, (tmp_path / "link/tree",), (), (Path(sys.executable).resolve(),))

    with pytest.raises(Refused) as caught:
        runner.run((SH, "-c", ":"), env={}, cwd=tmp_path, profile=profile, deadline=5)

    assert caught.value.code == "path_is_link"
