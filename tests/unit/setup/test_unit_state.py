"""What systemd says of the unit, judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.setup.checks_systemd import fits, judge, parse

WELL = {
    "LoadState": "loaded", "ActiveState": "active", "SubState": "running", "UnitFileState": "enabled",
    "User": "ops-gateway", "WatchdogUSec": "1min", "NRestarts": "0", "NeedDaemonReload": "no",
}  # fmt: skip


def test_a_unit_that_runs_as_it_should_is_good() -> None:
    assert [check.level for check in judge(WELL)] == ["ok"]


@pytest.mark.parametrize(
    ("broken", "name", "level", "command"),
    [
        ({"ActiveState": "failed", "Result": "exit-code"}, "unit", "fail", "journalctl -u ops-gateway.service"),
        ({"ActiveState": "inactive"}, "unit", "warn", "systemctl start"),
        ({"NRestarts": "12"}, "unit", "warn", "journalctl"),
        ({"UnitFileState": "disabled"}, "unit at boot", "warn", "systemctl enable"),
        ({"User": ""}, "unit's user", "fail", "systemctl edit"),
        ({"WatchdogUSec": "infinity"}, "unit's watchdog", "warn", "systemctl edit"),
        ({"NeedDaemonReload": "yes"}, "unit's file", "warn", "daemon-reload"),
    ],
)
def test_what_is_wrong_with_a_unit_is_named_with_its_mend(
    broken: dict[str, str], name: str, level: str, command: str
) -> None:
    found = {check.name: check for check in judge(WELL | broken)}

    assert found[name].level == level
    assert command in found[name].command


def test_a_host_without_the_unit_is_no_fault() -> None:
    (found,) = judge({"LoadState": "not-found"})

    assert found.level == "ok"
    assert "not-found" in found.what


def test_properties_are_read_as_systemctl_prints_them() -> None:
    assert parse("User=ops-gateway\nEnvironment=A=b C=d\nLoadCredential=X:/x\nLoadCredential=Y:/y\nnoise\n") == {
        "User": "ops-gateway",
        "Environment": "A=b C=d",
        "LoadCredential": "X:/x Y:/y",
    }


def test_systemd_says_nothing_of_the_watchdog_of_a_unit_that_was_never_started() -> None:
    names = {check.name for check in judge(WELL | {"ActiveState": "inactive", "WatchdogUSec": "infinity"})}

    assert "unit's watchdog" not in names


def test_a_unit_fits_when_it_reads_these_settings_and_may_write_these_directories() -> None:
    settings, written = "GATEWAY_ENV_FILE=/etc/x.env", (Path("/srv/agent/shared"), Path("/home/ann/shop"))
    said = {
        "LoadState": "loaded",
        "Environment": f"HOME=/var/lib/x {settings}",
        "ReadWritePaths": "/srv/agent",
        "BindPaths": "/home/ann/shop:/home/ann/shop:rbind",
    }

    assert fits(said, settings, written)
    assert not fits(said, "GATEWAY_ENV_FILE=/etc/other.env", written)
    assert not fits(said, settings, (*written, Path("/srv/blog")))
    assert not fits(said | {"LoadState": "not-found"}, settings, written)
