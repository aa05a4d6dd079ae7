"""When something around the gateway breaks: flags wait or are answered, none is lost, and what is wrong is said."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from other_account import become
from programs import until
from served_host import HURRIED, LAST_STATES, ServedHost, served_host

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")

DYING = str(Path(__file__).with_name("dying_gateway.py"))
SOMEBODY = 4242  # a uid that is nobody here


def troubles(host: ServedHost) -> str:
    return host.cli("status").stdout


# --- the shared directory --------------------------------------------------------------------------------------


def test_d03_a_shared_directory_that_is_replaced_while_running_is_served_with_all_that_lies_in_it(
    host: ServedHost,
) -> None:
    with host.running() as gateway:
        host.ask("git_status.before.flag")
        fresh = host.root / "fresh"
        fresh.mkdir()
        (fresh / "git_status.brought-along.flag").write_text("")
        host.shared.rename(host.root / "old")
        fresh.rename(host.shared)
        assert host.in_state("brought-along", *LAST_STATES)["state"] == "succeeded"
        assert host.ask("git_status.after.flag")["state"] == "succeeded"
        until(lambda: "request.succeeded" in host.told("after"), "the log in the new directory")
        assert host.told("before")
        shutil.rmtree(host.shared)
        gateway.says("replaced or is gone")
        host.shared.mkdir()
        assert host.ask("git_status.again.flag")["state"] == "succeeded"
        assert "Traceback" not in gateway.log


def test_a_flag_claimed_before_a_crash_is_taken_up_when_its_directory_comes_back(host: ServedHost) -> None:
    """As after a reboot, when the gateway starts before the share is mounted."""
    dying = host.start(DYING, "renamed", "early", "run")
    dying.says("READY")
    host.raise_flag("git_status.early.flag")
    dying.ends()
    away = host.root / "not mounted"
    host.shared.rename(away)
    with host.running() as gateway:
        assert len([name for name in os.listdir(away) if name.startswith(".claim.")]) == 1
        away.rename(host.shared)
        assert host.in_state("early", *LAST_STATES)["state"] == "succeeded"
        assert host.left_claimed() == []
        assert "Traceback" not in gateway.log


def test_links_that_are_put_where_the_gateway_writes_are_replaced_and_never_followed(host: ServedHost) -> None:
    victim, victims = host.root / "victim.txt", host.root / "victims"
    victim.write_text("precious\n")
    victims.mkdir()
    with host.running() as gateway:
        host.ask("git_status.before.flag")
        host.shell(
            f"rm -r results commands.log git_status.txt gateway.json; ln -s {victims} results; "
            f"for name in commands.log git_status.txt gateway.json; do ln -s {victim} $name; done"
        )
        assert host.ask("git_status.after.flag")["state"] == "succeeded"
        until(lambda: "request.succeeded" in host.told("after"), "the log made anew")
        assert host.told("before")
        host.shell(f"ln -s {victim} results/next.json; rm git_status.txt; mkdir git_status.txt")
        host.raise_flag("git_status.next.flag")
        until(lambda: not (host.shared / "results" / "next.json").is_symlink(), "a result in place of the link")
        assert host.in_state("next", *LAST_STATES)["state"] == "succeeded"
        until(lambda: (host.shared / "git_status.txt").is_file(), "the status file in place of the directory")
        assert "Traceback" not in gateway.log
    assert victim.read_text() == "precious\n"
    assert os.listdir(victims) == []
    for name in ("results", "commands.log", "git_status.txt"):
        assert not (host.shared / name).is_symlink()


# --- whose flags they are --------------------------------------------------------------------------------------


@pytest.mark.needs("unprivileged-user")
def test_flags_of_a_containers_root_are_taken_by_an_ordinary_user(open_to_all: Path) -> None:
    with served_host(open_to_all, account=SOMEBODY) as host, host.running():
        assert host.ask("git_status.of-root.flag", owner=0)["state"] == "succeeded"
        (host.tree() / "file.txt").write_text("of root\n")
        assert host.ask("git_add.of-root-too.flag", "file.txt", owner=0)["state"] == "succeeded"
        assert (host.shared / "results" / "of-root.json").stat().st_uid == SOMEBODY


@pytest.mark.needs("unprivileged-user")
def test_d06_a_flag_that_cannot_be_removed_is_never_run_and_that_is_said_once(open_to_all: Path) -> None:
    with served_host(open_to_all, account=SOMEBODY) as host, host.running(*HURRIED) as gateway:
        os.chown(host.shared, 0, 0)
        host.shared.chmod(0o1777)  # sticky: who does not own a flag cannot take it away
        refused = host.ask("git_set_config.stuck.flag", "Eve | eve@example.org", owner=0)
        assert (refused["state"], refused["error"]["code"]) == ("refused", "flag_not_removable")
        for number in range(3):  # rounds that see it again
            assert host.ask(f"git_status.round-{number}.flag", owner=SOMEBODY)["state"] == "succeeded"
        until(lambda: host.told("round-2"), "the last round in commands.log")
        assert host.told("stuck") == ["request.refused"]
        assert (host.shared / "git_set_config.stuck.flag").exists()
        assert "eve@example.org" not in host.ask("git_check.who.flag", owner=SOMEBODY)["output"]
        assert "Traceback" not in gateway.log


# --- what a killed gateway left ----------------------------------------------------------------------------------


@pytest.mark.needs("unprivileged-user")
def test_c02_a_program_of_the_agent_that_is_called_git_holds_no_lock_of_the_gateway(open_to_all: Path) -> None:
    program = shutil.copy("/bin/sleep", open_to_all / "git")
    with (
        served_host(open_to_all, account=SOMEBODY) as host,
        subprocess.Popen([*become(SOMEBODY + 1), program, "600"]) as agents,
    ):
        try:
            until(lambda: Path(f"/proc/{agents.pid}/comm").read_text() == "git\n", "the agent's program")
            lock = host.state / "repos" / "shop" / "local.git" / "index.lock"
            lock.write_bytes(b"held by a command of ops-gateway\n")
            os.chown(lock, SOMEBODY, SOMEBODY)
            with host.running():
                added = host.ask("git_add.freed.flag", ".", owner=SOMEBODY)
        finally:
            agents.kill()
    assert added["state"] == "succeeded", added
    assert "Removed an index lock" in added["output"]


# --- the disk --------------------------------------------------------------------------------------------------


@pytest.mark.needs("root")
def test_d11_g08_flags_that_come_while_the_disk_of_the_record_is_full_are_answered_when_it_is_not(
    tmp_path: Path,
) -> None:
    with host_on_small_disk(tmp_path, "state") as host, host.running(*HURRIED) as gateway:
        host.ask("git_status.before.flag")
        (host.tree() / "file.txt").write_text("while full\n")
        host.git("add", "file.txt")
        commits = host.commits()
        filler = fill(host.state)
        for number in range(5):
            host.raise_flag(f"git_status.full-{number}.flag")
        host.raise_flag("git_commit.full.flag", "While full")
        gateway.says("the disk that holds the record is nearly full")
        assert host.commits() == commits  # what cannot be audited is not done (G08)
        filler.unlink()
        assert host.in_state("full", *LAST_STATES)["state"] == "succeeded"
        for number in range(5):
            assert host.in_state(f"full-{number}", *LAST_STATES)["state"] == "succeeded"
        assert host.commits() == commits + 1
        assert host.left_claimed() == []
        assert "Traceback" not in gateway.log
        assert "whole" in host.ok("audit", "verify")


@pytest.mark.needs("root")
def test_d11_results_that_cannot_be_written_are_owed_and_written_when_there_is_room(tmp_path: Path) -> None:
    with host_on_small_disk(tmp_path, "shared") as host, host.running(*HURRIED) as gateway:
        host.ask("git_status.before.flag")
        (host.tree() / "only-now.txt").write_text("x\n")
        filler = fill(host.shared)
        (host.shared / "git_status.full.flag").write_text("")
        until(lambda: "No space left" in troubles(host), "the trouble in the status")
        filler.unlink()
        assert host.in_state("full", *LAST_STATES)["state"] == "succeeded"
        until(lambda: "only-now.txt" in (host.shared / "git_status.txt").read_text(), "the status file")
        until(lambda: "request.succeeded" in host.told("full"), "the log")
        until(lambda: "No space left" not in troubles(host), "the end of the trouble")
        assert "Traceback" not in gateway.log


# --- the clock -------------------------------------------------------------------------------------------------


@pytest.mark.needs("faketime")
def test_b06_a_clock_that_jumps_delays_no_flag_and_keeps_the_latest_result_the_latest(host: ServedHost) -> None:
    clock = host.root / "clock"
    clock.write_text("+0")
    faked = {
        "LD_PRELOAD": str(next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    with host.running(**faked) as gateway:
        for number, jump in enumerate(["+0", "-2h", "+3h", "-1h"]):
            clock.write_text(jump)
            latest = host.flagged("git_status", "touch git_status.flag")
            assert latest["state"] == "succeeded"
            assert host.ask(f"git_check.jump-{number}.flag")["state"] == "succeeded"
        assert "Traceback" not in gateway.log
    assert "whole" in host.ok("audit", "verify")


# --- hosts of other kinds --------------------------------------------------------------------------------------


def fill(directory: Path) -> Path:
    """Fill the disk that a directory lies on, and return the file to remove to make room again."""
    filler = directory / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


@contextmanager
def host_on_small_disk(root: Path, name: str) -> Iterator[ServedHost]:
    """A host whose state or shared directory lies on a file system of two megabytes."""
    place = root / name
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", str(place)], check=True)
    try:
        with served_host(root) as host:
            yield host
    finally:
        subprocess.run(["umount", str(place)], check=True)
