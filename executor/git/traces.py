"""What a request left that was interrupted: its traces in the repository, and at the remote, as they are now.

What was there before is known from what was kept for it, which comes before its first change, and from the ids that
its approval was bound to. Nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from executor.errors import Problem
from executor.git.grammar import judge
from executor.git.lock_files import find_locks
from executor.git.push_plan import NEW, OLD
from executor.git.pushing import remote_of
from executor.git.questions import Head, Identity, head, identity, in_progress, is_ancestor, resolve
from executor.git.refnames import HEADS
from executor.git.repository import Git
from executor.git.rescue import find
from executor.git.rescue_ledger import Ledger
from executor.git.rescue_objects import keep_index, list_refs
from executor.git.rescue_record import Rescue
from executor.git.run_transfers import named_remote
from executor.git.transfer import ls_remote
from executor.policy.model import CmdParams, Contact, Operation, PushParams, Request, SetConfigParams

ASK_SECONDS = 10.0  # so long may the remote take to say what it has
_SHOWN_REFS = 5
_MISSING_FIRST = (False, None, True)
_NOT_BEGUN = "it had not begun: nothing was kept for it yet, and that comes before anything is changed"


@dataclass(frozen=True, slots=True)
class Traces:
    """What was found. `effect`: whether it is as the request wanted it, None where that cannot be told.

    `found` are sentences for people, the one that answers first.
    """

    effect: bool | None
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Move:
    """What a push was to do to one ref of the remote, None for no object. Unknown `old` is None as well."""

    ref: str
    old: str | None
    new: str | None


def look_for_traces(git: Git, request_id: str, request: Request, argv: tuple[str, ...], bound: Mapping[str, str]
                    ) -> Traces:  # fmt: skip
    """Return what is found of an interrupted request, given its recorded words and the ids it was bound to.

    A push is asked for at the remote, within ASK_SECONDS. Raises Problem where the repository cannot be looked at.
    """
    if Ledger(git.paths.root).commit_of(request_id) is None:
        return Traces(False, (_NOT_BEGUN, *_left_behind(git)))
    before = find(git, request_id)
    if before is None:
        return Traces(None, ("what was there before it is not known any more", *_left_behind(git)))
    command = judge(request.params.words) if isinstance(request.params, CmdParams) else None
    if isinstance(request.params, PushParams):
        branch = request.params.branch or (argv[1] if len(argv) > 1 else before.branch or "")
        seen = _pushed(git, remote_of(git, branch), _typed_moves(git, branch, before, bound))
    elif command is not None and command.runner == "push":
        seen = _pushed(git, named_remote(git, command), _bound_moves(bound))
    else:
        seen = _changed_here(git, request, before)
        if command is not None and command.contact is Contact.WRITE:
            seen = Traces(None, (*seen.found, "it may have changed files of the work tree: git_status shows them"))
    return Traces(seen.effect, (*seen.found, *_left_behind(git)))


# --- a push ------------------------------------------------------------------------------------------------------


def _typed_moves(git: Git, branch: str, before: Rescue, bound: Mapping[str, str]) -> tuple[_Move, ...]:
    if bound:
        return _bound_moves(bound)
    ref, follows = HEADS + branch, f"refs/remotes/{remote_of(git, branch)}/{branch}"
    new = before.refs.get(ref)
    return (_Move(ref, before.refs.get(follows), new),) if new is not None else ()


def _bound_moves(bound: Mapping[str, str]) -> tuple[_Move, ...]:
    named = sorted(name.removeprefix(NEW) for name in bound if name.startswith(NEW))
    return tuple(_Move(ref, bound.get(OLD + ref) or None, bound[NEW + ref] or None) for ref in named)


def _pushed(git: Git, remote: str, moves: tuple[_Move, ...]) -> Traces:
    if not moves:
        return Traces(None, ("which commit it was to push is not known any more",))
    try:
        there = ls_remote(git, remote, [move.ref for move in moves], deadline=ASK_SECONDS)
    except Problem as problem:
        if problem.stopped:
            raise
        return Traces(None, (f"{remote} could not be asked: {' '.join(problem.message.split())}",))
    seen = [(_has_arrived(git, move, there.get(move.ref)), move) for move in moves]
    seen.sort(key=lambda one: (_MISSING_FIRST.index(one[0]), one[1].ref))
    lines = (_arrival(remote, move, there.get(move.ref), has) for has, move in seen)
    return Traces(seen[0][0], tuple(islice(lines, _SHOWN_REFS)))


def _has_arrived(git: Git, move: _Move, now: str | None) -> bool | None:
    """Whether the remote has what was to be pushed, or what builds on it; None where that is not known here."""
    if now == move.new or move.new is None or now is None or now == move.old or not move.ref.startswith(HEADS):
        return now == move.new
    return is_ancestor(git, move.new, now) if resolve(git, now) is not None else None


def _arrival(remote: str, move: _Move, now: str | None, has: bool | None) -> str:
    at = f"{move.ref} is at {now[:10]} there" if now is not None else f"there is no {move.ref} there"
    if has:
        more = "" if now == move.new else f", which builds on {_short(move.new)}"
        return f"the remote has it: {at} ({remote}){more}"
    if now == move.old:
        return f"the remote does not have it: {at} ({remote}), as before"
    if has is None:
        return f"the remote went on: {at} ({remote}); fetch to see whether that builds on {_short(move.new)}"
    return (
        f"the remote does not have it: {at} ({remote}), which is neither what was to be pushed "
        f"({_short(move.new)}) nor what was there before ({_short(move.old)})"
    )


# --- what changes the repository ------------------------------------------------------------------------------------


def _changed_here(git: Git, request: Request, before: Rescue) -> Traces:
    now = head(git)
    lines = [_head_line(before, now), *_moved_refs(git, before)]
    if request.operation is Operation.GIT_COMMIT:
        made = _one_commit_on(git, before, now)
        said = {True: "a commit was made", False: "no commit was made", None: "the branch is elsewhere"}[made]
        return Traces(made, (f"{said}: {lines[0]}", *lines[1:]))
    if isinstance(request.params, SetConfigParams):
        set_now = identity(git) == Identity(request.params.name, request.params.email)
        return Traces(set_now, (f"the name and the e-mail are {'set' if set_now else 'not set'} as asked",))
    same = keep_index(git).staged == before.staged
    lines.append(f"what is staged is {'as it was' if same else 'not what it was'} when it began")
    if request.operation is Operation.GIT_ADD:  # staged in a copy, which takes the place of the index in one step
        return Traces(False if same else None, tuple(reversed(lines)))
    return Traces(None, tuple(lines))


def _one_commit_on(git: Git, before: Rescue, now: Head) -> bool | None:
    """Whether HEAD's branch went on by one commit; False where it stayed, None where it did something else."""
    if (now.branch, now.commit) == (before.branch, before.commit):
        return False
    went_on = now.branch == before.branch and now.commit is not None
    return True if went_on and resolve(git, f"{now.commit}^1") == before.commit else None


def _head_line(before: Rescue, now: Head) -> str:
    was, is_now = _place(before.branch, before.commit), _place(now.branch, now.commit)
    return (
        f"HEAD is {is_now}, as when it began" if was == is_now else f"HEAD was {was} when it began, and is {is_now}"
    )


def _place(branch: str | None, commit: str | None) -> str:
    return f"{'on ' + branch if branch is not None else 'on no branch'} at {_short(commit)}"


def _moved_refs(git: Git, before: Rescue) -> list[str]:
    """Return the refs but for HEAD's branch that are not where they were, a line each, and how many more."""
    now = {ref.name: ref.object_id for ref in list_refs(git)}
    names = sorted(name for name in {*now, *before.refs} - {before.head} if now.get(name) != before.refs.get(name))
    lines = [f"{name} was at {_short(before.refs.get(name))}, and is at {_short(now.get(name))}" for name in names]
    more = [f"{len(names) - _SHOWN_REFS} more refs moved"] if len(names) > _SHOWN_REFS else []
    return lines[:_SHOWN_REFS] + more


def _left_behind(git: Git) -> Iterator[str]:
    """Yield what waits to be finished or removed."""
    going_on = in_progress(git)
    if going_on is not None:
        yield f"a {going_on} is unfinished: git_status shows it, git_recover ends it"
    locks = [lock.name for lock in find_locks(git)]
    if locks:
        yield f"a lock was left behind: {', '.join(locks[:_SHOWN_REFS])}; git_recover removes it once nobody holds it"


def _short(object_id: str | None) -> str:
    return object_id[:10] if object_id is not None else "nothing"
