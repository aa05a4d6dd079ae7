"""The doctor on a machine that systemd booted: it sees the unit as it is, and its mends mend it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from booted_host import UNIT, BootedHost, booted_host
from repos import work_tree

from gateway.setup.env_text import merged, problem

pytestmark = [pytest.mark.needs("git", "landlock", "systemd-nspawn"), pytest.mark.timeout(600)]

# What could be read in several ways and, where it is accepted, is not.
VALUES = (
    "plain", "two words", "a=b;c", "a#b", "100%", "*", "{x}", "!", "(a)", "<b>&", "täst", "~/x", "[1,2]", "a:b@c/d?e",
)  # fmt: skip


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
    done = machine.attempt_gateway("doctor", "--json")
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


def test_e07_systemd_reads_the_env_file_that_init_writes_as_everybody_does(machine: BootedHost) -> None:
    values = {f"GATEWAY_V{number}": value for number, value in enumerate(VALUES)}
    assert [value for value in VALUES if problem(value)] == []
    machine.write(
        "/etc/written.env", merged("# A comment.\n; another\nGATEWAY_X=1\n", values, {"GATEWAY_V0": "One."})
    )
    lines = (
        "Type=oneshot",
        "EnvironmentFile=/etc/written.env",
        "ExecStart=/usr/bin/env -0",
        "StandardOutput=file:/read",
    )
    machine.write("/etc/systemd/system/reader.service", "\n".join(("[Service]", *lines, "")))
    machine.run("systemctl", "daemon-reload")

    machine.run("systemctl", "start", "reader.service")

    read = dict(line.split("=", 1) for line in machine.path("/read").read_text().split("\0") if line)
    assert {name: value for name, value in read.items() if name.startswith("GATEWAY_")} == {
        "GATEWAY_X": "1",
        **values,
    }
