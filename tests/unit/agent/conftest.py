"""The agent's side is one file that nobody installs: the tests find it where it lies."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "deploy" / "agent"))
