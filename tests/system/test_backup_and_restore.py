"""A backup taken as docs/operations.md says can be restored, and what came after it is noticed, not hidden."""

from __future__ import annotations

import shutil

import pytest
from served_host import ServedHost

pytestmark = pytest.mark.needs("git", "landlock", "http-backend")


def test_a_restored_state_directory_goes_on_where_the_backup_ended(host: ServedHost) -> None:
    with host.running() as gateway:
        assert host.ask("git_status.before.flag")["state"] == "succeeded"
        gateway.stop()
    shutil.copytree(host.state, host.root / "backup", symlinks=True)
    with host.running():
        assert host.ask("git_status.lost.flag")["state"] == "succeeded"

    shutil.rmtree(host.state)
    shutil.copytree(host.root / "backup", host.state, symlinks=True)
    with host.running():
        assert host.ask("git_status.after.flag")["state"] == "succeeded"

    assert "whole" in host.ok("audit", "verify")
    assert "before" in host.ok("audit", "show")
    assert "lost" not in host.ok("audit", "show")


def test_a_database_older_than_its_anchor_is_cut_off_until_an_operator_accepts_it(host: ServedHost) -> None:
    with host.running() as gateway:
        host.ask("git_status.before.flag")
        gateway.stop()
    shutil.copy(host.state / "gateway.db", host.root / "old.db")
    with host.running():
        host.ask("git_status.lost.flag")

    for name in ("gateway.db", "gateway.db-wal", "gateway.db-shm"):
        (host.state / name).unlink(missing_ok=True)
    shutil.copy(host.root / "old.db", host.state / "gateway.db")

    found = host.cli("audit", "verify")
    assert found.returncode == 1
    assert "NOT whole" in found.stdout
    host.ok("audit", "accept", "--reason", "restored the backup of Friday")
    assert "whole" in host.ok("audit", "verify")
    with host.running():
        assert host.ask("git_status.after.flag")["state"] == "succeeded"
