"""The service as it is shipped, under a real systemd: it serves, is watched, stops in order, and is shut in."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from booted_host import UNIT, BootedHost, booted_host
from held_pushes import held_pushes
from programs import until
from remotes import ssh_remote
from repos import BRANCH, bare_remote, plain_git, work_tree

pytestmark = [pytest.mark.needs("git", "landlock", "systemd-nspawn", "sshd"), pytest.mark.timeout(600)]

SOON = "WatchdogSec=5\nRestartSec=1"  # a machine that waits less than one that nobody waits for


class Remote:
    """What the agent's repository is pushed to."""

    def __init__(self, bare: Path) -> None:
        self.bare = bare

    def tip(self) -> str:
        return plain_git(self.bare, "rev-parse", BRANCH)


@contextmanager
def serving(tmp_path: Path, drop_in: str = "") -> Iterator[tuple[BootedHost, Remote]]:
    """A machine with the service installed and a repository adopted whose remote is reached by ssh, not started yet.

    Key and host key are credentials of the service, so on disk only root can read them.
    """
    bare = bare_remote(tmp_path / "remotes" / "shop.git")
    with booted_host(tmp_path) as machine, machine.network(), ssh_remote(tmp_path / "ssh", bare.parent) as remote:
        tree = work_tree(machine.tree)
        plain_git(tree, "remote", "add", "origin", str(bare))
        plain_git(tree, "push", "-q", "-u", "origin", BRANCH)
        plain_git(tree, "remote", "set-url", "origin", remote.url("shop.git"))
        plain_git(tree, "config", "user.name", "Agent Smith")
        plain_git(tree, "config", "user.email", "agent@example.org")
        machine.share(tree)
        machine.install(drop_in)
        machine.write("/etc/ops-gateway/credentials/SSH_KEY", remote.key.read_text(), 0o600)
        machine.write("/etc/ops-gateway/credentials/KNOWN_HOSTS", remote.known_hosts.read_text(), 0o600)
        machine.gateway("adopt", "shop", "--yes")
        yield machine, Remote(bare)


def done(machine: BootedHost, flag: str, body: str = "") -> dict[str, Any]:
    """Raise a flag `OP.ID.flag` that must succeed, and return its result."""
    machine.raise_flag(flag, body)
    found = machine.in_state(flag.split(".")[1], "succeeded", "failed", "refused", "timed_out", "interrupted")
    assert found["state"] == "succeeded", f"{found}\n{machine.journal()}"
    return found


def change(machine: BootedHost, text: str) -> None:
    """Edit, add and commit by flags."""
    (machine.tree / "file.txt").write_text(text)
    done(machine, f"git_add.add-{text}.flag", "file.txt")
    done(machine, f"git_commit.commit-{text}.flag", f"Say {text}")


def test_e03_it_gets_ready_and_pushes_by_ssh_with_a_key_that_it_has_as_a_credential(tmp_path: Path) -> None:
    with serving(tmp_path) as (machine, remote), held_pushes(remote.bare) as pushes:
        process = machine.start()
        assert machine.shows("StatusText") == "serving shop"
        before = remote.tip()
        change(machine, "one")
        machine.raise_flag("git_push.p1.flag", BRANCH)
        pushes.begun()
        assert deepest_filters(machine, process) > filters(
            machine, process
        )  # git is confined within the unit's filter
        pushes.let_go()
        pushed = machine.in_state("p1", "succeeded", "failed", "refused", "timed_out")
        assert pushed["verified"]["effect"] is True, (pushed, machine.journal())
        assert remote.tip() != before
        health = json.loads(machine.run("cat", "/var/lib/ops-gateway/health.json"))
        assert health["confined"] is True
        assert "Landlock" in health["confinement"]
        assert "Traceback" not in machine.journal()


def filters(machine: BootedHost, process: int) -> int:
    """How many seccomp filters a process of the machine has on it."""
    status = machine.run("cat", f"/proc/{process}/status")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("Seccomp_filters")))


def deepest_filters(machine: BootedHost, process: int) -> int:
    """The most that one of the processes that it started has."""
    children = machine.run("pgrep", "-P", str(process)).split()
    return max(filters(machine, int(child)) for child in children)


def test_e01_a_wedged_process_is_killed_by_the_watchdog_and_comes_back_with_nothing_lost(tmp_path: Path) -> None:
    with serving(tmp_path, SOON) as (machine, _remote):
        first = machine.start()
        machine.raise_flag("git_cmd.tag.flag", "git tag v1")
        machine.in_state("tag", "awaiting_approval")
        machine.run("kill", "-STOP", str(first))
        machine.raise_flag("git_status.while-wedged.flag")
        assert machine.in_state("while-wedged", "succeeded")["state"] == "succeeded"
        assert machine.shows("MainPID") != str(first)
        assert int(machine.shows("NRestarts")) >= 1
        assert "watchdog" in machine.journal().lower()
        assert machine.result("tag")["state"] == "awaiting_approval"
        machine.gateway("approve", "tag")
        machine.in_state("tag", "succeeded")
        log = (machine.shared / "commands.log").read_text()
        assert log.count("while-wedged request.queued") == 1
        assert "whole" in machine.gateway("audit", "verify")


def test_e05_stopped_in_the_middle_of_a_push_it_lets_the_push_end_longer_than_the_unit_would(tmp_path: Path) -> None:
    with serving(tmp_path, "TimeoutStopSec=1") as (machine, remote), held_pushes(remote.bare) as pushes:
        machine.start()
        change(machine, "two")
        machine.raise_flag("git_push.p1.flag", BRANCH)
        pushes.begun()
        machine.run("systemctl", "stop", "--no-block", UNIT)
        until(lambda: machine.shows("StatusText").startswith("stopping"), "that it is stopping")
        end_of_the_units_own = time.monotonic() + 3.0
        until(lambda: time.monotonic() > end_of_the_units_own, "the time that the unit gives")
        assert machine.shows("ActiveState") == "deactivating"
        pushes.let_go()
        machine.wait_for("ActiveState", "inactive", "failed")
        assert (machine.shows("Result"), machine.shows("ExecMainStatus")) == ("success", "0"), machine.journal()
        assert machine.result("p1")["state"] == "succeeded"
        assert remote.tip() == plain_git(remote.bare, "rev-parse", BRANCH)
        assert machine.attempt("pgrep", "-u", "ops-gateway").stdout == ""


def test_it_can_write_its_state_and_what_it_serves_and_nothing_else(tmp_path: Path) -> None:
    with serving(tmp_path) as (machine, _remote):
        machine.write("/home/somebody/secret", "x")
        machine.write("/tmp/of-the-host", "x")
        inside = ("nsenter", "-t", str(machine.start()), "-m")
        for place in ("/", "/etc", "/usr", "/opt/ops-gateway", "/etc/ops-gateway", "/srv", "/srv/agent", "/var/lib"):
            refused = machine.attempt(*inside, "touch", f"{place}/planted")
            assert "Read-only file system" in refused.stderr, place
        for place in ("/var/lib/ops-gateway", "/srv/agent/shared", "/srv/agent/shop", "/tmp"):
            machine.run(*inside, "touch", f"{place}/written")
        assert machine.run(*inside, "ls", "/home", "/root").split() == ["/home:", "/root:"]
        assert "of-the-host" not in machine.run(*inside, "ls", "/tmp")


def test_e10_a_configuration_that_cannot_be_used_is_one_failed_start_and_no_loop(tmp_path: Path) -> None:
    with serving(tmp_path) as (machine, _remote):
        settings = machine.path("/etc/ops-gateway/gateway.env")
        settings.write_text(settings.read_text() + "GATEWAY_QUORUM=many\n")
        machine.run("systemctl", "start", "--no-block", UNIT)
        machine.wait_for("ActiveState", "failed")
        assert (machine.shows("ExecMainStatus"), machine.shows("NRestarts")) == ("78", "0")
        assert machine.journal().count("GATEWAY_QUORUM: entry 1") == 1


def test_a_repository_that_is_not_adopted_keeps_nothing_from_getting_ready_and_is_in_the_status(
    tmp_path: Path,
) -> None:
    with serving(tmp_path) as (machine, _remote):
        machine.gateway("release", "shop")
        machine.start()
        assert "ops-gateway adopt" in machine.shows("StatusText")
        assert machine.journal().count("has not been adopted") == 1
