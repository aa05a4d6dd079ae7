"""git_status and git_check: how things stand, in plain text for the agent."""

from __future__ import annotations

from executor.git.lock_files import find_locks
from executor.git.questions import Head, ahead_behind, head, identity, in_progress, is_shallow, remotes, upstream
from executor.git.remote_address import mask_userinfo
from executor.git.reports import listing, spoken, succeeded
from executor.git.repository import Git
from executor.git.submodules import submodule_drift
from executor.outcome import Outcome
from executor.policy.model import Contact


def status(git: Git) -> Outcome:
    """Return what `git status` says. The hot path: one process.

    Where submodules are allowed it also says, apart from what is changed, which are at another commit (C24).
    """
    done = git.local(["status", "--ignore-submodules=all"], contact=Contact.READ)
    output = spoken(done)
    if git.submodules and (drifted := submodule_drift(git)):
        output += "Submodules at another commit than recorded (git add PATH records it):\n" + listing(drifted) + "\n"
    return succeeded(output, files={"git_status.txt": output}, truncated=done.truncated)


def check(git: Git) -> Outcome:
    """Return identity, remotes (masked, C21), branch, upstream and what is in progress."""
    at = head(git)
    person = identity(git)
    lines = [
        ("Repository", git.paths.name),
        (
            "Identity",
            f"{person.name} <{person.email}>" if person else "not set (raise git_set_config.flag: Name | email)",
        ),
        ("Branch", _branch(at)),
        ("Commit", at.commit or "none yet"),
        ("Upstream", _upstream(git, at)),
        ("In progress", in_progress(git) or "nothing"),
        *((f"Remote {name}", mask_userinfo(url)) for name, url in sorted(remotes(git).items())),
    ]
    if is_shallow(git):
        lines.append(("History", "cut (shallow clone): git_cmd: fetch --unshallow origin fetches the rest"))
    for lock in find_locks(git):
        holder = f"held by process {lock.holder}" if lock.holder is not None else "held by nobody that is seen"
        lines.append(("Lock", f"{lock.name}, {lock.age_seconds / 60:.0f} min old, {holder}"))
    output = "".join(f"{name + ':':<13} {value}\n" for name, value in lines)
    return succeeded(output, files={"git_check.txt": output})


def _branch(at: Head) -> str:
    if at.branch is None:
        return "none: HEAD is detached"
    return at.branch if at.commit else f"{at.branch} (no commit yet)"


def _upstream(git: Git, at: Head) -> str:
    if at.branch is None:
        return "none (not on a branch)"
    follows = upstream(git, at.branch)
    if follows is None:
        return "none (git_push sets it)"
    name = f"{follows.remote}/{follows.merge.removeprefix('refs/heads/')}"
    if follows.commit is None or at.commit is None:
        return f"{name} (gone: not at the remote when it was last fetched)" if follows.commit is None else name
    counts = ahead_behind(git, at.commit, follows.commit)
    return f"{name} (unknown how far apart)" if counts is None else f"{name} ({counts[0]} ahead, {counts[1]} behind)"
