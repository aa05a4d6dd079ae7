"""From what git did to what is told about it: outcomes, and lists that stay readable (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from executor.errors import Problem, Refused, TimedOut
from executor.outcome import Outcome, State
from executor.sandbox.process import Completed

LISTED_LINES = 200  # of a list of paths; the rest is counted


def spoken(done: Completed) -> str:
    """Return what a process said: standard output, then standard error."""
    parts = (
        raw.decode("utf-8", "replace").replace("\r\n", "\n") for raw in (done.stdout, done.stderr)
    )  # ssh's lines
    return "\n".join(part.rstrip("\n") for part in parts if part.strip()) + "\n" * bool(done.stdout or done.stderr)


def succeeded(
    output: str,
    *,
    verified: Mapping[str, object] | None = None,
    files: Mapping[str, str] | None = None,
    truncated: bool = False,
) -> Outcome:
    """Return the outcome of an operation that reached its end."""
    return Outcome(
        State.SUCCEEDED,
        exit_code=0,
        output=output,
        truncated=truncated,
        verified=verified or {},
        files=files or {},
    )


def fallen(problem: Problem) -> Outcome:
    """Return the outcome of an operation that ended in `problem`."""
    state = State.FAILED
    if isinstance(problem, Refused):
        state = State.REFUSED
    elif isinstance(problem, TimedOut):
        state = State.TIMED_OUT
    return Outcome(state, output=problem.message, error=problem)


def listing(lines: Iterable[str], limit: int = LISTED_LINES) -> str:
    """Return the lines, indented, at most `limit` of them, with a count of those left out."""
    everything = list(lines)
    shown = [f"  {line}" for line in everything[:limit]]
    if len(everything) > limit:
        shown.append(f"  … and {len(everything) - limit} more")
    return "\n".join(shown)
