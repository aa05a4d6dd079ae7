"""`ops-gateway doctor` and `demo`: is it set up rightly, and what does it look like when it is."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from executor.record.display import visible
from executor.record.redaction import redact
from gateway.commands.terminal import heading, paragraph

if TYPE_CHECKING:
    from gateway.setup.check import Check

_MOODS = {"ok": "good", "warn": "warn", "fail": "bad"}


def arguments(verb: str, parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    if verb == "doctor":
        parser.add_argument("--json", action="store_true", help="for programs")


def run(options: argparse.Namespace) -> int:
    """Check, or show. Return 1 when a check fails."""
    if options.verb == "demo":
        from gateway.setup.demo import demo

        return demo()
    from gateway.setup.check import Level
    from gateway.setup.doctor import examine

    found = [_clean(check) for check in examine()]
    failed = sum(check.level is Level.FAIL for check in found)
    if options.json:
        print(json.dumps([_as_data(check) for check in found]))
        return int(failed > 0)
    for check in found:
        show(check)
    print(heading(f"{failed} of {len(found)} checks failed" if failed else "nothing failed"))
    return int(failed > 0)


def show(check: Check) -> None:
    """Print a check for a person; its command stands on a line of its own, whole, to be copied.

    That line begins as no other can: what is quoted of files and remotes always stands further in.
    """
    print(heading(f"{check.level.upper():<5}{check.name}", _MOODS[check.level]))
    print(paragraph("", check.what))
    if check.mend:
        print(paragraph("  mend:" if check.level != "ok" else "  advice:", check.mend))
    if check.command:
        print(f"{'  run:':<10}$ {visible(check.command)}")


def _clean(check: Check) -> Check:
    """Mask what a remote or a file may have said."""
    return replace(check, what=redact(check.what), mend=redact(check.mend), command=redact(check.command))


def _as_data(check: Check) -> dict[str, str]:
    return {
        "name": check.name,
        "state": check.level,
        "what": check.what,
        "mend": check.mend,
        "command": check.command,
    }
