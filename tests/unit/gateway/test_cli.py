"""The command line: exit codes, and what is said when it cannot go on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway import cli


def gateway(*words: str, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gateway", *words],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(cwd), **(env or {})},
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


def test_every_verb_is_in_the_help_and_can_explain_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == cli.EXIT_USAGE
    shown = capsys.readouterr().out
    for verb in cli.VERBS:
        assert f"    {verb} " in shown
        with pytest.raises(SystemExit) as ended:
            cli.main([verb, "--help"])
        assert ended.value.code == 0
        assert f"usage: ops-gateway {verb}" in capsys.readouterr().out


def test_a_wrong_command_line_ends_with_2(tmp_path: Path) -> None:
    assert gateway("aprove", "x", cwd=tmp_path).returncode == cli.EXIT_USAGE
    assert gateway("approve", "--dig", "x", "y", cwd=tmp_path).returncode == cli.EXIT_USAGE


def test_e10_an_unusable_configuration_ends_with_78_one_message_and_no_traceback(tmp_path: Path) -> None:
    done = gateway("run", cwd=tmp_path, env={"GATEWAY_QUORUM": "many", "GATEWAY_DATABASE_URL": "hunter2://"})
    assert done.returncode == cli.EXIT_CONFIG
    assert "GATEWAY_QUORUM: entry 1" in done.stderr
    assert "GATEWAY_SHARED_DIR: is not set" in done.stderr
    assert "Traceback" not in done.stderr
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize("verb", ["run", "tick", "status", "pending", "adopt"])
def test_e04_with_an_empty_environment_what_is_missing_is_named(verb: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gateway", verb], cwd=tmp_path, env={}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == cli.EXIT_CONFIG
    assert "GATEWAY_SHARED_DIR: is not set" in done.stderr


def test_deciding_at_the_prompt_does_not_wait_for_the_scheduler_to_be_loaded(tmp_path: Path) -> None:
    probe = (
        "import sys; from gateway import cli; cli.main(['explain', 'git_status']); "
        "sys.exit(any(name.split('.')[0] in ('apscheduler', 'asyncinotify', 'sqlalchemy') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", probe], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == 0


def test_a_reader_that_goes_away_ends_a_listing_without_a_word(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "gateway", "explain", "git_status"],
            cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, stdout=writer, stderr=subprocess.PIPE, timeout=60,
        )  # fmt: skip
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (cli.EXIT_BROKEN_PIPE, b"")
