"""git_commit: a commit made of plumbing, in which no hook, editor, filter or work tree has a part.

`write-tree`, `commit-tree` with the message on standard input, then `update-ref` from the commit that was seen to the
new one: three processes that touch the git directory alone (contact none).
"""

from __future__ import annotations

from dataclasses import dataclass

from executor.errors import Failed, Refused
from executor.git.failures import failure
from executor.git.inner_files import SMALL, read_inner
from executor.git.lock_files import clear_stale_lock
from executor.git.questions import (
    Head,
    config_value,
    conflicted,
    head,
    identity,
    in_progress,
    index_tree,
    resolve,
    text,
)
from executor.git.reports import listing, spoken, succeeded
from executor.git.repository import Git
from executor.outcome import Outcome

# What an unfinished merge, cherry-pick or revert leaves, and `git commit` takes away when it concludes it.
_CONCLUDED = ("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "AUTO_MERGE", "SQUASH_MSG", "CHERRY_PICK_HEAD",
              "REVERT_HEAD")  # fmt: skip
_SHOW = ("show", "--stat", "--summary", "--format=", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")


@dataclass(frozen=True, slots=True)
class _Basis:
    """What a commit is built on."""

    at: Head
    tree: str
    parents: tuple[str, ...]
    author: dict[str, str]  # environment that keeps the author of a commit being cherry-picked
    concludes: str | None  # the operation in progress


def commit(git: Git, message: str, *, tree: str | None = None) -> Outcome:
    """Commit the index with `message` and report the commit.

    Given `tree`, the id that an approval was given for, only exactly that is committed. Concludes a merge, a
    cherry-pick or a revert in progress. Raises Refused("empty_message"), and Failed: `nothing_to_commit` (C10),
    `conflicts`, `identity_unknown`, `index_changed`, `ref_moved`.
    """
    if not message.strip():
        raise Refused("empty_message", "The commit message is empty.", "Put the message into the flag's body.")
    note = clear_stale_lock(git)
    basis = _basis(git)
    if tree is not None and basis.tree != tree:
        raise Failed(
            "index_changed", "What is staged is no longer what was approved; nothing was committed.", "Ask again."
        )
    _check_something_to_commit(git, basis)
    made = git.local(
        ["commit-tree", basis.tree, *(word for parent in basis.parents for word in ("-p", parent)), "-F", "-"],
        stdin=(message.rstrip("\n") + "\n").encode("utf-8", "surrogateescape"),
        env=basis.author,
    )
    new = text(made.stdout).strip()
    _move_head(git, basis, new, message)
    for name in _CONCLUDED if basis.concludes in ("merge", "cherry-pick", "revert", None) else ():
        (git.paths.local / name).unlink(missing_ok=True)
    where = basis.at.branch or "detached HEAD"
    output = f"{note}[{where} {new[:10]}] {message.strip().splitlines()[0]}\n" + spoken(git.local([*_SHOW, new]))
    now = head(git)
    verified = {"effect": now.commit == new, "commit": new, "branch": now.branch, "parents": list(basis.parents)}
    return succeeded(output, verified=verified)


def _basis(git: Git) -> _Basis:
    conflicts = conflicted(git)
    if conflicts:
        raise Failed(
            "conflicts",
            "There are conflicts to resolve; nothing was committed:\n" + listing(conflicts),
            "Resolve these files, then git_add them and commit again.",
        )
    if identity(git) is None:
        raise Failed(
            "identity_unknown",
            "This repository has no name and e-mail to commit with; nothing was committed.",
            "Raise git_set_config.flag with: Name | email",
        )
    at, going_on = head(git), in_progress(git)
    parents = [at.commit] if at.commit else []
    if going_on == "merge":
        parents += text(read_inner(git.paths.local, "MERGE_HEAD", SMALL) or b"").split()
    author = _author(git, "CHERRY_PICK_HEAD") if going_on == "cherry-pick" else {}
    return _Basis(at, index_tree(git), tuple(parents), author, going_on)


def _check_something_to_commit(git: Git, basis: _Basis) -> None:
    if len(basis.parents) > 1:
        return  # a merge is worth a commit even when it changes nothing
    empty = text(git.local(["hash-object", "-t", "tree", "--stdin"]).stdout).strip()
    before = resolve(git, basis.at.commit, "tree") if basis.at.commit else empty
    if basis.tree == before:
        raise Failed(
            "nothing_to_commit",
            "Nothing is staged, so there is nothing to commit.",
            "Stage something first: git_add.flag",
        )


def _author(git: Git, rev: str) -> dict[str, str]:
    """Return the environment that makes the author of `rev` the author of the next commit."""
    done = git.local(["log", "-1", "--no-mailmap", "--format=%an%x00%ae%x00%ad", "--date=raw", rev], exact=True)
    name, email, date = text(done.stdout).removesuffix("\n").split("\0")
    return {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email, "GIT_AUTHOR_DATE": date}


def _move_head(git: Git, basis: _Basis, new: str, message: str) -> None:
    """Move HEAD (the branch it stands for, or HEAD itself when detached) from the commit seen to the new one."""
    kind = {0: " (initial)", 1: ""}.get(len(basis.parents), " (merge)")
    reflog = f"commit{kind}: {message.strip().splitlines()[0]}"
    done = git.local(["update-ref", "-m", reflog, "HEAD", new, basis.at.commit or ""], check=False)
    if done.exit_code != 0:
        problem = failure(["update-ref"], done.exit_code, done.stderr)
        if problem.code == "repository_locked":
            raise Failed(problem.code, f"{problem.message}\nThe commit is kept as {new}.", problem.hint)
        raise Failed(
            "ref_moved",
            f"The branch moved while the commit was made, so it was left alone; the commit is kept as {new}.",
            "Look with git_status and commit again.",
        )


def set_identity(git: Git, name: str, email: str) -> Outcome:
    """Set the repository's own name and e-mail, and report what was read back."""
    found = set_config(git, "user.name", name), set_config(git, "user.email", email)
    verified = {"effect": found == (name, email), "name": found[0], "email": found[1]}
    return succeeded(f"Commits are now made by {name} <{email}>.\n", verified=verified)


def set_config(git: Git, key: str, value: str) -> str | None:
    """Set one value of the local repository's own configuration and return it as read back."""
    git.local(["config", "--local", "--replace-all", "--", key, value])
    return config_value(git, key)
