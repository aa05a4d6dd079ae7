"""`ops-gateway health`: how the host is, beside a running gateway or without one."""

from __future__ import annotations

import argparse
import json
import threading

from executor.health.gateway import Said
from executor.health.health_file import written_down
from executor.health.report import Level, Report, as_data, headline, title
from gateway import settings as configuration
from gateway import wiring
from gateway.commands.terminal import heading, paragraph
from gateway.settings_model import Settings
from gateway.single import holder

_MOODS = {Level.BAD: "bad", Level.WARNING: "warn", Level.UNKNOWN: "warn", Level.GOOD: "good"}


def arguments(_verb: str, parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("--json", action="store_true", help="for programs")


def run(options: argparse.Namespace) -> int:
    """Look, and show what was found. Return 1 when something is bad."""
    settings = configuration.load()
    told = look(settings)
    if options.json:
        print(json.dumps(wiring.redactor(settings).redact_data(as_data(told))))
    else:
        print("\n".join(as_lines(told, settings)))
    return int(told.level is Level.BAD)


def look(settings: Settings) -> Report:
    """Given the settings, return how the host is. What a running gateway remembers is not known here."""
    from executor.health.checks import HealthChecks
    from executor.repositories import Repositories
    from executor.sandbox.confinement import Confinement
    from executor.sandbox.process import ProcessRunner

    config = wiring.executor_config(settings)
    said = written_down(settings.state_dir) if holder(settings.state_dir) else Said(None)
    confinement = Confinement(unsafe=settings.unsafe_run_without_confinement)
    try:
        with wiring.record(settings) as store:
            programs = ProcessRunner(confinement)
            repositories = Repositories(config, programs, threading.Event())
            return HealthChecks(config, store, repositories, programs).look(said)
    finally:
        confinement.close()


def as_lines(told: Report, settings: Settings) -> list[str]:
    """Given the report, return it for a person, worst first."""
    clean = wiring.redactor(settings)
    lines = [heading(headline(told), _MOODS[told.level])]
    for each in told.findings:
        lines += [
            heading(f"{each.level.upper():<8}{clean(title(each))}", _MOODS[each.level]),
            paragraph("", clean(each.what)),
        ]
        lines += [paragraph("  said:", clean(each.detail))] if each.detail else []
        lines += [paragraph("  mend:", clean(each.mend))] if each.mend else []
    return lines
