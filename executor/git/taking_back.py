"""Taking a published push back: asks the remote how things are, moves its refs back, and reads that back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from executor.errors import Refused
from executor.git.pushing import prove
from executor.git.questions import is_ancestor, resolve
from executor.git.refnames import HEADS
from executor.git.reports import listing, succeeded
from executor.git.repository import Git
from executor.git.transfer import PushUpdate, ls_remote, push
from executor.git.undo_push import NoPushToUndo, OfferRevert, PushedRef, ResetRemote, WayBack, way_back
from executor.outcome import Outcome


def ways_back(git: Git, pushed: Sequence[PushedRef]) -> tuple[WayBack, ...]:
    """Ask the remote of `pushed` and return the way back for each ref. Raises as `ls_remote` does."""
    there = ls_remote(git, pushed[0].remote, [one.ref for one in pushed])
    return tuple(_way(git, one, there.get(one.ref)) for one in pushed)


def _way(git: Git, pushed: PushedRef, now: str | None) -> WayBack:
    contains = is_ancestor(git, pushed.new, now) if pushed.new and now else None
    found = way_back(pushed, now=now, contains_new=contains)
    if isinstance(found, ResetRemote) and found.target and resolve(git, found.target, "object") is None:
        return NoPushToUndo(pushed, f"What {pushed.ref} was at, {found.target}, is not here, so it cannot be pushed.")
    return found


def told(git: Git, ways: Iterable[WayBack]) -> list[str]:
    """Return the ways back in plain words, with the exact commands."""
    lines = []
    for way in ways:
        if isinstance(way, ResetRemote):
            lines += [_reset_words(git, way), f"  {' '.join(way.argv)}"]
        elif isinstance(way, OfferRevert):
            lines += [way.reason, "Instead, commits that take it back can be made and pushed (by flags, or by hand):"]
            lines += [f"  {line}" for line in _revert_lines(way)]
        else:
            lines.append(way.reason)
    return lines


def _reset_words(git: Git, way: ResetRemote) -> str:
    remote, ref = way.pushed.remote, way.pushed.ref
    if way.lease is None:
        return f"{ref} is made again at {remote}, at {way.target}, unless somebody made it meanwhile."
    only = f"only if it still is at {way.lease}"
    if way.target is None:
        return f"{ref} is deleted at {remote}, {only}: the push had made it."
    done = git.local(["rev-list", "--count", f"{way.target}..{way.lease}", "--"], check=False)
    count = done.stdout.decode().strip() or "?"
    return f"{ref} at {remote} goes back to {way.target}, {only}; commits that this takes off it: {count}."


def _revert_lines(way: OfferRevert) -> tuple[str, ...]:
    remote, branch = way.pushed.remote, way.pushed.ref.removeprefix(HEADS)
    return (
        f"git switch {branch}",
        f"git pull {remote} {branch}",
        " ".join(way.argv),
        f"git push {remote} {branch}",
    )


def take_back(git: Git, ways: Sequence[WayBack]) -> Outcome:
    """Move back the refs that can be, all or none, each only from where it was seen; prove it by asking the remote.

    Raises Refused("nothing_to_take_back"); Failed: `remote_changed` where one was moved meanwhile, `remote_declined`,
    `push_unproved`, or a code of `failures`.
    """
    resets = [way for way in ways if isinstance(way, ResetRemote)]
    if not resets:
        raise Refused("nothing_to_take_back", "There is no ref that can be moved back.")
    remote = resets[0].pushed.remote
    push(git, remote, [PushUpdate(way.pushed.ref, way.lease, way.target) for way in resets])
    refs: dict[str, str | None] = {way.pushed.ref: way.target for way in resets}
    prove(git, remote, refs)
    lines = [f"{way.pushed.ref} {(way.lease or '(gone)')[:10]} -> {(way.target or '(gone)')[:10]}" for way in resets]
    output = f"At {remote}, as it says itself:\n{listing(lines)}\n"
    return succeeded(output, verified={"effect": True, "remote": remote, "refs": refs})
