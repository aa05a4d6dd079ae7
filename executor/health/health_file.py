"""What the process that serves a state directory wrote down of itself, read by whoever wants to know how it is."""

from __future__ import annotations

import json
import time
from pathlib import Path

from executor.health.gateway import Said

HEALTH_FILE = "health.json"  # in the state directory; the host process writes it every minute


def written_down(state_dir: Path) -> Said:
    """Return what the process that serves this state directory last wrote of itself; {} where there is nothing."""
    path = state_dir / HEALTH_FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        age = max(time.time() - path.stat().st_mtime, 0.0)
    except (OSError, ValueError):
        return Said({})
    return Said(found if isinstance(found, dict) else {}, age)
