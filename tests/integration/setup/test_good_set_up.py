"""What is set up well is found well, and a host that cron serves reads as served."""

from __future__ import annotations

import os

import pytest
from set_up_host import SetUpHost, states

pytestmark = pytest.mark.needs("git", "landlock", "unprivileged-user")


@pytest.mark.needs("sshd")
def test_nothing_is_wrong_with_a_host_that_is_set_up_well(ssh_host: SetUpHost) -> None:
    ssh_host.ok("tick")

    found = ssh_host.doctor()

    assert states(found) == {}
    assert {"program", "clock", "mount of the shared directory", "remote of shop", "docker", "systemd"} <= set(found)
    assert "cron" in found["gateway"]["what"]


def test_a_host_that_cron_serves_reads_as_served_until_the_ticks_stay_away(host: SetUpHost) -> None:
    assert host.cli("status").returncode == 1, "nothing ever ran here"
    host.ok("tick")

    assert "`ops-gateway tick` last ended" in host.ok("status")

    long_ago = (host.state / "tick.orderly").stat().st_mtime - 600
    os.utime(host.state / "tick.orderly", (long_ago, long_ago))
    late = host.cli("status")
    assert late.returncode == 1
    assert "the last tick ended 10 min ago" in late.stdout
