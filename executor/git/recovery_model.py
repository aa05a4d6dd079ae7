"""The values that recovering a repository is made of: facts, diagnosis, steps, plan. All frozen, all pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

STALE_LOCK_SECONDS = 600.0  # C02: no git of ours or of a person takes so long with a lock that it does not have open


class Activity(StrEnum):
    """An operation that waits to be finished or aborted; the values are git's own names."""

    REBASE = "rebase"
    AM = "am"
    MERGE = "merge"
    CHERRY_PICK = "cherry-pick"
    REVERT = "revert"
    BISECT = "bisect"


class StepKind(StrEnum):
    PRESERVE = "preserve"
    REMOVE_LOCKS = "remove_locks"
    ABORT = "abort"  # end the activity the way git offers
    FORGET = "forget"  # drop an activity whose own notes are broken, HEAD stays
    CLEAR_CONFLICTS = "clear_conflicts"
    SET_ASIDE = "set_aside"
    SWITCH = "switch"
    CREATE_BRANCH = "create_branch"
    SET_UPSTREAM = "set_upstream"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock file in the git directory. `held_by` says which process has it open, empty when none was seen."""

    name: str
    age_seconds: float
    held_by: str = ""

    @property
    def stale(self) -> bool:
        return not self.held_by and self.age_seconds >= STALE_LOCK_SECONDS


@dataclass(frozen=True, slots=True)
class RecoveryFacts:
    """What was seen. `branch` is None when HEAD is detached, `commit` is None when HEAD names no commit.

    `clashes`, `upstream` and `upstream_gone` are about the branch that `target_of` names for the other facts.
    """

    branch: str | None
    commit: str | None
    branches: Mapping[str, str] = field(default_factory=dict)  # short name -> commit
    remote_branches: frozenset[tuple[str, str]] = frozenset()  # (remote, branch)
    default_branch: str | None = None
    previous_branch: str | None = None  # where HEAD was before it was detached
    activity: Activity | None = None
    activity_branch: str | None = None  # where the activity returns to
    activity_broken: bool = False  # its own notes are missing, so git cannot abort it
    conflicted: tuple[str, ...] = ()
    changed: int = 0  # tracked files with uncommitted changes
    untracked: int = 0
    clashes: tuple[str, ...] = ()  # uncommitted paths that differ on the target, so git would not switch
    lonely: int = 0  # commits that only HEAD reaches: no branch, tag or remote branch
    elsewhere: Mapping[str, str] = field(default_factory=dict)  # branch -> other work tree that has it checked out
    upstream: str | None = None
    upstream_gone: bool = False
    locks: tuple[Lock, ...] = ()
    shallow: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is wrong, in sentences, and which branch is worth returning to."""

    facts: RecoveryFacts
    target: str | None
    findings: tuple[str, ...]
    candidate: str | None = None  # the remote branch to follow, as "origin/main"


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `names` is what it acts on: branches, paths or lock files, as the kind has it."""

    kind: StepKind
    title: str
    does: str
    leaves: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecoveryPlan:
    summary: str
    steps: tuple[Step, ...]
    target: str
    upstream: str | None = None  # what `target` follows in the end, as "origin/main"; None is not checked
    keeps_activity: bool = False

    @property
    def leaves(self) -> tuple[str, ...]:
        return tuple(step.leaves for step in self.steps if step.leaves)


@dataclass(frozen=True, slots=True)
class NothingToDo:
    reason: str


@dataclass(frozen=True, slots=True)
class CannotRecover:
    """Nothing is touched; `hint` says what a person can do."""

    code: str
    reason: str
    hint: str
