"""How a repository that got stuck is brought back to work: facts -> diagnosis -> plan (pure).

Nothing here runs git. `recovery_facts` gathers the facts, `recovery_steps` walks the plan. A plan keeps before it
changes: its first step is always the one that makes every later step undoable.
"""

from __future__ import annotations

from collections.abc import Mapping

from executor.git.recovery_model import (
    STALE_LOCK_SECONDS,
    Activity,
    CannotRecover,
    Diagnosis,
    Lock,
    NothingToDo,
    RecoveryFacts,
    RecoveryPlan,
    Step,
    StepKind,
)
from executor.spans import plural


def target_of(facts: RecoveryFacts) -> str | None:
    """Return the branch to return to: the activity's own, the current, the one HEAD came from, the default one."""
    if facts.activity_branch in facts.branches:
        return facts.activity_branch
    if facts.branch is not None:
        return facts.branch
    for name in (facts.previous_branch, facts.default_branch):
        if name is not None and name in facts.branches:
            return name
    remote_names = {branch for _, branch in facts.remote_branches}
    return facts.default_branch if facts.default_branch in remote_names else None


def diagnose(facts: RecoveryFacts) -> Diagnosis:
    """Return what is wrong with a repository of which `facts` were seen."""
    target = target_of(facts)
    candidate = candidate_of(facts, target)
    found: list[str] = [_lock_words(lock) for lock in facts.locks]
    if facts.activity is not None:
        broken = ", and its own notes are broken" if facts.activity_broken else ""
        found.append(f"A {facts.activity.value} is in progress{broken}.")
    if facts.conflicted:
        found.append(f"{plural(len(facts.conflicted), 'file')} with unresolved conflicts.")
    if facts.branch is None and facts.commit is not None:
        found.append(f"HEAD is detached at {facts.commit[:10]}, on no branch.")
    if facts.lonely:
        found.append(f"{plural(facts.lonely, 'commit')} on no branch: only HEAD leads to them.")
    if facts.changed or facts.untracked:
        found.append(f"Uncommitted work: {plural(facts.changed, 'changed file')}, {facts.untracked} untracked.")
    if target is not None and facts.upstream is None and candidate is not None:
        found.append(f"Branch {target} follows no remote branch; {candidate} has its name.")
    if target is not None and facts.upstream_gone:
        found.append(f"Branch {target} follows {facts.upstream}, which is gone.")
    if facts.shallow:
        found.append("History is cut (a shallow clone), so how far branches have diverged cannot be known.")
    return Diagnosis(facts, target, tuple(found), candidate)


def plan(
    diagnosis: Diagnosis, *, date: str, keep_activity: bool = False
) -> RecoveryPlan | NothingToDo | CannotRecover:
    """Return what to do about `diagnosis`.

    Given the `date` for the name of a rescue branch (as 2025-01-31), and `keep_activity` to leave a rebase, merge …
    as it is. The plan is made of steps that each can be undone, the first one keeps what there is.
    """
    facts, target = diagnosis.facts, diagnosis.target
    obstacle = _obstacle(facts, target)
    if obstacle is not None:
        return obstacle
    if target is None or (facts.commit is None and not facts.locks):
        return NothingToDo("The repository has no commit yet.")
    keeps = keep_activity and facts.activity is not None
    steps = _lock_steps(facts)
    if not keeps and facts.commit is not None:
        steps += _activity_steps(facts) + _switch_steps(facts, target, diagnosis.candidate)
        steps += _upstream_steps(facts, target, diagnosis.candidate)
    if not steps:
        return NothingToDo(_fine_words(facts, target, keeps))
    kept = _preserve_step(facts, date)
    follows = diagnosis.candidate if any(s.kind is StepKind.SET_UPSTREAM for s in steps) else None
    verify = Step(
        StepKind.VERIFY,
        "Look at the result",
        f"Reads back that HEAD is {'as it was' if keeps else f'on {target}'} and that what was kept is there.",
    )
    summary = f"Keep what there is, then {'; '.join(_lower(step.title) for step in steps)}."
    return RecoveryPlan(summary, (kept, *steps, verify), target, follows, keeps)


def _obstacle(facts: RecoveryFacts, target: str | None) -> CannotRecover | None:
    live = [lock for lock in facts.locks if not lock.stale]
    if live:
        return CannotRecover(
            "locked",
            _lock_words(live[0]),
            f"Wait for that git to end, then ask again; a lock that nobody holds is removed after "
            f"{STALE_LOCK_SECONDS / 60:g} minutes.",
        )
    if facts.commit is None and facts.branch is None:
        return CannotRecover(
            "broken_head", "HEAD names no commit that is here.", "Look at it on the host: git fsck; git reflog."
        )
    if facts.commit is None and facts.branches:
        names = ", ".join(sorted(facts.branches)[:5])
        return CannotRecover(
            "unborn_branch",
            f"HEAD is on branch {facts.branch}, which has no commit, while there are others: {names}.",
            "If it was deleted, create it again from the reflog; or check out another branch by git_cmd.",
        )
    if facts.commit is not None and target is None:
        return CannotRecover(
            "no_branch", "There is no branch to return to.", "Create one by git_cmd: git switch -c NAME"
        )
    if target is not None and target != facts.branch and target in facts.elsewhere:
        return CannotRecover(
            "branch_elsewhere",
            f"Branch {target} is checked out in another work tree, {facts.elsewhere[target]}.",
            "Switch that work tree to another branch, or check out another branch here by git_cmd.",
        )
    return None


def _preserve_step(facts: RecoveryFacts, date: str) -> Step:
    does = "Keeps HEAD, branches, index and uncommitted work under refs/rescue, from where undo restores them."
    if not facts.lonely or facts.commit is None:
        return Step(StepKind.PRESERVE, "Keep what there is", does)
    name = rescue_name(facts.branches, date, facts.commit)
    commits = plural(facts.lonely, "commit")
    return Step(
        StepKind.PRESERVE,
        "Keep what there is",
        f"{does} Creates branch {name} for {commits} on no branch.",
        leaves=f"Branch {name} with {commits} that no other branch has.",
        names=(name,),
    )


def rescue_name(branches: Mapping[str, str], date: str, commit: str) -> str:
    """Return the name of a branch for `commit` that is free, or already points to it."""
    separator = "-" if "rescue" in branches else "/"  # a branch "rescue" leaves no room for "rescue/…"
    plain = f"rescue{separator}{date}-{commit[:7]}"
    name, number = plain, 1
    while branches.get(name, commit) != commit:
        number += 1
        name = f"{plain}-{number}"
    return name


def _lock_steps(facts: RecoveryFacts) -> tuple[Step, ...]:
    if not facts.locks:
        return ()
    names = tuple(lock.name for lock in facts.locks)
    does = f"Removes {', '.join(names)}: older than {STALE_LOCK_SECONDS / 60:g} minutes, and no process has it open."
    return (Step(StepKind.REMOVE_LOCKS, "Remove the stale lock", does, names=names),)


def _activity_steps(facts: RecoveryFacts) -> tuple[Step, ...]:
    if facts.activity is None:
        return _conflict_steps(facts)
    name = facts.activity.value
    if facts.activity_broken:
        does = f"Drops the broken notes of the {name}; HEAD and files stay where they are."
        return (Step(StepKind.FORGET, f"Forget the {name}", does, names=(name,)), *_conflict_steps(facts))
    if facts.activity is Activity.BISECT:
        does = "Drops the marks of the bisect; HEAD and files stay until the next step."
        return (Step(StepKind.ABORT, "End the bisect", does, names=(name,)),)
    work = "What was edited since it stopped is left only in the kept snapshot." if facts.changed else ""
    back = f"git goes back to {facts.activity_branch or 'where HEAD was'} as before the {name}."
    return (Step(StepKind.ABORT, f"Abort the {name}", back, work, (name,)),)


def _conflict_steps(facts: RecoveryFacts) -> tuple[Step, ...]:
    if not facts.conflicted:
        return ()
    does = "Takes the conflict marks out of the index; the files stay exactly as they are."
    leaves = f"{plural(len(facts.conflicted), 'file')} that may hold conflict markers."
    return (Step(StepKind.CLEAR_CONFLICTS, "Clear the conflict marks", does, leaves, facts.conflicted),)


def _switch_steps(facts: RecoveryFacts, target: str, candidate: str | None) -> tuple[Step, ...]:
    returns = facts.activity in (Activity.REBASE, Activity.AM) and not facts.activity_broken
    if facts.branch == target or (returns and facts.activity_branch == target):
        return ()
    steps: list[Step] = []
    if facts.clashes:
        shown = ", ".join(facts.clashes[:5]) + (" …" if len(facts.clashes) > 5 else "")
        does = f"Puts the uncommitted work into the stash, because it is in the way: {shown}."
        leaves = "The uncommitted work as the newest stash entry (git stash pop brings it back)."
        steps.append(Step(StepKind.SET_ASIDE, "Set uncommitted work aside", does, leaves, facts.clashes))
    if target in facts.branches:
        carried = facts.changed + facts.untracked and not facts.clashes
        carries = " Uncommitted work comes along." if carried else ""
        steps.append(Step(StepKind.SWITCH, f"Switch to {target}", f"Checks out {target}.{carries}", names=(target,)))
    else:
        does = f"Creates branch {target} at {candidate} and checks it out."
        names = (target, candidate or "")
        steps.append(Step(StepKind.CREATE_BRANCH, f"Create {target} from {candidate}", does, names=names))
    return tuple(steps)


def _upstream_steps(facts: RecoveryFacts, target: str, candidate: str | None) -> tuple[Step, ...]:
    if candidate is None or (facts.upstream is not None and not facts.upstream_gone):
        return ()
    does = f"{target} follows {candidate} from now on, so that ahead and behind are known."
    return (Step(StepKind.SET_UPSTREAM, f"Set the upstream to {candidate}", does, names=(target, candidate)),)


def candidate_of(facts: RecoveryFacts, target: str | None) -> str | None:
    """Return the remote branch of `target`'s name, as "origin/main"; None when there is none, or several."""
    having = sorted(remote for remote, branch in facts.remote_branches if branch == target)
    if "origin" in having:
        return f"origin/{target}"
    return f"{having[0]}/{target}" if len(having) == 1 else None


def _fine_words(facts: RecoveryFacts, target: str, keeps: bool) -> str:
    if keeps and facts.activity is not None:
        return f"The {facts.activity.value} is left as it is; finish it with --continue or --abort by git_cmd."
    if facts.upstream_gone:
        return f"HEAD is on {target}. What it follows, {facts.upstream}, is gone; the next push sets it anew."
    return f"HEAD is on {target} and nothing is in progress."


def _lock_words(lock: Lock) -> str:
    who = f"held by {lock.held_by}" if lock.held_by else "held by no process that can be seen"
    return f"The lock {lock.name} is {lock.age_seconds / 60:.0f} minutes old and {who}."


def _lower(title: str) -> str:
    return title[:1].lower() + title[1:]
