"""git_push: one branch, forward only, to the exact commit that was looked at, and proved by asking the remote."""

from __future__ import annotations

from collections.abc import Mapping

from executor.errors import Failed
from executor.git.push_plan import check_bound_move
from executor.git.questions import ahead_behind, head, is_ancestor, is_shallow, remotes, resolve, upstream
from executor.git.refnames import HEADS
from executor.git.reports import succeeded
from executor.git.repository import Git
from executor.git.transfer import PushUpdate, ls_remote, push
from executor.outcome import Outcome

# In the work tree `git remote add` reaches only the local repository, which never talks to a remote.
_ADD_REMOTE = "Ask for one by a flag, which an operator approves: git_cmd: remote add origin URL"
_FETCH_HINT = "Fetch (git_cmd: fetch origin), merge or rebase onto the remote's branch, and push again."


def push_branch(git: Git, branch: str, bound: Mapping[str, str] | None = None) -> Outcome:
    """Push `branch` to the branch of the same name at its remote, fast-forward only; set its upstream if missing.

    Given the ids that an approval was `bound` to, nothing else is pushed and over nothing else. Raises Failed:
    `unborn_branch`, `no_such_branch`, `no_remote`, `non_fast_forward`, `history_cut` (C23), `branch_moved`,
    `remote_changed`, `remote_declined`, `push_unproved`, or a code of `failures`.
    """
    commit = local_commit(git, branch)
    remote, ref = remote_of(git, branch), HEADS + branch
    there = ls_remote(git, remote, [ref]).get(ref)
    check_bound_move(bound or {}, ref, there, commit)
    if there != commit:
        check_fast_forward(git, branch, there, commit)
        push(git, remote, [PushUpdate(ref, there, commit)])
        prove(git, remote, {ref: commit})
    said = _said(remote, branch, there, commit) + _follow(git, branch, remote)
    verified = {"effect": True, "remote": remote, "ref": ref, "old": there, "new": commit}
    return succeeded(said, verified=verified)


def local_commit(git: Git, branch: str) -> str:
    """Return the commit of a local branch. Raises Failed: `unborn_branch`, `no_such_branch`."""
    commit = resolve(git, HEADS + branch)
    if commit is not None:
        return commit
    if head(git).branch == branch:
        raise Failed("unborn_branch", f"{branch} has no commit yet.", "Commit something first: git_add, git_commit.")
    raise Failed(
        "no_such_branch", f"There is no local branch named {branch!r}.", "git_cmd: branch lists the branches."
    )


def remote_of(git: Git, branch: str) -> str:
    """Return the name of the remote that `branch` belongs to: its upstream's, origin, or the only one there is."""
    known = remotes(git)
    follows = upstream(git, branch)
    for name in (follows.remote if follows else "", "origin"):
        if name in known:
            return name
    if len(known) == 1:
        return next(iter(known))
    raise Failed(
        "no_remote",
        f"Several remotes and none is origin: {', '.join(sorted(known))}." if known else "No remote is configured.",
        "Set the branch's upstream first." if known else _ADD_REMOTE,
    )


def check_fast_forward(git: Git, branch: str, there: str | None, commit: str) -> None:
    """Raise Failed unless moving the remote's branch from `there` to `commit` only adds commits."""
    if there is None or is_ancestor(git, there, commit):
        return
    if resolve(git, there) is None:
        raise Failed(
            "non_fast_forward", f"The remote's {branch} has commits that are not here ({there[:10]}).", _FETCH_HINT
        )
    if is_shallow(git):
        raise Failed(
            "history_cut",
            f"This is a shallow clone: whether {branch} only adds to the remote's cannot be known.",
            "Fetch the rest of the history first: git_cmd: fetch --unshallow origin",
        )
    counts = ahead_behind(git, commit, there)
    detail = f" ({counts[0]} ahead, {counts[1]} behind)" if counts else ""
    raise Failed("non_fast_forward", f"The remote's {branch} has commits that yours lacks{detail}.", _FETCH_HINT)


def prove(git: Git, remote: str, wanted: dict[str, str | None]) -> None:
    """Ask the remote, and raise Failed("push_unproved") unless each ref is where it was pushed (None: gone)."""
    found = ls_remote(git, remote, sorted(wanted))
    for ref, commit in wanted.items():
        if found.get(ref) != commit:
            raise Failed(
                "push_unproved",
                f"The push was accepted, but {remote} now has {ref} at {found.get(ref)} and not at {commit}.",
                "Somebody may have pushed right after; fetch and look.",
            )


def _said(remote: str, branch: str, there: str | None, commit: str) -> str:
    if there == commit:
        return f"{remote} already has {branch} at {commit[:10]}; nothing to push.\n"
    if there is None:
        return f"Pushed {branch} to {remote} as a new branch at {commit[:10]}.\n"
    return f"Pushed {branch} to {remote}: {there[:10]} -> {commit[:10]}.\n"


def _follow(git: Git, branch: str, remote: str) -> str:
    """Make `branch` follow the branch just pushed unless it follows one already; return a line that says so."""
    if upstream(git, branch) is not None:
        return ""
    set_upstream(git, branch, remote, HEADS + branch)
    return f"{branch} now follows {remote}/{branch}.\n"


def set_upstream(git: Git, branch: str, remote: str, merge: str) -> None:
    """Write the upstream of `branch`: full ref name `merge` at `remote`."""
    git.local(["config", "--local", "--replace-all", f"branch.{branch}.remote", remote])
    git.local(["config", "--local", "--replace-all", f"branch.{branch}.merge", merge])
    _ensure_tracking(git, remote)


def _ensure_tracking(git: Git, remote: str) -> None:
    """Tell the local repository where the remote's branches are kept, or it could not resolve an upstream."""
    key = f"remote.{remote}.fetch"
    if git.local(["config", "--local", "--get-all", key], check=False).exit_code != 0:
        git.local(["config", "--local", key, f"+refs/heads/*:refs/remotes/{remote}/*"])
