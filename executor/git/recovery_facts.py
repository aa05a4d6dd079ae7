"""What recovery has to know about a repository, looked up (the planner itself is pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from executor.git.inner_files import SMALL, read_inner
from executor.git.lock_files import LockFile, find_locks
from executor.git.questions import (
    Changes,
    changes,
    head,
    holder,
    in_progress,
    is_shallow,
    likely_default,
    local_branches,
    refs,
    remotes,
    split_z,
    text,
    upstream,
)
from executor.git.recovery import candidate_of, target_of
from executor.git.recovery_model import Activity, Lock, RecoveryFacts
from executor.git.refnames import HEADS
from executor.git.repository import Git

_REMOTES = "refs/remotes/"
_LOOKS_BACK = 5  # moves of HEAD that are searched for the branch it came from
# Without these files git cannot go back to where the operation began (builtin/rebase.c, builtin/am.c).
_NEEDED = {
    "rebase-merge": ("head-name", "onto", "orig-head"),
    "rebase-apply": ("next", "last"),
}


def look(git: Git, now: float | None = None) -> RecoveryFacts:
    """Return the facts about the repository. `now` is in seconds since the epoch, for the age of a lock."""
    at = head(git)
    branches = local_branches(git)
    if at.commit is None and (branches or at.branch is None):
        return RecoveryFacts(branch=at.branch, commit=None, branches=branches)  # git itself cannot say more
    seen = changes(git)
    tracking = refs(git, _REMOTES)
    activity = _activity(git)
    broken = _is_broken(git.paths.local, activity)
    detached = at.branch is None and at.commit is not None
    facts = RecoveryFacts(
        branch=at.branch,
        commit=at.commit,
        branches=branches,
        remote_branches=_remote_branches(tracking, remotes(git)),
        default_branch=_default_branch(git, tracking),
        previous_branch=_previous_branch(git, branches) if detached and not broken else None,
        activity=activity,
        activity_branch=_returns_to(git.paths.local, activity, branches),
        activity_broken=broken,
        conflicted=seen.conflicted,
        changed=len({*seen.staged, *seen.unstaged, *seen.conflicted}),
        untracked=len(seen.untracked),
        lonely=_lonely(git) if detached else 0,
        locks=tuple(Lock(each.name, each.age_seconds, _held(each)) for each in find_locks(git, now)),
        shallow=is_shallow(git),
    )
    return _with_target(git, facts, seen, tracking)


def _held(lock: LockFile) -> str:
    return f"process {lock.holder}" if lock.holder is not None else ""


def _with_target(git: Git, facts: RecoveryFacts, seen: Changes, tracking: dict[str, str]) -> RecoveryFacts:
    """Add what depends on the branch that will be returned to."""
    target = target_of(facts)
    if target is None:
        return facts
    other = holder(git, target)
    follows = upstream(git, target)
    name, gone = None, False
    if follows is not None:
        ref = follows.ref or f"{_REMOTES}{follows.remote}/{follows.merge.removeprefix(HEADS)}"
        name, gone = ref.removeprefix(_REMOTES), follows.commit is None and ref not in tracking
    candidate = candidate_of(facts, target)
    goal = facts.branches.get(target) or tracking.get(f"{_REMOTES}{candidate}")
    return replace(
        facts,
        elsewhere={target: str(other)} if other is not None else {},
        upstream=name,
        upstream_gone=gone,
        clashes=_clashes(git, facts.commit, goal, seen) if target != facts.branch else (),
    )


def _activity(git: Git) -> Activity | None:
    directory = git.paths.local
    name = in_progress(git)
    if name is not None:
        return Activity.AM if (directory / "rebase-apply" / "applying").exists() else Activity(name)
    todo = directory / "sequencer" / "todo"  # between two picks there is no CHERRY_PICK_HEAD
    if not todo.is_file():
        return None
    return Activity.REVERT if _line(directory, "sequencer/todo").startswith("revert") else Activity.CHERRY_PICK


def _returns_to(directory: Path, activity: Activity | None, branches: Mapping[str, str]) -> str | None:
    if activity is Activity.BISECT:
        return _line(directory, "BISECT_START").removeprefix(HEADS) or None
    if activity is Activity.REBASE:
        name = _rebase_note(directory, "head-name")
        if name:
            return name.removeprefix(HEADS) if name.startswith(HEADS) else None
        began_at = _rebase_note(directory, "orig-head")  # the branch itself has not moved yet
        there = [branch for branch, commit in branches.items() if commit == began_at]
        return there[0] if len(there) == 1 else None
    return None


def _rebase_note(directory: Path, name: str) -> str:
    return _line(directory, f"rebase-merge/{name}") or _line(directory, f"rebase-apply/{name}")


def _is_broken(directory: Path, activity: Activity | None) -> bool:
    if activity is Activity.BISECT:
        return not (directory / "BISECT_START").exists()
    if activity not in (Activity.REBASE, Activity.AM):
        return False
    there = next((name for name in _NEEDED if (directory / name).exists()), "rebase-merge")
    return not all(_line(directory, f"{there}/{name}") for name in _NEEDED[there])


def _line(directory: Path, name: str) -> str:
    return text(read_inner(directory, name, SMALL) or b"").strip()


def _remote_branches(tracking: Collection[str], names: Collection[str]) -> frozenset[tuple[str, str]]:
    found = set()
    for ref in tracking:
        short = ref.removeprefix(_REMOTES)
        remote = max((name for name in names if short.startswith(f"{name}/")), key=len, default=None)
        if remote is not None and short != f"{remote}/HEAD":
            found.add((remote, short.removeprefix(f"{remote}/")))
    return frozenset(found)


def _default_branch(git: Git, tracking: Collection[str]) -> str | None:
    known = local_branches(git).keys() | {ref.removeprefix(f"{_REMOTES}origin/") for ref in tracking}
    return likely_default(git, known)


def _previous_branch(git: Git, branches: Collection[str]) -> str | None:
    for back in range(1, _LOOKS_BACK + 1):
        # answers with the name as it was written: git-rev-parse(1) would not tell a tag of that name from it (C11)
        done = git.local(["check-ref-format", "--branch", f"@{{-{back}}}"], check=False)
        name = text(done.stdout).strip()
        if name in branches:
            return name
    return None


def _lonely(git: Git) -> int:
    reachable = ["--not", "--branches", "--tags", "--remotes"]
    return int(git.local(["rev-list", "--count", "HEAD", *reachable], exact=True).stdout)


def _clashes(git: Git, commit: str | None, goal: str | None, seen: Changes) -> tuple[str, ...]:
    """Return the uncommitted paths over which git would refuse to switch from `commit` to `goal`."""
    if commit is None or goal is None or commit == goal:
        return ()
    listing = git.local(["diff-tree", "-r", "-z", "--name-only", "--no-renames", commit, goal], exact=True).stdout
    differing = set(split_z(listing))
    places = differing | {str(parent) for path in differing for parent in Path(path).parents}
    work = {*seen.staged, *seen.unstaged, *seen.untracked, *seen.conflicted}
    above = {path: {str(parent) for parent in Path(path).parents} for path in work}
    return tuple(sorted(path for path in work if path in places or above[path] & differing))
