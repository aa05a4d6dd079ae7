"""Keep what there is before an operation changes it (promise: nothing is lost).

`refs/rescue/<request id>/` then holds: `HEAD` and `branches/<name>` for a person to look at or branch from,
`worktree` (a commit of the uncommitted work, when there was any), and `record`, from which `undo` restores all.
These refs keep the objects alive. Which rescues there are and which commit is the record of each is in the ledger,
outside the repository: a ref that somebody else put there is not believed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from executor.errors import Failed, Problem, Refused
from executor.git import rescue_objects as objects
from executor.git.questions import index_gitlinks, resolve, split_z, text
from executor.git.repository import Git
from executor.git.rescue_ledger import Entry, Ledger
from executor.git.rescue_record import NO_REFLOG, PREFIX, Rescue, from_json, record_ref, to_json
from executor.git.snapshot_directory import ignored_among, prepare
from executor.git.tree_snapshot import SnapshotLimits, TreeSnapshot, take
from executor.spans import several

__all__ = ["Rescue", "SnapshotLimits", "find", "ignored_in", "preserve", "prune_rescues", "rescued"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_OPERATORS_MARK = "."  # in the ids of what operators do on the host, and in no request's
_NAMED_BRANCHES = 64  # get a ref of their own under the rescue; the record holds the others all the same
_SHOWN = 5
_DAY_SECONDS = 86_400


def preserve(
    git: Git,
    request_id: str,
    *,
    worktree: bool,
    embedded: bool = False,
    also: Iterable[str] = (),
    limits: SnapshotLimits | None = None,
    now: int | None = None,
) -> Rescue:
    """Record refs, HEAD, index and git's notes as they are, with `worktree` also the files; return the record.

    `worktree`: the operation may change files. `embedded`: it may remove directories that hold a repository of their
    own (forced checkouts, cleaning). `also`: files to keep although git ignores them. `now`: seconds since the epoch.
    Changes no branch, index or file. Raises Refused("cannot_preserve") where something that could be lost cannot be
    kept, and names what; also where `request_id` has a rescue, which is of something else: requests are forgotten
    earlier than their rescues where the host's owner wants that, and an agent may use an id again then.
    """
    if _ID.fullmatch(request_id) is None:
        raise Refused("cannot_preserve", f"{request_id!r} cannot name a rescue.", "Use letters, digits, - and _.")
    if Ledger(git.paths.root).commit_of(request_id) is not None:
        raise Refused(
            "cannot_preserve",
            f"What there was before an earlier operation is kept under the id {request_id}, so this one was not"
            " started.",
            "Ask again under another id.",
        )
    try:
        kept = _observe(git, request_id, int(time.time()) if now is None else now)
        if worktree:
            kept = _with_files(git, kept, take(git, limits or SnapshotLimits(), also), embedded=embedded)
        _store(git, kept)
        return kept.rescue
    except Refused:
        raise
    except Problem as problem:
        if problem.stopped:
            raise  # nothing is wrong with what is to be kept
        raise Refused(
            "cannot_preserve",
            f"What the operation could lose could not be kept first, so it was not started: {problem.message}",
            problem.hint,
        ) from problem


def find(git: Git, request_id: str) -> Rescue | None:
    """Return what was kept for a request, or None. Raises Failed("rescue_unreadable") for a damaged record."""
    commit = Ledger(git.paths.root).commit_of(request_id)
    if commit is None or resolve(git, commit) is None:
        return None
    done = git.local(["cat-file", "blob", f"{commit}:record.json"], exact=True)
    try:
        rescue = from_json(done.stdout)
        if rescue.request_id != request_id:
            raise ValueError(f"it is that of {rescue.request_id!r}")
    except ValueError as error:
        raise Failed(
            "rescue_unreadable",
            f"What was kept for {request_id} cannot be read: {error}.",
            f"Look at commit {commit} on the host.",
        ) from error
    return rescue


def ignored_in(git: Git, treeish: str) -> frozenset[str]:
    """Return the files of a tree that git ignores in the work tree as it is now.

    git overwrites ignored files in silence, so before this tree is brought in they have to be kept (`also`).
    """
    prepare(git)
    listing = git.local(["ls-tree", "-r", "-z", "--name-only", "--full-tree", treeish], exact=True)
    return ignored_among(git, split_z(listing.stdout))


def rescued(git: Git) -> tuple[tuple[int, str], ...]:
    """Return (sequence, request id) of every rescue, oldest first."""
    return tuple((entry.sequence, entry.request_id) for entry in Ledger(git.paths.root).entries())


def prune_rescues(
    git: Git, keep_days: float, keep_count: int, now: float | None = None, *, agreed: Collection[str] = ()
) -> tuple[str, ...]:
    """Let go of rescues older than `keep_days` or beyond the newest `keep_count`; return their request ids.

    However many there are, those of the requests that operators `agreed` to stay, and of what they did themselves:
    an agent can make a thousand others in a minute. The one after each stays with it, for an undo needs both.
    What only the others held can be collected from then on by git's own maintenance. Refs below `refs/rescue/` that
    belong to no rescue (of a process killed in between, or planted) go as well.
    """
    ledger = Ledger(git.paths.root)
    oldest = (time.time() if now is None else now) - keep_days * _DAY_SECONDS
    entries = ledger.entries()
    stay = {entry.request_id for entry in entries[max(len(entries) - max(keep_count, 0), 0) :] if entry.at >= oldest}
    for entry, after in zip(entries, (*entries, None)[1:], strict=True):
        if entry.at >= oldest and (entry.request_id in agreed or _OPERATORS_MARK in entry.request_id):
            stay |= {entry.request_id} | ({after.request_id} if after is not None else set())
    gone = {entry.request_id for entry in entries} - stay
    listing = git.local(["for-each-ref", "--format=%(refname)", PREFIX], exact=True)
    names = text(listing.stdout).splitlines()
    ledger.strike(gone)
    doomed = [name for name in names if name.removeprefix(PREFIX).split("/", 1)[0] not in stay]
    _update_refs(git, (f"delete {name}\0\0" for name in doomed))
    return tuple(sorted(gone))


@dataclass(frozen=True, slots=True)
class _Kept:
    """A rescue and what has to hold the objects that it names."""

    rescue: Rescue
    entries: Mapping[str, str]
    parents: tuple[str, ...]


def _observe(git: Git, request_id: str, now: int) -> _Kept:
    said = objects.read_head(git)
    head = said.removeprefix("ref: ")
    listed = objects.list_refs(git)
    refs = {ref.name: ref.object_id for ref in listed}
    commit = refs.get(head) if said != head else head
    index = objects.keep_index(git)
    notes = objects.read_notes(git.paths.local)
    tags = objects.keep_tags(git, listed)
    rescue = Rescue(
        request_id=request_id,
        sequence=max((sequence for sequence, _ in rescued(git)), default=0) + 1,
        at=now,
        head=head,
        commit=commit,
        refs=refs,
        config=objects.branch_config(git),
        index=index.blob,
        index_time=index.time,
        staged=index.staged,
        tags=tags,
        notes=notes,
    )
    entries = objects.held_by_tree(listed) | index.entries
    if tags is not None:
        entries["tags"] = f"100644 blob {tags}"
    parents = [*([commit] if commit else []), *objects.held_by_parents(git, listed, notes)]
    return _Kept(rescue, entries, tuple(dict.fromkeys(parents)))


def _with_files(git: Git, kept: _Kept, taken: TreeSnapshot, *, embedded: bool) -> _Kept:
    own = set(index_gitlinks(git)) if git.submodules and embedded else set()  # which no command here removes
    missing = [*taken.left_out, *(path for path in taken.embedded if embedded and path not in own)]
    if missing:
        raise Refused(
            "cannot_preserve",
            f"The operation could lose what cannot be kept first: {several(missing, _SHOWN)}.",
            "Commit these files, add them to .gitignore or move them out of the work tree, then ask again.",
        )
    rescue = replace(kept.rescue, tree=taken.tree, embedded=taken.embedded)
    parents = kept.parents
    if rescue.commit is None or resolve(git, rescue.commit, "tree") != taken.tree:
        base = [rescue.commit] if rescue.commit else []
        message = f"Uncommitted work before request {rescue.request_id}"
        rescue = replace(rescue, snapshot=objects.write_commit(git, taken.tree, base, rescue.at, message))
    return _Kept(rescue, {**kept.entries, "files": f"040000 tree {taken.tree}"}, parents)


def _store(git: Git, kept: _Kept) -> None:
    rescue = kept.rescue
    record = objects.write_blob(git, to_json(rescue))
    tree = objects.write_tree(git, {**kept.entries, "record.json": f"100644 blob {record}"})
    subject = f"rescue {rescue.sequence} {rescue.request_id}"
    commit = objects.write_commit(git, tree, kept.parents, rescue.at, subject)
    names = {**_handles(rescue), record_ref(rescue.request_id): commit}
    _update_refs(git, (f"update {name}\0{object_id}\0\0" for name, object_id in names.items()))
    Ledger(git.paths.root).enter(Entry(rescue.sequence, rescue.request_id, rescue.at), commit)


def _handles(rescue: Rescue) -> Mapping[str, str]:
    """Return the refs by which a person finds the parts of a rescue."""
    own = f"{PREFIX}{rescue.request_id}/"
    found = {f"{own}HEAD": rescue.commit, f"{own}worktree": rescue.snapshot}
    branches = sorted(
        (name for name in rescue.refs if name.startswith("refs/heads/")), key=lambda name: (name != rescue.head, name)
    )
    for name in branches[:_NAMED_BRANCHES]:
        found[f"{own}branches/{name.removeprefix('refs/heads/')}"] = rescue.refs[name]
    return {name: object_id for name, object_id in found.items() if object_id is not None}


def _update_refs(git: Git, instructions: Iterable[str]) -> None:
    stdin = "".join(instructions).encode("utf-8", "surrogateescape")
    if stdin:
        # --no-deref: an alias that was planted there leads to no branch
        git.local([*NO_REFLOG, "update-ref", "--no-deref", "--stdin", "-z"], stdin=stdin)
