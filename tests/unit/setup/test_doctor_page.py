"""The page about the doctor names every check that there is."""

from __future__ import annotations

from pathlib import Path

from gateway.setup.doctor import CHECKS


def test_every_check_is_on_the_page() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "doctor.md").read_text()
    rows = " ".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| "))

    assert [name for name in CHECKS if name not in rows] == []
