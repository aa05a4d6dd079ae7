"""Probes as the health check runs them, but with all the time that a busy machine needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from executor.health.report import Finding
from executor.health.run import Probe, ProbeRunner

PATIENCE = 120.0  # s


def probed(probes: Iterable[Probe], seconds: float = PATIENCE) -> list[Finding]:
    """Return what the probes find, each within so many seconds."""
    return ProbeRunner().run([replace(each, deadline=seconds) for each in probes])
