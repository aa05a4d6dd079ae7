"""A command that is shown can be pasted by whoever reads it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.setup import mends


def test_the_accounts_own_commands_are_given_sudo_where_only_root_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4711)

    assert mends.as_root("systemctl", "start", "x") == "sudo systemctl start x"


def test_root_who_had_the_account_look_needs_no_sudo_and_makes_nothing_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Debian comes without sudo, and what root makes must still be the account's."""
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    monkeypatch.setattr(os, "getegid", lambda: 4712)
    monkeypatch.setenv(mends.READER, "root")

    assert mends.as_root("systemctl", "start", "x") == "systemctl start x"
    assert mends.make_directory(tmp_path / "new", "700") == f"install -d -m 700 -o 4711 -g 4712 {tmp_path}/new"
