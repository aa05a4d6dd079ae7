"""Undo a push: what would have to be asked for, decided from what the remote says now (pure).

A published commit is taken back only with an operator's approval of exactly these ids; where somebody built on it,
the way back is a new commit.
"""

from __future__ import annotations

from dataclasses import dataclass

from executor.policy.model import RiskClass


@dataclass(frozen=True, slots=True)
class ResetRemote:
    """Move the remote branch back from `lease` to `target` (None deletes it), only if it is still at `lease`."""

    remote: str
    ref: str
    target: str | None
    lease: str
    argv: tuple[str, ...]
    risk: RiskClass = RiskClass.FORCE


@dataclass(frozen=True, slots=True)
class OfferRevert:
    """Somebody pushed since: make commits that take the pushed ones back, and push those as usual."""

    argv: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class NoPushToUndo:
    reason: str


def plan_undo_push(
    remote: str, branch: str, *, old: str | None, new: str, now: str | None, contains_new: bool | None = None
) -> ResetRemote | OfferRevert | NoPushToUndo:
    """Return how the push of `new` over `old` can be taken back.

    Given the short `branch` name, `old` (None when the push created the branch), where the remote branch is `now`
    (None when it is gone), as just read from the remote, and whether `now` contains `new` (None: not known here).
    """
    if now is None:
        return NoPushToUndo(f"{remote} has no branch {branch} any more.")
    if now == old:
        return NoPushToUndo(f"{branch} is at {old} on {remote} already.")
    ref = f"refs/heads/{branch}"
    if now == new:
        argv = ("git", "push", f"--force-with-lease={ref}:{new}", remote, f"{old or ''}:{ref}")
        return ResetRemote(remote, ref, old, new, argv)
    if contains_new is False:
        return NoPushToUndo(f"{branch} on {remote} was moved since and no longer holds {new}.")
    if old is None:
        return NoPushToUndo(f"Somebody built on {branch} since the push created it; it cannot be deleted for them.")
    reason = f"Somebody pushed to {branch} since: taking commits away would take theirs along."
    return OfferRevert(("git", "revert", "--no-edit", f"{old}..{new}"), reason)
