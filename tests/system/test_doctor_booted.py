"""The doctor on a machine that systemd booted: it sees the unit as it is, and its mends mend it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from booted_host import ACCOUNT, GROUP, UNIT, BootedHost, booted_host
from repos import work_tree

pytestmark = [pytest.mark.needs("git", "landlock", "systemd-nspawn"), pytest.mark.timeout(600)]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[BootedHost]:
    """A machine with the service installed, an adopted repository, and nothing started."""
    with booted_host(tmp_path) as machine:
        work_tree(machine.tree)
        machine.share(machine.tree)
        machine.install()
        machine.gateway("adopt", "--yes")
        yield machine


def doctor(machine: BootedHost) -> dict[str, dict[str, str]]:
    """What the gateway's account is told, by name."""
    become = ("setpriv", "--reuid", str(ACCOUNT), "--regid", str(ACCOUNT), "--groups", str(GROUP))
    settings = {"GATEWAY_ENV_FILE": "/etc/ops-gateway/gateway.env", "GATEWAY_STATE_DIR": "/var/lib/ops-gateway"}
    done = machine.attempt(*become, "/opt/ops-gateway/venv/bin/ops-gateway", "doctor", "--json", env=settings)
    assert done.stdout, done.stderr
    return {check["name"]: check for check in json.loads(done.stdout)}


def paste(machine: BootedHost, command: str) -> None:
    machine.run("/bin/sh", "-c", command.removeprefix("sudo "))


def test_the_units_state_is_told_and_what_is_named_mends_it(machine: BootedHost) -> None:
    found = doctor(machine)
    assert found["unit"]["state"] == "warn"
    assert found["unit at boot"]["state"] == "warn"
    for check in ("unit", "unit at boot"):
        paste(machine, found[check]["command"])

    found = doctor(machine)

    assert found["unit"]["state"] == "ok"
    assert "unit at boot" not in found
    assert not {"unit's user", "unit's watchdog", "unit's file"} & set(found), "the unit that we ship is good"
    assert found["gateway"]["state"] == "ok"

    machine.write(f"/etc/systemd/system/{UNIT}.d/30-changed.conf", "[Service]\nUser=root\n")
    changed = doctor(machine)["unit's file"]
    assert changed["state"] == "warn"
    paste(machine, changed["command"])
    assert doctor(machine)["unit's user"]["state"] == "fail"
