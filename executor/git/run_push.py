"""git_cmd for push: each ref with the id that was looked at as its lease, and proved by asking the remote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from executor.errors import Failed
from executor.git.command_words import given
from executor.git.push_plan import Known, Wanted, check_bound_move, plan_push
from executor.git.pushing import check_fast_forward, prove, set_upstream
from executor.git.questions import head, refs, resolve, text
from executor.git.refnames import HEADS, TAGS
from executor.git.reports import listing, succeeded
from executor.git.repository import Git
from executor.git.run_transfers import default_remote
from executor.git.transfer import PushUpdate, ls_remote, push, tracked
from executor.outcome import Outcome
from executor.policy.model import Command

_FOLLOW = frozenset({"-u", "--set-upstream"})
_DRY = frozenset({"-n", "--dry-run"})


@dataclass(frozen=True, slots=True)
class Intent:
    """What a push command means: the remote, what it has now, and the refs to move."""

    remote: str
    theirs: Mapping[str, str]
    wanted: tuple[Wanted, ...]


def intent_of(git: Git, command: Command) -> Intent:
    """Ask the remote and return what `command` means. Raises Failed with the codes of `plan_push` and `ls_remote`."""
    remote, *refspecs = command.operands or (default_remote(git),)
    theirs = ls_remote(git, remote)
    known = Known(frozenset(refs(git, "refs/")), frozenset(theirs), head(git).branch)
    wanted = plan_push(refspecs, command.options, known)
    if "--follow-tags" in given(command):
        wanted += _reachable_tags(git, wanted, theirs)
    return Intent(remote, theirs, wanted)


def push_command(git: Git, command: Command, bound: Mapping[str, str]) -> Outcome:
    """Push what the command means, and nothing but what an approval was `bound` to, and report every ref.

    Raises Failed: the codes of `plan_push` and `check_bound_move`, `not_found_in_repository`, `non_fast_forward`,
    `history_cut`, `tag_exists`, `lease_broken`, `remote_declined`, `push_unproved`, or a code of `failures`.
    """
    intent = intent_of(git, command)
    remote = intent.remote
    updates = [_update(git, remote, one, intent.theirs) for one in intent.wanted]
    for update in updates:
        check_bound_move(bound, update.ref, update.old, update.new)
    moving = [update for update in updates if update.old != update.new]
    dry = bool(given(command) & _DRY)
    if moving:
        push(git, remote, moving, dry_run=dry, atomic="--atomic" in given(command))
    if moving and not dry:
        prove(git, remote, {update.ref: update.new for update in moving})
    lines = [_told(update) for update in updates]
    if given(command) & _FOLLOW and not dry:
        lines += _follow(git, remote, intent.wanted)
    title = f"To {remote}{' (dry run, nothing was pushed)' if dry else ''}:\n"
    verified: dict[str, object] = {"effect": not dry, "remote": remote, "refs": {u.ref: u.new for u in updates}}
    if not dry:
        verified["were"] = {update.ref: update.old for update in updates}
    return succeeded(title + listing(lines) + "\n", verified=verified)


def _update(git: Git, remote: str, one: Wanted, theirs: Mapping[str, str]) -> PushUpdate:
    """Return the exact move, having checked that it may be made without force, or that the lease holds."""
    old = theirs.get(one.destination)
    new = pushed_object(git, one)
    if one.leased:
        _check_lease(git, remote, one, old)
    elif new is not None and old is not None and old != new and not one.force:
        if one.destination.startswith(TAGS):
            raise Failed(
                "tag_exists", f"{remote} has another {one.destination}; a tag is not moved.", "Use a new tag name."
            )
        check_fast_forward(git, one.destination.removeprefix(HEADS), old, new)
    return PushUpdate(one.destination, old, new)


def pushed_object(git: Git, one: Wanted) -> str | None:
    """Return the object that goes to the remote, None for a deletion. Raises Failed("not_found_in_repository").

    A tag goes as the object it is, but of what is no commit, a file or a directory, nothing of it would be shown.
    """
    if one.source is None:
        return None
    found = resolve(git, one.source)
    if found is None:
        raise Failed(
            "not_found_in_repository", f"{one.source!r} names no commit here.", "git_cmd: branch -a lists branches."
        )
    return resolve(git, one.source, "object") if one.destination.startswith(TAGS) else found


def _check_lease(git: Git, remote: str, one: Wanted, old: str | None) -> None:
    expected = resolve(git, one.expected) if one.expected else _last_seen(git, remote, one.destination)
    if expected != old:
        raise Failed(
            "lease_broken",
            f"{remote} has {one.destination} at {old}, not at {expected} as expected; nothing was pushed.",
            "Fetch, look at what came, and decide again.",
        )


def _last_seen(git: Git, remote: str, ref: str) -> str | None:
    """Return what `remote` had at `ref` when it was last looked at; before the gateway itself did, what came along.

    A tracking ref that came with the repository may have been planted. It can make a lease hold that should not; what
    is overwritten is shown to operators and bound all the same.
    """
    name = ref.removeprefix(HEADS)
    return tracked(git, remote).get(name) or resolve(git, f"refs/remotes/{remote}/{name}")


def _reachable_tags(git: Git, wanted: Iterable[Wanted], theirs: Mapping[str, str]) -> tuple[Wanted, ...]:
    """Return the annotated tags that `wanted` commits carry and the remote lacks (`--follow-tags`)."""
    found: set[str] = set()
    for one in wanted:
        if one.source is not None:
            done = git.local(["for-each-ref", f"--merged={one.source}", "--format=%(objecttype) %(refname)", TAGS],
                             exact=True)  # fmt: skip
            rows = (line.split(" ", 1) for line in text(done.stdout).splitlines())
            found |= {name for kind, name in rows if kind == "tag" and name not in theirs}
    return tuple(Wanted(name, name) for name in sorted(found))


def _told(update: PushUpdate) -> str:
    if update.new is None:
        return f"{update.ref} deleted"
    if update.old == update.new:
        return f"{update.ref} is there already"
    return f"{update.ref} {update.old[:10] if update.old else '(new)'} -> {update.new[:10]}"


def _follow(git: Git, remote: str, wanted: Iterable[Wanted]) -> list[str]:
    lines = []
    for one in wanted:
        if one.source is not None and one.source.startswith(HEADS) and one.destination.startswith(HEADS):
            branch = one.source.removeprefix(HEADS)
            set_upstream(git, branch, remote, one.destination)
            lines.append(f"{branch} now follows {remote}/{one.destination.removeprefix(HEADS)}")
    return lines
