"""What can be asked of a repository: one short function per question.

Answers come from exit codes, `-z` and porcelain output, and full ref names; nothing here reads git's prose, and a
tag named like a branch is never taken for it (C11). No question starts more than two processes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Failed
from executor.git.failures import failure
from executor.git.refnames import HEADS
from executor.git.repository import Git
from executor.policy.model import Contact

GITLINK_MODE = "160000"
# A symbolic ref cannot be made by `update-ref`, a path under the git directory is looked at without asking git: all
# of these lie directly in it, for the main work tree that we have.
_IN_PROGRESS = (
    ("rebase", "rebase-merge"),
    ("rebase", "rebase-apply"),
    ("merge", "MERGE_HEAD"),
    ("cherry-pick", "CHERRY_PICK_HEAD"),
    ("revert", "REVERT_HEAD"),
    ("bisect", "BISECT_LOG"),
)


@dataclass(frozen=True, slots=True)
class Head:
    """Where HEAD is. `branch` is None when detached, `commit` is None when the branch is unborn."""

    branch: str | None
    commit: str | None


@dataclass(frozen=True, slots=True)
class Upstream:
    """What a branch follows. `ref` is the local tracking ref; `commit` is None when it is gone."""

    remote: str
    merge: str  # full ref name at the remote
    ref: str | None
    commit: str | None

    @property
    def gone(self) -> bool:
        return self.commit is None


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Changes:
    """Uncommitted work by kind, as paths (bytes that are no UTF-8 are surrogate escapes, C08)."""

    staged: tuple[str, ...]
    unstaged: tuple[str, ...]
    untracked: tuple[str, ...]
    conflicted: tuple[str, ...]

    @property
    def clean(self) -> bool:
        return not (self.staged or self.unstaged or self.untracked or self.conflicted)


def text(raw: bytes) -> str:
    """Return git's bytes as text that turns back into the same bytes (C08)."""
    return raw.decode("utf-8", "surrogateescape")


def split_z(raw: bytes) -> list[str]:
    """Return the NUL-terminated fields of `raw`."""
    return [text(field) for field in raw.split(b"\0")[:-1]]


def head(git: Git) -> Head:
    """Return where HEAD is."""
    symbolic = git.local(["symbolic-ref", "-q", "HEAD"], check=False)
    branch = text(symbolic.stdout).removesuffix("\n").removeprefix(HEADS) if symbolic.exit_code == 0 else None
    return Head(branch, resolve(git, "HEAD"))


def resolve(git: Git, rev: str, kind: str = "commit") -> str | None:
    """Return the full id of `rev` peeled to `kind`, or None when it names no such object here."""
    done = git.local(
        ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{{kind}}}"], check=False, exact=True
    )
    found = text(done.stdout).strip()
    return found if done.exit_code == 0 and found else None


def refs(git: Git, prefix: str) -> dict[str, str]:
    """Return full ref name -> object id for every ref under `prefix` (a whole path component)."""
    done = git.local(["for-each-ref", "--format=%(objectname) %(refname)", prefix], exact=True)
    pairs = (line.split(" ", 1) for line in text(done.stdout).splitlines())
    return {name: object_id for object_id, name in pairs}


def local_branches(git: Git) -> dict[str, str]:
    """Return short branch name -> commit id."""
    return {name.removeprefix(HEADS): commit for name, commit in refs(git, HEADS).items()}


def likely_default(git: Git, known: Collection[str]) -> str | None:
    """Return the one of the `known` branches that origin's HEAD was last seen on, else main or master, else None."""
    said = git.local(["symbolic-ref", "-q", "refs/remotes/origin/HEAD"], check=False)
    theirs = text(said.stdout).strip().removeprefix("refs/remotes/origin/")
    return next((name for name in (theirs, "main", "master") if name in known), None)


def upstream(git: Git, branch: str) -> Upstream | None:
    """Return what `branch` follows, or None when nothing is configured or there is no such branch."""
    fields = "%(refname)%00%(upstream:remotename)%00%(upstream:remoteref)%00%(upstream)"
    done = git.local(["for-each-ref", f"--format={fields}", HEADS + branch], exact=True)
    for line in text(done.stdout).splitlines():
        name, remote, merge, ref = line.split("\0")
        if name == HEADS + branch and remote:
            return Upstream(remote, merge, ref or None, resolve(git, ref) if ref else None)
    return None


def is_shallow(git: Git) -> bool:
    """Return whether history was cut (C23)."""
    return (git.paths.local / "shallow").exists()


def is_ancestor(git: Git, older: str, newer: str) -> bool | None:
    """Return whether commit `older` is an ancestor of `newer`; None when that cannot be known.

    Not knowable: `older` is not here at all, or a cut history hides the answer (C23).
    """
    done = git.local(["merge-base", "--is-ancestor", older, newer], check=False)
    if done.exit_code == 0:
        return True
    if done.exit_code != 1 or is_shallow(git):
        return None
    return False


def ahead_behind(git: Git, ours: str, theirs: str) -> tuple[int, int] | None:
    """Return how many commits only `ours` and only `theirs` have; None when that cannot be known (C23)."""
    if is_shallow(git):
        return None
    done = git.local(["rev-list", "--left-right", "--count", f"{ours}...{theirs}", "--"], check=False, exact=True)
    if done.exit_code != 0:
        return None
    ahead, behind = done.stdout.split()
    return int(ahead), int(behind)


def index_tree(git: Git, index: Path | None = None) -> str:
    """Return the id of the tree that the index holds. Raises Failed("conflicts") when it holds unmerged entries."""
    done = git.local(["write-tree"], index=index, check=False)
    if done.exit_code != 0:
        if conflicted(git):
            raise Failed("conflicts", "There are conflicts to resolve.", "Resolve the files and git_add them first.")
        raise failure(["write-tree"], done.exit_code, done.stderr)
    return text(done.stdout).strip()


def index_gitlinks(git: Git, index: Path | None = None, paths: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the paths of embedded repositories (gitlinks) in the index; given `paths`, those that they match."""
    done = git.local(["ls-files", "--stage", "-z", "--", *paths], index=index, exact=True)
    return _gitlinks(done.stdout)


def tree_gitlinks(git: Git, treeish: str) -> tuple[str, ...]:
    """Return the paths of embedded repositories (gitlinks) in a commit's tree."""
    done = git.local(["ls-tree", "-r", "-z", "--full-tree", treeish], exact=True)
    return _gitlinks(done.stdout)


def _gitlinks(listing: bytes) -> tuple[str, ...]:
    if GITLINK_MODE.encode() not in listing:  # nearly always: saves taking a large listing apart
        return ()
    entries = (field.split("\t", 1) for field in split_z(listing))
    return tuple(sorted({path for meta, path in entries if meta.startswith(GITLINK_MODE + " ")}))


def in_progress(git: Git) -> str | None:
    """Return the name of the operation that waits to be finished: rebase, merge, cherry-pick, revert or bisect.

    `REBASE_HEAD` alone means nothing, it outlives its rebase (C13).
    """
    return next((name for name, file in _IN_PROGRESS if (git.paths.local / file).exists()), None)


def config_value(git: Git, key: str) -> str | None:
    """Return the last value of `key` in the local repository's own configuration, or None."""
    done = git.local(["config", "--local", "-z", "--get", key], check=False, exact=True)
    return text(done.stdout).removesuffix("\0") if done.exit_code == 0 else None


def identity(git: Git) -> Identity | None:
    """Return the name and e-mail that commits are made with, or None while either is missing."""
    name, email = config_value(git, "user.name"), config_value(git, "user.email")
    return Identity(name, email) if name and email else None


def remotes(git: Git) -> dict[str, str]:
    """Return remote name -> URL from the transfer repository; may hold credentials: mask before showing."""
    done = git.transfer(["config", "--local", "-z", "--get-regexp", r"^remote\..*\.url$"], check=False, exact=True)
    pairs = (field.split("\n", 1) for field in split_z(done.stdout))
    return {key.removeprefix("remote.").removesuffix(".url"): url for key, url in pairs}


def staged(git: Git) -> tuple[tuple[str, str], ...]:
    """Return (status letter, path) for each path of the index that differs from HEAD."""
    done = git.local(
        ["diff-index", "--cached", "--name-status", "-z", "--no-renames", "--ignore-submodules=all", _head_tree(git)],
        exact=True,
    )
    fields = split_z(done.stdout)
    return tuple(zip(fields[::2], fields[1::2], strict=True))


def _head_tree(git: Git) -> str:
    commit = resolve(git, "HEAD")
    if commit is not None:
        return commit
    return text(git.local(["hash-object", "-t", "tree", "--stdin"]).stdout).strip()  # unborn: the empty tree


def conflicted(git: Git) -> tuple[str, ...]:
    """Return the paths with unmerged index entries."""
    done = git.local(["ls-files", "--unmerged", "-z"], exact=True)
    return tuple(sorted({field.split("\t", 1)[1] for field in split_z(done.stdout)}))


def changes(git: Git) -> Changes:
    """Return the uncommitted work by kind."""
    done = git.local(
        ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"],
        contact=Contact.READ,
        exact=True,
    )
    staged_, unstaged, untracked, conflicts = [], [], [], []
    for field in split_z(done.stdout):
        code, path = field[:2], field[3:]
        if code == "??":
            untracked.append(path)
        elif "U" in code or code in ("AA", "DD"):
            conflicts.append(path)
        else:
            if code[0] != " ":
                staged_.append(path)
            if code[1] != " ":
                unstaged.append(path)
    return Changes(tuple(staged_), tuple(unstaged), tuple(untracked), tuple(conflicts))


def holder(git: Git, branch: str) -> Path | None:
    """Return the linked work tree, other than ours, that has `branch` checked out, or None."""
    done = git.local(["for-each-ref", "--format=%(refname)%00%(worktreepath)", HEADS + branch], exact=True)
    for line in text(done.stdout).splitlines():
        name, where = line.split("\0", 1)
        if name == HEADS + branch and where and Path(where) not in _ours(git):
            return Path(where)
    return None


def _ours(git: Git) -> tuple[Path, ...]:
    # git names the main work tree of a git directory outside of it by that directory or by GIT_WORK_TREE.
    return (git.paths.local, git.paths.home, git.paths.work_tree)
