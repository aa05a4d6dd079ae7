"""Which refs move and how git is told so: after what a remote said, and how a push ended for each ref. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RefChange:
    """A ref that moved; `old` is None when it is new, `new` is None when it was deleted."""

    ref: str
    old: str | None
    new: str | None


def as_instructions(changes: Iterable[RefChange]) -> bytes:
    """Return what `git update-ref --stdin -z` is told, so that each ref moves only from its `old` (pure)."""
    lines = []
    for change in changes:
        words: tuple[str, ...]
        if change.new is None:
            words = (f"delete {change.ref}", change.old or "")
        elif change.old is None:
            words = (f"create {change.ref}", change.new)
        else:
            words = (f"update {change.ref}", change.new, change.old)
        lines.append("\0".join(words) + "\0")
    return "".join(lines).encode("utf-8", "surrogateescape")


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
