"""What follows here from what a remote said: which local refs move, and how a push ended for each ref. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RefChange:
    """A ref that moved; `old` is None when it is new, `new` is None when it was deleted."""

    ref: str
    old: str | None
    new: str | None


def plan_take_over(
    ours: Mapping[str, str], theirs: Mapping[str, str], tracking: str, *, prune: bool, move_tags: bool = False
) -> tuple[RefChange, ...]:
    """Return how local refs have to move to follow the transfer repository's (pure).

    Tracking refs follow, also backwards; with `prune` those that are gone go. Tags are
    only added, unless `move_tags`.
    """
    moved = [
        RefChange(ref, ours.get(ref), new)
        for ref, new in sorted(theirs.items())
        if ours.get(ref) != new and (move_tags or ref.startswith(tracking) or ref not in ours)
    ]
    followed = (ref for ref in sorted(ours) if ref.startswith(tracking) and ref != f"{tracking}HEAD")
    gone = [RefChange(ref, ours[ref], None) for ref in followed]
    return tuple(moved + [change for change in gone if prune and change.ref not in theirs])


def parse_porcelain(output: str) -> dict[str, tuple[str, str]]:
    """Return ref -> (flag, summary) of `git push --porcelain` (git-push(1), OUTPUT)."""
    results = {}
    for line in output.splitlines():
        fields = line.split("\t")
        if len(fields) == 3 and len(fields[0]) == 1:
            results[fields[1].rpartition(":")[2]] = (fields[0], fields[2])
    return results
