"""Gets a picture of a chart from the program that draws it."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

from executor.errors import Failed, Refused
from executor.sandbox.process import ProcessRunner
from gateway.charts.series import Chart

DEADLINE_SECONDS = 60.0  # the first time it looks at the host's fonts, which takes long
_MOST_BYTES = 4 * 1024 * 1024
_CACHE = "charts"  # in the state directory: what matplotlib found out about fonts


def can_draw() -> bool:
    """Return whether there is what draws: the extra `charts`. It is looked for, not loaded."""
    return importlib.util.find_spec("matplotlib") is not None


def png(chart: Chart, runner: ProcessRunner, state_dir: Path) -> bytes:
    """Return the picture of a chart. Raises Refused where the extra is missing, Failed where it cannot be drawn."""
    if not can_draw():
        raise Refused(
            "charts_missing",
            "pictures need matplotlib, which is not installed",
            "pip install 'ops-gateway[charts]', or see the chart in text: ops-gateway queue",
        )
    cache = state_dir / _CACHE
    cache.mkdir(mode=0o700, exist_ok=True)
    done = runner.run(
        (sys.executable, "-I", "-m", "gateway.charts.picture"),
        env={"HOME": str(cache), "MPLCONFIGDIR": str(cache), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        cwd=cache,
        profile=None,
        stdin=json.dumps(chart.as_data()).encode(),
        deadline=DEADLINE_SECONDS,
        output_limit=_MOST_BYTES,
        exact=True,
    )
    if done.exit_code != 0 or done.timed_out:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = "it took too long" if done.timed_out else said[-1] if said else f"exit code {done.exit_code}"
        raise Failed("chart_not_drawn", f"the chart could not be drawn: {why}", "see it in text: ops-gateway queue")
    return done.stdout
