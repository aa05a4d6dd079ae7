"""Undo a request: bring back what it changed, as the rescue made before it remembers.

What the request changed is the difference between its rescue and the next one (requests of a repository run one
after the other, and each that changes something makes one), or the present. Only that is brought back, each part
only when nothing else changed it since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from executor.errors import Failed, Refused
from executor.git import rescue_restore as restore
from executor.git.repository import Git
from executor.git.rescue import find, ignored_in, preserve, rescued
from executor.git.rescue_record import Rescue, by_branch
from executor.git.tree_restore import differences, put_back
from executor.outcome import Outcome, State
from executor.spans import several

_SHOWN = 10
_AMONG_OTHERS = "Undo the later requests first, or have that overwritten too: ops-gateway undo --force ID"


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """What undoing brings back. `refs` maps a full name to the id it gets (None deletes it)."""

    refs: Mapping[str, str | None] = field(default_factory=dict)
    head: str | None = None  # a full branch name or a commit; None leaves HEAD alone
    files: frozenset[str] = frozenset()
    index: bool = False
    notes: frozenset[str] = frozenset()  # git's own files about something unfinished, and the stash's reflog
    config: frozenset[str] = frozenset()  # branches whose configuration comes back
    conflicts: tuple[str, ...] = ()  # what something else changed since, by name


def plan_undo(
    before: Rescue, after: Rescue, now: Rescue, changed: frozenset[str], changed_since: frozenset[str]
) -> UndoPlan:
    """Return what brings back `before` (pure).

    `after` is the repository as the request left it, `now` as it is; they are the same when nothing came after it.
    `changed` are the files that the request changed, `changed_since` those that changed after it.
    """
    refs = {
        name: before.refs.get(name)
        for name in sorted(before.refs.keys() | after.refs.keys())
        if before.refs.get(name) != after.refs.get(name) and before.refs.get(name) != now.refs.get(name)
    }
    conflicts = [name for name in refs if after.refs.get(name) != now.refs.get(name)]
    head = before.head if before.head != after.head and before.head != now.head else None
    index = before.staged != after.staged
    notes = _differing(before.notes, after.notes)
    then, left, there = by_branch(before.config), by_branch(after.config), by_branch(now.config)
    config = _differing(then, left)
    if head is not None and after.head != now.head:
        conflicts.append("HEAD")
    if index and after.staged != now.staged:
        conflicts.append("the index")
    conflicts += sorted(notes & _differing(after.notes, now.notes))
    conflicts += [f"the configuration of branch {name}" for name in sorted(config & _differing(left, there))]
    conflicts += sorted(changed & changed_since)
    return UndoPlan(refs, head, changed, index, notes, config, tuple(conflicts))


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> frozenset[str]:
    return frozenset(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def undo(git: Git, request_id: str, *, undo_id: str | None = None, force: bool = False) -> Outcome:
    """Bring back what `request_id` changed and return what was done and read back.

    The present is preserved first under `undo_id` (by default made from the request's), so an undo can be undone.
    Files that git ignores are left alone. With `force`, which is the operator's to give, also what something else
    changed since is overwritten. Raises Refused: `no_rescue`, `undo_conflict` (with names), `cannot_preserve`.
    """
    before = find(git, request_id)
    if before is None:
        raise Refused(
            "no_rescue", f"Nothing was kept for request {request_id!r}.", "It changed nothing, or it is too long ago."
        )
    own_id = undo_id or _free_id(git, request_id)
    if find(git, own_id) is not None:
        raise Refused("undo_repeated", f"The undo {own_id!r} was made already.", "Ask for it under another id.")
    also = ignored_in(git, before.tree) if before.tree is not None else ()
    now = preserve(git, own_id, worktree=before.tree is not None, also=also)
    later = _later(git, before, now)
    after = later[0]
    left_by_it = next((rescue.tree for rescue in later if rescue.tree is not None), None)
    plan = plan_undo(
        before,
        after,
        now,
        _changed(git, before.tree, left_by_it),
        _changed(git, left_by_it, now.tree),
    )
    if plan.conflicts and not force:
        raise Refused("undo_conflict", _conflict_words(plan.conflicts), _AMONG_OTHERS)
    try:
        _carry_out(git, plan, before, now)
    except Failed as failed:
        hint = f"{failed.hint} What was there before the undo is kept as {own_id}.".strip()
        raise Failed(failed.code, f"The undo did not reach its end: {failed.message}", hint) from failed
    return _outcome(git, plan, before, own_id)


def _carry_out(git: Git, plan: UndoPlan, before: Rescue, now: Rescue) -> None:
    restore.tags(git, before)
    restore.refs(git, plan.refs, now.refs)
    if plan.head is not None:
        restore.head(git, plan.head)
    if plan.files and before.tree is not None and now.tree is not None:
        put_back(git, now.tree, before.tree, plan.files)
    if plan.index:
        restore.index(git, before)
    if plan.notes:
        restore.notes(git, before, plan.notes)
    if plan.config:
        restore.config(git, before, sorted(plan.config))


def _outcome(git: Git, plan: UndoPlan, before: Rescue, own_id: str) -> Outcome:
    missed = restore.missed(git, plan.refs, plan.head, before if plan.index else None)
    done = [f"{name} is {'gone again' if to is None else 'at ' + to[:10]}" for name, to in plan.refs.items()]
    done += [f"HEAD is {plan.head}"] if plan.head else []
    done += [f"files put back as they were: {len(plan.files)}"] if plan.files else []
    done += ["the index is as it was"] if plan.index else []
    done += ["the operation in progress and the stash are as they were"] if plan.notes else []
    lines = [*done[:_SHOWN], *([f"and {len(done) - _SHOWN} more"] if len(done) > _SHOWN else [])]
    said = "\n".join(lines) if lines else f"Request {before.request_id} changed nothing that is not as it was."
    verified: dict[str, object] = {"effect": not missed, "undo_id": own_id}
    if missed:
        verified["why"] = f"not as before: {', '.join(missed)}"
    return Outcome(State.FAILED if missed else State.SUCCEEDED, output=said + "\n", verified=verified)


def _later(git: Git, before: Rescue, now: Rescue) -> list[Rescue]:
    """Return the rescues made after `before`, oldest first; the last one is `now`."""
    ids = [name for sequence, name in rescued(git) if before.sequence < sequence < now.sequence]
    found = [rescue for rescue in (find(git, name) for name in ids) if rescue is not None]
    return [*found, now]


def _changed(git: Git, old: str | None, new: str | None) -> frozenset[str]:
    if old is None or new is None or old == new:
        return frozenset()
    return frozenset(entry.path for entry in differences(git, old, new))


def _free_id(git: Git, request_id: str) -> str:
    """Return an id for an undo. It has dots, so that no request can have it, and none ends in `.lock`."""
    taken = {name for _, name in rescued(git)}
    number = 1
    while f"undo.{request_id}.{number}" in taken:
        number += 1
    return f"undo.{request_id}.{number}"


def _conflict_words(conflicts: tuple[str, ...]) -> str:
    return f"Something else changed since what the undo would bring back: {several(conflicts, _SHOWN)}."
