"""Undo a push: what would take it back, decided from what the remote says now (pure).

A published commit is taken back only on an operator's word about exactly these ids, and only while nobody built on
it; where somebody did, the way back is a new commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from executor.git.refnames import HEADS


@dataclass(frozen=True, slots=True)
class PushedRef:
    """A ref that a push moved at `remote`, from `old` (None: it made the ref) to `new` (None: it deleted it)."""

    remote: str
    ref: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class ResetRemote:
    """Move the ref back from `lease` to `target` (None deletes it), only if it is still at `lease` (None: gone)."""

    pushed: PushedRef
    target: str | None
    lease: str | None

    @property
    def argv(self) -> tuple[str, ...]:
        """The same as a person would type it."""
        ref = self.pushed.ref
        lease = f"--force-with-lease={ref}:{self.lease or ''}"
        return ("git", "push", lease, self.pushed.remote, f"{self.target or ''}:{ref}")


@dataclass(frozen=True, slots=True)
class OfferRevert:
    """Somebody pushed since: make commits that take the pushed ones back, and push those as usual."""

    pushed: PushedRef
    argv: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class NoPushToUndo:
    pushed: PushedRef
    reason: str


WayBack = ResetRemote | OfferRevert | NoPushToUndo


def pushed_refs(verified: Mapping[str, object]) -> tuple[PushedRef, ...]:
    """Return what a push moved, given what was read back after it; () where that was no push, or moved nothing."""
    remote, ref = verified.get("remote"), verified.get("ref")
    now, were = verified.get("refs"), verified.get("were")
    if not isinstance(remote, str):
        return ()
    if isinstance(ref, str):
        now, were = {ref: verified.get("new")}, {ref: verified.get("old")}
    if not isinstance(now, Mapping) or not isinstance(were, Mapping):
        return ()
    found = (PushedRef(remote, str(name), _id(were.get(name)), _id(new)) for name, new in sorted(now.items()))
    return tuple(one for one in found if one.old != one.new)


def _id(value: object) -> str | None:
    return value if isinstance(value, str) else None


def way_back(pushed: PushedRef, *, now: str | None, contains_new: bool | None = None) -> WayBack:
    """Return how what a push did to one ref can be taken back.

    Given where the ref is `now` at the remote (None when it is gone), as just read there, and whether `now` contains
    what was pushed (None: not known here).
    """
    remote, ref, old, new = pushed.remote, pushed.ref, pushed.old, pushed.new
    if now == new:
        return ResetRemote(pushed, old, new)
    if now == old:
        return NoPushToUndo(pushed, f"{remote} has {ref} where it was before the push already.")
    if now is None:
        return NoPushToUndo(pushed, f"{remote} has no {ref} any more.")
    if contains_new is False or new is None or not ref.startswith(HEADS):
        return NoPushToUndo(pushed, f"{ref} was moved by somebody since, and does not build on what was pushed.")
    if old is None:
        reason = f"Somebody built on {ref} since the push made it; it cannot be deleted for them."
        return NoPushToUndo(pushed, reason)
    reason = f"Somebody pushed to {ref} since: taking commits away would take theirs along."
    return OfferRevert(pushed, ("git", "revert", "--no-edit", f"{old}..{new}"), reason)
