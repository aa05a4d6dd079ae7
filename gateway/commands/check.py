"""`ops-gateway doctor` and `demo`: is it set up rightly, and what does it look like when it is."""

from __future__ import annotations

import argparse
import json

from gateway.commands.terminal import heading, paragraph

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

    found = list(examine())
    failed = sum(check.level is Level.FAIL for check in found)
    if options.json:
        print(json.dumps([{"name": c.name, "state": c.level, "what": c.what, "mend": c.mend} for c in found]))
        return int(failed > 0)
    for check in found:
        print(heading(f"{check.level.upper():<5}{check.name}", _MOODS[check.level]))
        print(paragraph("", check.what))
        if check.mend:
            print(paragraph("  mend:", check.mend))
    print(heading(f"{failed} of {len(found)} checks failed" if failed else "nothing failed"))
    return int(failed > 0)
