"""`ops-gateway run` and `ops-gateway tick`: the long-running process, and one round for cron."""

from __future__ import annotations

import argparse

from loguru import logger

from gateway import logs, settings, wiring
from gateway.single import Busy

TICK_WAIT_SECONDS = 55.0  # for a tick before this one; the next one comes after 60


def arguments(_verb: str, _parser: argparse.ArgumentParser) -> None:
    """Neither verb takes anything: both do what the settings say."""


def run(options: argparse.Namespace) -> int:
    """Serve, or do one round. Return the exit code."""
    chosen = settings.load()
    logs.configure(chosen.log_level, wiring.redactor(chosen))
    if options.verb == "run":
        from gateway.host import serve

        serve(chosen)
        return 0
    from gateway.tick import tick

    try:
        tick(chosen, TICK_WAIT_SECONDS)
    except Busy as busy:
        logger.info("{}: nothing to do", busy.message)
        return int(busy.verb != "run")  # a running gateway does the work; a stuck tick is worth a mail from cron
    return 0
