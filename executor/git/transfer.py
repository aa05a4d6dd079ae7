"""Talking to remotes: list, fetch and push, through the transfer repository alone.

What the local processes can write never decides where this connects or with what: the address comes from
`transfer.git/config`, the rest from the host's settings. New objects are checked (`transfer.fsckObjects`) and land in
the local repository's store; its refs are then moved by plain ref updates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Failed
from executor.git.failures import failure
from executor.git.inner_files import LIST_BYTES, read_inner, remove_inner, write_inner
from executor.git.large_transfers import fetch_content, push_content
from executor.git.questions import head, is_ancestor, refs, remotes, text
from executor.git.refnames import HEADS, TAGS
from executor.git.remote_address import RemoteAddress, parse_remote
from executor.git.repository import Git
from executor.git.transfer_plan import RefChange, as_instructions, parse_porcelain, plan_take_over

_INCOMING = "refs/gateway/incoming"  # in the transfer repository, for as long as one fetch takes
_SHOWN_CHARACTERS = 2000
_ADD_REMOTE = "git_cmd: remote add NAME URL asks an operator for it."


@dataclass(frozen=True, slots=True)
class PushUpdate:
    """One ref to move at a remote: `ref` in full, to commit `new` (None deletes), only if it still is at `old`."""

    ref: str
    old: str | None
    new: str | None


def address_of(git: Git, remote: str) -> RemoteAddress:
    """Return where `remote` is. Raises Failed("no_remote") and Refused("remote_url")."""
    known = remotes(git)
    url = known.get(remote)
    if url is None:
        there = f"There is: {', '.join(sorted(known))}." if known else "None is configured."
        raise Failed("no_remote", f"There is no remote named {remote!r}. {there}", _ADD_REMOTE)
    access = git.access
    return parse_remote(url, allow_local=access.allow_local_remote, allow_plain_http=access.allow_plain_http)


def ls_remote(
    git: Git, remote: str, patterns: Sequence[str] = (), *, deadline: float | None = None
) -> dict[str, str]:
    """Return full ref name -> object id as the remote says now; annotated tags also appear peeled, as `NAME^{}`.

    Given full ref names as `patterns`, only those. It may take `deadline` seconds, the repository's own unless given.
    Raises Failed with a named code, TimedOut("remote_timeout").
    """
    done = git.transfer(
        ["ls-remote", "--quiet", remote, *patterns],
        address=address_of(git, remote),
        deadline=deadline,
        exact=True,
    )
    pairs = (line.split("\t", 1) for line in text(done.stdout).splitlines())
    return {name: object_id for object_id, name in pairs}


def tracked(git: Git, remote: str) -> dict[str, str]:
    """Return short branch name -> the object that `remote` had there when it last was talked to.

    From the transfer repository, which no command on the work tree can write: refs of the local one may be planted.
    Some of the objects may be gone here.
    """
    prefix = f"refs/remotes/{remote}/"
    return {name.removeprefix(prefix): there for name, there in _transfer_refs(git, (prefix,)).items()}


def default_branch(git: Git, remote: str) -> str:
    """Return the branch that the remote's HEAD stands for. Raises Failed("remote_ref_missing") where it says none."""
    done = git.transfer(
        ["ls-remote", "--quiet", "--symref", remote, "HEAD"], address=address_of(git, remote), exact=True
    )
    for line in text(done.stdout).splitlines():
        if line.startswith(f"ref: {HEADS}") and line.endswith("\tHEAD"):
            return line.removeprefix(f"ref: {HEADS}").removesuffix("\tHEAD")
    raise Failed("remote_ref_missing", f"{remote} does not say which branch is its default.", "Name the branch.")


def fetch(
    git: Git,
    remote: str,
    sources: Sequence[str] = (),
    *,
    options: Sequence[str] = (),
    prune: bool = False,
    move_tags: bool = False,
) -> tuple[RefChange, ...]:
    """Fetch from `remote` and return which refs of the local repository moved.

    Given `sources` (branches or refs of the remote) only those, else what the remote is configured to give.
    `options` are git's own for depth and tags. Tracking refs follow the remote; a tag that exists is left alone
    unless `move_tags`.
    Raises Failed with a named code, TimedOut("remote_timeout").
    """
    _share_shallow(git)
    arguments = ["fetch", "--quiet", "--no-auto-maintenance", "--no-recurse-submodules", *options]
    if prune:
        arguments.append("--prune")
    address = address_of(git, remote)
    git.transfer([*arguments, "--", remote, *sources], address=address, objects=True)
    changes = _take_over(git, remote, prune=prune, move_tags=move_tags)
    fetch_content(git, remote, address, [change.new for change in changes])
    return changes


def fetch_into(git: Git, remote: str, source: str, destination: str, *, force: bool = False) -> RefChange | None:
    """Fetch `source` of `remote` into the local branch or tag `destination`; return how it moved, None if it did not.

    As in git-fetch(1): only forward unless `force`, and never the branch that is checked out. Raises Failed:
    `branch_in_use`, `non_fast_forward`, or a code of `failures`.
    """
    if not destination.startswith("refs/"):
        destination = (TAGS if source.startswith(TAGS) else HEADS) + destination
    if destination == f"{HEADS}{head(git).branch}":
        raise Failed(
            "branch_in_use", f"{destination} is checked out, so it is not fetched into.", "Use pull instead."
        )
    git.transfer(
        [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-auto-maintenance",
            "--no-write-fetch-head",
            "--",
            remote,
            f"+{source}:{_INCOMING}",
        ],
        address=address_of(git, remote),
        objects=True,
    )
    new = _transfer_refs(git, (_INCOMING,))[_INCOMING]
    git.transfer(["update-ref", "-d", _INCOMING])
    old = refs(git, destination).get(destination)
    if old == new:
        return None
    if old is not None and not force and not (destination.startswith(HEADS) and is_ancestor(git, old, new)):
        raise Failed(
            "non_fast_forward",
            f"{destination} has what the remote's {source} lacks; it was left as it is.",
            "Fetch into another name, or look at both with git_cmd: log.",
        )
    change = RefChange(destination, old, new)
    update_refs(git, [change], f"fetch {remote} {source}")
    return change


def push(
    git: Git, remote: str, updates: Sequence[PushUpdate], *, dry_run: bool = False, atomic: bool = True
) -> dict[str, str]:
    """Move refs at `remote`, each only if it still is where `old` says, and return ref -> git's one-letter result.

    A lease is no fast-forward check: the caller has made that one. Raises Failed: `remote_changed` when a lease no
    longer holds, `remote_declined` when the other side said no, or a code of `failures`.
    """
    _share_shallow(git)
    arguments = ["push", "--porcelain", "--no-verify", "--no-recurse-submodules", "--no-signed", "--no-follow-tags"]
    arguments += ["--dry-run"] * dry_run + ["--atomic"] * (atomic and len(updates) > 1)
    arguments += [f"--force-with-lease={update.ref}:{update.old or ''}" for update in updates]
    specs = [f"{update.new or ''}:{update.ref}" for update in updates]
    address = address_of(git, remote)
    if not dry_run:
        push_content(git, remote, address, [update.new for update in updates])
    done = git.transfer([*arguments, "--", remote, *specs], address=address, check=False)
    results = parse_porcelain(text(done.stdout))
    for ref, (flag, summary) in results.items():
        if flag == "!":
            raise _rejected(git, remote, {update.ref: update.old for update in updates}, ref, summary, done.stderr)
    if done.exit_code != 0:
        raise failure(arguments, done.exit_code, done.stderr)
    if not dry_run:
        _follow(git, remote, prune=any(update.new is None for update in updates))
    return {ref: flag for ref, (flag, _) in results.items()}


def _follow(git: Git, remote: str, *, prune: bool) -> None:
    """Move the tracking refs after a push. Raises Failed, saying that the push itself was made."""
    try:
        _take_over(git, remote, prune=prune)
    except Failed as problem:
        said = f"The push was made, but what follows {remote} here could not be moved. {problem.message}"
        raise Failed(problem.code, said, problem.hint) from problem


def update_refs(git: Git, updates: Sequence[RefChange], message: str) -> None:
    """Move local refs all together, each only from its `old`. Raises Failed when one is no longer there."""
    if not updates:
        return
    git.local(["update-ref", "-m", message, "--stdin", "-z"], stdin=as_instructions(updates))


def _take_over(git: Git, remote: str, *, prune: bool, move_tags: bool = False) -> tuple[RefChange, ...]:
    """Bring the tracking refs, new tags, the cut of a shallow history and FETCH_HEAD into the local repository."""
    tracking = f"refs/remotes/{remote}/"
    theirs = _transfer_refs(git, (tracking, TAGS))
    ours = refs(git, tracking) | refs(git, TAGS)
    changes = plan_take_over(ours, theirs, tracking, prune=prune, move_tags=move_tags)
    for name in ("shallow", "FETCH_HEAD"):
        _mirror(git.paths.transfer, git.paths.local, name)
    update_refs(git, changes, f"fetch {remote}")
    return changes


def _transfer_refs(git: Git, prefixes: Sequence[str]) -> dict[str, str]:
    # %(symref) leaves out origin/HEAD, which is no ref of its own
    done = git.transfer(["for-each-ref", "--format=%(objectname) %(refname) %(symref)", *prefixes], exact=True)
    rows = (line.split(" ") for line in text(done.stdout).splitlines())
    return {name: object_id for object_id, name, symref in rows if not symref}


def _share_shallow(git: Git) -> None:
    """Tell the transfer repository where local history was cut, or it would promise commits that are not there."""
    _mirror(git.paths.local, git.paths.transfer, "shallow")


def _mirror(source: Path, target: Path, name: str) -> None:
    """Make the file `name` in `target` a copy of that in `source`, in one step; where there is none it goes.

    No link is followed on either side. Raises Refused("git_dir_special").
    """
    content = read_inner(source, name, LIST_BYTES)
    if content is None:
        remove_inner(target, name)
    else:
        write_inner(target, name, content)


def _rejected(
    git: Git, remote: str, leases: Mapping[str, str | None], ref: str, summary: str, stderr: bytes
) -> Failed:
    """Return why `ref` was not moved. Who loses a race is told of a broken lease, or only of a failed update."""
    if _has_moved(git, remote, leases, ref) or "stale info" in summary or "fetch first" in summary:
        return Failed(
            "remote_changed",
            f"The remote's {ref} is no longer where it was when this was decided; nothing was pushed.",
            "Fetch (git_cmd: fetch origin), look at what came, and push again.",
        )
    lines = text(stderr).replace("\r", "").splitlines()
    said = "\n".join(line for line in lines if line.startswith("remote:"))[-_SHOWN_CHARACTERS:]
    return Failed(
        "remote_declined",
        f"The remote declined {ref}: {summary}" + (f"\n{said}" if said else ""),
        "The remote's own rules (a hook or a protected branch) say no; follow them, or ask its owner.",
    )


def _has_moved(git: Git, remote: str, leases: Mapping[str, str | None], ref: str) -> bool:
    """Whether the remote, asked now, has `ref` elsewhere than it had to be; False where it does not answer."""
    try:
        return ref in leases and ls_remote(git, remote, [ref]).get(ref) != leases[ref]
    except Failed:
        return False
