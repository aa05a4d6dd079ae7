"""Walks a recovery plan: each step is told when it begins and ends, the first that fails is the last.

Everything was kept by the first step, so what comes after can stop anywhere and be undone as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from executor.errors import Failed, Problem, Refused
from executor.git.bringing_in import Coming
from executor.git.coming_files import standing_in_the_way
from executor.git.guards import backed_out
from executor.git.index_draft import refuse_gitlinks
from executor.git.lock_files import clear_stale_locks, find_locks
from executor.git.pushing import set_upstream
from executor.git.questions import conflicted, head, in_progress, index_gitlinks, resolve, tree_gitlinks, upstream
from executor.git.recovery import diagnose, plan
from executor.git.recovery_facts import look
from executor.git.recovery_model import (
    Activity,
    CannotRecover,
    Diagnosis,
    NothingToDo,
    RecoveryFacts,
    RecoveryPlan,
    Step,
    StepKind,
)
from executor.git.refnames import HEADS
from executor.git.repository import Git
from executor.git.rescue import preserve
from executor.git.rescue_record import record_ref
from executor.git.transfer import update_refs
from executor.git.transfer_plan import RefChange
from executor.outcome import Outcome, State
from executor.policy.model import Contact


class StepState(StrEnum):
    STARTED = "started"
    DONE = "done"
    FAILED = "failed"


OnStep = Callable[[str, str, str], None]  # step's title, a StepState, detail


@dataclass(frozen=True, slots=True)
class _Walk:
    """What every step may need."""

    git: Git
    facts: RecoveryFacts
    plan: RecoveryPlan
    request_id: str


def planned(
    git: Git, *, keep_activity: bool = False, now: float | None = None
) -> tuple[Diagnosis, RecoveryPlan | NothingToDo | CannotRecover]:
    """Look at the repository and return what is wrong and what would be done about it. Changes nothing."""
    moment = time.time() if now is None else now
    diagnosis = diagnose(look(git, moment))
    date = time.strftime("%Y-%m-%d", time.gmtime(moment))
    return diagnosis, plan(diagnosis, date=date, keep_activity=keep_activity)


def recover(
    git: Git, request_id: str, *, on_step: OnStep, keep_activity: bool = False, now: float | None = None
) -> Outcome:
    """Bring the repository back to work and return what was done and read back.

    `on_step` is told each step's title, its StepState and a detail. With `keep_activity` a rebase, merge … in
    progress is left as it is. Raises Refused, having changed nothing, where only a person can judge the state, where
    what is there cannot be kept, or where an embedded repository would get in.
    """
    diagnosis, decided = planned(git, keep_activity=keep_activity, now=now)
    if isinstance(decided, CannotRecover):
        raise Refused(decided.code, decided.reason, decided.hint)
    if isinstance(decided, NothingToDo):
        said = "\n".join([*diagnosis.findings, decided.reason])
        return Outcome(State.SUCCEEDED, output=said + "\n", verified={"effect": True, "changed": False})
    if not git.submodules:
        refuse_gitlinks(index_gitlinks(git))
        refuse_gitlinks(_gitlinks_of_target(git, decided))
    return _walk(_Walk(git, diagnosis.facts, decided, request_id), on_step)


def _walk(walk: _Walk, on_step: OnStep) -> Outcome:
    lines: list[str] = []
    for step in walk.plan.steps:
        on_step(step.title, StepState.STARTED, step.does)
        try:
            detail = _DO[step.kind](walk, step)
        except Problem as problem:
            on_step(step.title, StepState.FAILED, problem.message)
            if step.kind is StepKind.PRESERVE:
                raise
            return _stopped(walk, step, problem, lines)
        on_step(step.title, StepState.DONE, detail)
        lines.append(f"{step.title}: {detail}")
    at = head(walk.git)
    lines += [f"Left behind: {left}" for left in walk.plan.leaves]
    verified = {"effect": True, "branch": at.branch, "commit": at.commit, "rescue": walk.request_id}
    return Outcome(State.SUCCEEDED, 0, "\n".join(lines) + "\n", verified=verified)


def _stopped(walk: _Walk, step: Step, problem: Problem, lines: list[str]) -> Outcome:
    kept = f"Everything is kept under refs/rescue/{walk.request_id}; undo of {walk.request_id} goes back."
    error = Failed(problem.code, f"Stopped at: {step.title}. {problem.message}", f"{problem.hint} {kept}".strip())
    verified = {"effect": False, "why": problem.message, "rescue": walk.request_id}
    return Outcome(State.FAILED, 1, "\n".join([*lines, kept]) + "\n", error=error, verified=verified)


def _preserve(walk: _Walk, step: Step) -> str:
    goal = _goal(walk.git, walk.plan)
    aborts = walk.facts.activity is not None
    coming = Coming(trees=((goal,) if goal else ()) + (("ORIG_HEAD",) if aborts else ()), resumes=aborts)
    also = standing_in_the_way(walk.git, coming)
    rescue = preserve(walk.git, walk.request_id, worktree=True, also=also)
    said = "every branch, and the uncommitted work" if rescue.snapshot else "every branch; nothing was uncommitted"
    for name in step.names:
        if resolve(walk.git, HEADS + name) is None:
            update_refs(walk.git, [RefChange(HEADS + name, None, walk.facts.commit)], "recovery: keep commits")
        said += f"; commits on no branch are now on {name}"
    return f"kept {said}"


def _remove_locks(walk: _Walk, step: Step) -> str:
    gone = clear_stale_locks(walk.git)
    return f"removed: {', '.join(gone)}" if gone else "it was gone already"


def _abort(walk: _Walk, step: Step) -> str:
    (name,) = step.names
    if name == Activity.BISECT:
        return _end_bisect(walk.git)
    _change(walk.git, [name, "--abort"])
    return f"the {name} is aborted"


def _forget(walk: _Walk, step: Step) -> str:
    (name,) = step.names
    if name == Activity.BISECT:
        return _end_bisect(walk.git)
    _change(walk.git, [name, "--quit"])
    return f"the notes of the {name} are gone"


def _end_bisect(git: Git) -> str:
    """Drop the marks of a bisect. `git bisect reset` is a shell script up to git 2.39, and there is no shell here."""
    listing = git.local(["for-each-ref", "--format=delete %(refname)", "refs/bisect/"], exact=True).stdout
    git.local(["update-ref", "--stdin"], stdin=listing)
    for path in git.paths.local.glob("BISECT_*"):
        path.unlink()
    return "the marks of the bisect are gone"


def _clear_conflicts(walk: _Walk, step: Step) -> str:
    _change(walk.git, ["reset", "--quiet"])
    return f"files no longer marked as conflicting: {len(step.names)}"


def _set_aside(walk: _Walk, step: Step) -> str:
    _change(walk.git, ["stash", "push", "--include-untracked", "--message", "set aside by git_recover"])
    return "the uncommitted work is the newest stash entry"


def _switch(walk: _Walk, step: Step) -> str:
    (target,) = step.names
    _change(walk.git, ["switch", "--quiet", "--no-guess", target])
    return f"HEAD is on {target}"


def _create_branch(walk: _Walk, step: Step) -> str:
    target, start = step.names
    _change(walk.git, ["switch", "--quiet", "--no-track", "--create", target, f"refs/remotes/{start}"])
    return f"HEAD is on {target}, made from {start}"


def _set_upstream(walk: _Walk, step: Step) -> str:
    target, follows = step.names
    set_upstream(walk.git, target, follows.removesuffix(f"/{target}"), HEADS + target)
    return f"{target} follows {follows}"


def _verify(walk: _Walk, step: Step) -> str:
    git, wanted = walk.git, walk.plan
    at = head(git)
    wrong = []
    if wanted.keeps_activity:
        if (at.branch, at.commit) != (walk.facts.branch, walk.facts.commit):
            wrong.append("HEAD moved")
    else:
        if at.branch != wanted.target:
            wrong.append(f"HEAD is on {at.branch or 'no branch'}, not on {wanted.target}")
        wrong += [f"a {name} is still in progress" for name in [in_progress(git)] if name is not None]
        wrong += ["files still have conflicts"] if conflicted(git) else []
    if wanted.upstream is not None and upstream(git, wanted.target) is None:
        wrong.append(f"{wanted.target} follows nothing")
    wrong += [f"{lock.name} is there" for lock in find_locks(git)]
    if resolve(git, record_ref(walk.request_id)) is None:
        wrong.append("what was kept is not there")
    kept = (name for first in wanted.steps[:1] for name in first.names)
    wrong += [f"branch {name} does not hold the commits" for name in kept if not _holds(walk, name)]
    if wrong:
        raise Failed(
            "not_verified",
            f"Read back, it is not as it should be: {'; '.join(wrong)}.",
            "An operator has to look at it on the host.",
        )
    return f"HEAD is on {at.branch or 'no branch'}, and everything that was kept is there"


def _holds(walk: _Walk, name: str) -> bool:
    return resolve(walk.git, HEADS + name) == walk.facts.commit


def _goal(git: Git, decided: RecoveryPlan) -> str | None:
    """Return the commit whose files the plan brings into the work tree."""
    created = next((step.names[1] for step in decided.steps if step.kind is StepKind.CREATE_BRANCH), None)
    return resolve(git, HEADS + decided.target) or (resolve(git, f"refs/remotes/{created}") if created else None)


def _gitlinks_of_target(git: Git, decided: RecoveryPlan) -> tuple[str, ...]:
    goal = _goal(git, decided)
    return tree_gitlinks(git, goal) if goal is not None else ()


def _change(git: Git, args: list[str]) -> None:
    with backed_out(git, allowed=git.submodules):
        git.local(args, contact=Contact.WRITE)


_DO: Mapping[StepKind, Callable[[_Walk, Step], str]] = {
    StepKind.PRESERVE: _preserve,
    StepKind.REMOVE_LOCKS: _remove_locks,
    StepKind.ABORT: _abort,
    StepKind.FORGET: _forget,
    StepKind.CLEAR_CONFLICTS: _clear_conflicts,
    StepKind.SET_ASIDE: _set_aside,
    StepKind.SWITCH: _switch,
    StepKind.CREATE_BRANCH: _create_branch,
    StepKind.SET_UPSTREAM: _set_upstream,
    StepKind.VERIFY: _verify,
}
