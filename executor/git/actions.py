"""The typed git operations: from a request to an outcome."""

from __future__ import annotations

from collections.abc import Mapping

from executor.errors import Failed, Problem
from executor.git import checking, committing, pushing, staging
from executor.git.guards import check_bound
from executor.git.questions import head
from executor.git.reports import fallen
from executor.git.repository import Git
from executor.outcome import Outcome
from executor.policy.model import AddParams, CommitParams, Operation, PushParams, Request, SetConfigParams


def run_operation(
    git: Git, request: Request, *, default_branch: str | None = None, bound: Mapping[str, str] | None = None
) -> Outcome:
    """Run one of git_status, git_add, git_commit, git_push, git_check, git_set_config and return its outcome.

    `default_branch` is what git_push takes when the request names none (the current branch where that is None too).
    `bound` holds the object ids that an approval was given for (see `executor.git.binding`); where one is no longer
    what it was, nothing runs.
    Every expected difficulty is in the outcome, as its state and error; any other exception is a bug.
    """
    try:
        check_bound(git, bound or {})
        return _run(git, request, default_branch, bound or {})
    except Problem as problem:
        return fallen(problem)


def _run(git: Git, request: Request, default_branch: str | None, bound: Mapping[str, str]) -> Outcome:
    match request.operation, request.params:
        case Operation.GIT_STATUS, _:
            return checking.status(git)
        case Operation.GIT_CHECK, _:
            return checking.check(git)
        case Operation.GIT_ADD, AddParams(paths=paths):
            return staging.add(git, paths)
        case Operation.GIT_COMMIT, CommitParams(message=message):
            return committing.commit(git, message, tree=bound.get("tree"))
        case Operation.GIT_PUSH, PushParams(branch=branch):
            name = branch or default_branch or _current_branch(git)
            return pushing.push_branch(git, name, bound)
        case Operation.GIT_SET_CONFIG, SetConfigParams(name=name, email=email):
            return committing.set_identity(git, name, email)
    raise ValueError(f"not a typed git operation: {request.operation}")


def _current_branch(git: Git) -> str:
    branch = head(git).branch
    if branch is None:
        raise Failed(
            "detached_head", "HEAD is on no branch, so there is none to push.", "Name the branch in the flag."
        )
    return branch
