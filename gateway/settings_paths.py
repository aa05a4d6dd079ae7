"""Which directories may lie inside which: what the agent can write must not hold what the host trusts (G05)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path


def overlaps(
    *, shared: Path, state: Path, work_trees: Mapping[str, Path], trusted: Mapping[str, Path | None]
) -> list[str]:
    """Given the directories by what they are for, return one sentence for each that lies where it must not.

    `work_trees` and `trusted` (files that the host relies on: keys, settings) go by the setting that names them.
    Symbolic links are resolved first. A work tree may lie inside the shared directory; nothing else may.
    """
    agent = {"GATEWAY_SHARED_DIR": shared.resolve()} | {name: path.resolve() for name, path in work_trees.items()}
    home = state.resolve()
    said = []
    for name, path in agent.items():
        if home == path or path in home.parents:
            said.append(f"GATEWAY_STATE_DIR lies inside {name}, where the agent could change the audit log")
        elif home in path.parents:
            said.append(f"{name} lies inside GATEWAY_STATE_DIR, which the agent must not reach")
    for name, file in trusted.items():
        inside = [place for place, path in agent.items() if file is not None and path in file.resolve().parents]
        said.extend(f"{name} lies inside {place}, where the agent could change it" for place in inside)
    said.extend(_nested(work_trees.items()))
    return said


def _nested(work_trees: Iterable[tuple[str, Path]]) -> list[str]:
    said = []
    for (one, first), (other, second) in combinations([(name, path.resolve()) for name, path in work_trees], 2):
        if first == second:
            said.append(f"{one} and {other} are the same directory")
        elif first in second.parents or second in first.parents:
            said.append(f"{one} and {other} lie one inside the other; each repository needs its own directory")
    return said
