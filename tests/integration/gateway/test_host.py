"""The gateway as a real process: it starts, takes, hears, and ends in order."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess

import pytest
from gateway_process import ConfiguredHost, children, running, until

pytestmark = pytest.mark.needs("git", "landlock")


def test_a_flag_is_answered_as_it_arrives_and_the_gateway_ends_in_order(host: ConfiguredHost) -> None:
    with running(host) as gateway:
        host.raise_flag("git_status.a1.flag")
        assert host.in_state("a1", "succeeded", "failed")["state"] == "succeeded"
        assert gateway.stop() == 0
        assert gateway.log.rstrip().endswith("stopped")
        assert "Traceback" not in gateway.log
    assert host.cli("status").returncode == 1


def test_flags_that_were_raised_before_the_start_are_taken_at_the_start(host: ConfiguredHost) -> None:
    for number in range(5):
        host.raise_flag(f"git_status.early-{number}.flag")
    with running(host):
        for number in range(5):
            host.in_state(f"early-{number}", "succeeded")


def test_a_second_gateway_is_refused_and_the_first_goes_on(host: ConfiguredHost) -> None:
    with running(host) as gateway:
        second = host.cli("run")
        assert second.returncode == 1
        assert f"process {gateway.process.pid}, serves this state directory already" in second.stderr
        tick = host.cli("tick")
        assert tick.returncode == 0
        assert "nothing to do" in tick.stderr
        host.raise_flag("git_status.a1.flag")
        host.in_state("a1", "succeeded")


def test_an_approval_by_command_line_starts_the_operation_at_once(host: ConfiguredHost) -> None:
    with running(host):
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        host.in_state("tag-1", "awaiting_approval")
        assert "git tag v9" in host.cli("pending").stdout
        assert host.cli("approve", "tag-1").returncode == 0
        host.in_state("tag-1", "succeeded")


def test_a_denial_by_command_line_reaches_the_agent_at_once_with_its_reason(host: ConfiguredHost) -> None:
    with running(host):
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        host.in_state("tag-1", "awaiting_approval")
        assert host.cli("deny", "tag-1", "--reason", "not before Monday").returncode == 0
        assert host.in_state("tag-1", "denied")["approval"]["reason"] == "not before Monday"


def test_what_awaits_approval_is_taken_back_by_command_line_once(host: ConfiguredHost) -> None:
    with running(host):
        host.raise_flag("git_cmd.tag-1.flag", "git tag v9")
        host.in_state("tag-1", "awaiting_approval")
        assert host.cli("withdraw", "tag-1", "--reason", "not today").returncode == 0
        assert host.in_state("tag-1", "withdrawn")["approval"]["reason"] == "not today"
        assert host.cli("withdraw", "tag-1").returncode == 1
        assert host.cli("withdraw", "nobody").returncode == 1


def test_a_queue_behind_something_that_hangs_is_emptied_by_command_line(host: ConfiguredHost) -> None:
    os.mkfifo(host.work_tree / ".gitignore")
    with running(host, GATEWAY_STOP_GRACE_SECONDS="0") as gateway:
        host.raise_flag("git_add.hangs.flag", ".")
        until(lambda: children(gateway.process.pid, "ls-files"), "git at work")
        host.raise_flag("git_commit.behind.flag", "Never")
        host.in_state("behind", "queued")
        assert host.cli("withdraw", "--queued", "--reason", "it hangs").returncode == 0
        assert "it hangs" in host.in_state("behind", "withdrawn")["error"]["message"]
        assert host.result("hangs")["state"] == "running"


def test_a_freeze_holds_for_the_running_gateway_and_reading_goes_on(host: ConfiguredHost) -> None:
    with running(host):
        assert host.cli("freeze", "deploying").returncode == 0
        host.raise_flag("git_commit.c1.flag", "message")
        host.raise_flag("git_status.s1.flag")
        assert host.in_state("c1", "refused")["error"]["code"] == "frozen"
        host.in_state("s1", "succeeded")
        until(lambda: "deploying" in (host.shared / "gateway.json").read_text(), "the freeze in gateway.json")


def test_d03_a_shared_directory_that_is_made_anew_is_served_again(host: ConfiguredHost) -> None:
    with running(host) as gateway:
        shutil.rmtree(host.shared)
        until(lambda: "replaced or is gone" in gateway.log, "the loss in the log")
        host.shared.mkdir()
        host.raise_flag("git_status.a1.flag")
        host.in_state("a1", "succeeded")


NO_INOTIFY = """
import sys
from gateway.schedule import heartbeat, watch
def unavailable(**_):
    raise OSError(24, "Too many open files")
watch.Inotify = unavailable
heartbeat.PERIODS["sweep"] = 0.5
from gateway.cli import main
sys.exit(main())
"""


def test_d01_without_inotify_every_flag_is_found_by_the_sweep_and_that_is_said_once(host: ConfiguredHost) -> None:
    with running(host, NO_INOTIFY) as gateway:
        for number in range(3):
            host.raise_flag(f"git_status.a{number}.flag")
            host.in_state(f"a{number}", "succeeded")
        assert gateway.log.count("inotify is not available") == 1


HANGS = ".gitignore"  # a FIFO of this name: git waits for somebody to write into it


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_p5_stopping_gives_a_running_operation_its_grace_and_then_ends_it(
    signal_number: int, host: ConfiguredHost
) -> None:
    os.mkfifo(host.work_tree / HANGS)
    with running(host, GATEWAY_STOP_GRACE_SECONDS="0", GATEWAY_DEADLINE_SECONDS="600") as gateway:
        host.raise_flag("git_add.long.flag", ".")
        host.raise_flag("git_status.next.flag")
        host.in_state("long", "running")
        until(lambda: children(gateway.process.pid, "ls-files"), "git at work")
        assert gateway.stop(signal_number) == 0
        assert "still running after 0 s" in gateway.log
    assert host.result("long")["state"] == "interrupted"
    assert host.result("next")["state"] == "queued"


def test_b03_claims_and_decisions_do_not_wait_for_a_running_git(host: ConfiguredHost) -> None:
    os.mkfifo(host.work_tree / HANGS)
    with running(host, GATEWAY_STOP_GRACE_SECONDS="0", GATEWAY_DEADLINE_SECONDS="600"):
        host.raise_flag("git_add.long.flag", ".")
        host.in_state("long", "running")
        host.raise_flag("git_cmd.no.flag", "git config alias.x '!id'")
        host.raise_flag("git_status.next.flag")
        host.in_state("no", "refused")
        host.in_state("next", "queued")
        assert host.result("long")["state"] == "running"


def test_a_second_signal_ends_the_gateway_at_once_and_the_next_start_says_what_became_of_it(
    host: ConfiguredHost,
) -> None:
    os.mkfifo(host.work_tree / HANGS)
    with running(host, GATEWAY_STOP_GRACE_SECONDS="600", GATEWAY_DEADLINE_SECONDS="600") as gateway:
        host.raise_flag("git_add.long.flag", ".")
        host.in_state("long", "running")
        left = until(lambda: children(gateway.process.pid, "ls-files"), "git at work")
        gateway.process.send_signal(signal.SIGTERM)
        until(lambda: "stopping" in gateway.log, "the first signal in the log")
        assert gateway.stop() == -signal.SIGTERM
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    (host.work_tree / HANGS).unlink()
    with running(host):
        host.in_state("long", "interrupted")
        host.raise_flag("git_status.a1.flag")
        host.in_state("a1", "succeeded")


def test_a_tick_does_one_round_and_ends(host: ConfiguredHost) -> None:
    host.raise_flag("git_commit.c1.flag", "nothing to commit")
    host.raise_flag("git_status.s1.flag")

    def ticked() -> bool:
        """A flag that was raised within the last second is left for the next tick."""
        done = host.cli("tick")
        assert done.returncode == 0, done.stderr
        return bool(host.result("s1"))

    until(ticked, "a tick that takes the flags")
    assert host.result("s1")["state"] == "succeeded"
    assert host.result("c1")["state"] in ("succeeded", "failed")
    assert (host.shared / "gateway.json").exists()


def test_the_shared_directory_may_be_missing_at_the_start(host: ConfiguredHost) -> None:
    shutil.rmtree(host.shared)
    with running(host) as gateway:
        host.shared.mkdir()
        host.raise_flag("git_status.a1.flag")
        host.in_state("a1", "succeeded")
        assert "Traceback" not in gateway.log


def test_a25_no_secret_of_the_settings_is_in_the_log(host: ConfiguredHost) -> None:
    host.raise_flag("git_cmd.x1.flag", "git log ghp_" + "a1B2" * 9)
    with running(host, GATEWAY_LOG_LEVEL="DEBUG") as gateway:
        host.in_state("x1", "succeeded", "failed", "refused")
        gateway.stop()
        assert "ghp_a1B2" not in gateway.log


def test_the_gateway_leaves_no_process_behind(host: ConfiguredHost) -> None:
    with running(host) as gateway:
        host.raise_flag("git_status.a1.flag")
        host.in_state("a1", "succeeded")
        gateway.stop()
    seen = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(host.state) not in seen
