"""From an operator's yes to the start of what was approved."""

from __future__ import annotations

from datetime import datetime

from tests.benchmarks.rows import Row, ms
from tests.benchmarks.served import served

_APPROVALS = 15


def decision() -> Row:
    """By the record's own times: the vote's, taken in the process of the command line, and the start's."""
    to_start, to_answer = [], []
    with served() as host:
        for number in range(_APPROVALS):
            name = f"tag-{number}"
            host.raise_flag(f"git_cmd.{name}.flag", f"git tag v{number}")
            host.host.in_state(name, "awaiting_approval")
            host.host.cli("approve", name)
            result = host.answered(name)[name]
            decided, started, finished = (
                datetime.fromisoformat(text)
                for text in (result["approval"]["decided_at"], result["started_at"], result["finished_at"])
            )
            to_start.append((started - decided).total_seconds())
            to_answer.append((finished - decided).total_seconds())
    beside = f"longest {1000 * max(to_start):.0f} ms; done after {ms(to_answer):.0f} ms"
    return Row("decision to operation started", f"{ms(to_start):.0f} ms", "<= 100 ms", ms(to_start) <= 100, beside)
