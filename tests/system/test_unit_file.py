"""The unit file, as systemd reads it and as a person does. Nothing is started."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

UNIT = Path(__file__).resolve().parents[2] / "deploy" / "ops-gateway.service"
EXPOSURE = 20  # tenths, of 10.0: what remains is mostly the network, which it is there for


def analysed(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, timeout=120)


@pytest.mark.needs("systemd-analyze")
def test_systemd_finds_nothing_to_remark_in_the_unit(tmp_path: Path) -> None:
    """It exits 0 on keys that it does not know, so what counts is that it says nothing."""
    copy = tmp_path / UNIT.name
    copy.write_text(
        UNIT.read_text().replace("ExecStart=/opt/ops-gateway/venv/bin/ops-gateway", "ExecStart=/bin/true")
    )
    found = analysed("verify", "--man=no", str(copy))
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.needs("systemd-analyze")
def test_the_unit_exposes_little() -> None:
    found = analysed("security", "--offline=yes", f"--threshold={EXPOSURE}", "--no-pager", str(UNIT))
    assert found.returncode == 0, found.stdout


def test_every_line_that_sets_something_stands_under_a_remark() -> None:
    """A blank line ends what a remark is about."""
    explained, alone = False, []
    for line in UNIT.read_text().splitlines():
        if line.startswith("#"):
            explained = True
        elif not line:
            explained = False
        elif "=" in line and not explained:
            alone.append(line)
    assert alone == [
        "Description=ops-gateway: flags of an agent in, host operations out",
        "WantedBy=multi-user.target",
    ]
