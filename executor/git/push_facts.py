"""What a push would do, found out on the host from the objects: the work tree is never looked at.

What operators see is computed here and not told by the agent. Where something cannot be known (the history is cut,
C23; the remote's commit is not here) the facts say so instead of guessing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from executor.errors import Failed
from executor.git.outgoing import LESS_KNOWN, commit_secrets, less
from executor.git.push_report import FileStat, PushFacts, PushKind, lines
from executor.git.questions import identity, is_ancestor, is_shallow, remotes, resolve, text
from executor.git.refnames import HEADS, TAGS
from executor.git.remote_address import mask_userinfo
from executor.git.repository import Git
from executor.git.risk_facts import (
    ChangedPath,
    CommitFact,
    RiskFact,
    Severity,
    by_severity,
    risks_of_commits,
    risks_of_paths,
    skips_ci,
)
from executor.git.tag_words import secrets_of_tags, tag_words
from executor.git.transfer import ls_remote, tracked
from executor.git.tree_changes import empty_tree, tree_changes, tree_patch

__all__ = [
    "COMMITS_SHOWN",
    "FILES_SHOWN",
    "PushFacts",
    "PushKind",
    "commit_facts",
    "full_diff",
    "lines",
    "push_facts",
]

COMMITS_SHOWN = 50
FILES_SHOWN = 200
_BASES_TRIED = 5
# Branches that others build on, by their names; also where a new branch is taken to have begun.
_SHARED = ("main", "master", "trunk", "develop", "production", "staging", "release")
_NOT_HERE = "The commit that the remote has is not here: fetch first to see what would be dropped."
_CUT = "History is cut here (a shallow clone): what lies before the cut is not known."
_TOO_LARGE = RiskFact("too-large", Severity.DANGER, "the change is too large to be looked at")


@dataclass(frozen=True, slots=True)
class _Move:
    """A ref's move: the objects, and the commits that they stand for here (None: not here, or none)."""

    remote: str
    ref: str
    old: str | None
    new: str | None
    theirs: str | None
    ours: str | None
    kind: PushKind
    listing: Mapping[str, str]  # what the remote says that it has, by full names, and HEAD


def push_facts(
    git: Git, remote: str, ref: str, new: str | None, old: str | None, listing: Mapping[str, str] | None = None
) -> PushFacts:
    """Return what moving the full `ref` at `remote` from object `old` to object `new` would do.

    `old` None creates the ref, `new` None deletes it. `listing` is what `ls_remote` has just said, who is asked
    otherwise: what is remembered of a remote here came with the repository. Raises Failed.
    """
    theirs, ours = (resolve(git, end) if end else None for end in (old, new))
    kind = _kind(git, ref, (old, theirs), (new, ours))
    move = _Move(remote, ref, old, new, theirs, ours, kind, ls_remote(git, remote) if listing is None else listing)
    url = mask_userinfo(remotes(git).get(remote, ""))
    notes = (*([_CUT] if is_shallow(git) else []), *([_NOT_HERE] if old and not theirs else []))
    facts = PushFacts(remote, url, ref, old, new, move.kind, notes=notes)
    return _with_files(git, move, _with_commits(git, move, facts))


def _with_commits(git: Git, move: _Move, facts: PushFacts) -> PushFacts:
    commits, total = _published(git, move)
    dropped, dropped_total = _dropped(git, move)
    author = identity(git)
    tags, complete = tag_words(git, move.new) if move.new and move.kind is PushKind.TAG else ((), True)
    return replace(
        facts,
        commits=commits,
        commits_total=total,
        dropped=dropped,
        dropped_total=dropped_total,
        risks=(*_risks_of_move(move), *risks_of_commits(commits, author.email if author else None)),
        secrets=(
            *secrets_of_tags(tags, complete=complete),
            *(commit_secrets(git, move.ours, _theirs(git, move)) if move.ours and total else ()),
        ),
        notes=(*facts.notes, *(tag.note() for tag in tags)),
    )


def _with_files(git: Git, move: _Move, facts: PushFacts) -> PushFacts:
    base = _base(git, move)
    changes, unseen = _changes(git, base, move.ours)
    return replace(
        facts,
        base=base,
        files=tuple(FileStat(c.path, c.status, c.added, c.deleted, c.old_path) for c in changes[:FILES_SHOWN]),
        files_total=len(changes),
        added_total=sum(c.added or 0 for c in changes),
        deleted_total=sum(c.deleted or 0 for c in changes),
        risks=by_severity((*facts.risks, *unseen, *risks_of_paths(changes))),
    )


def full_diff(git: Git, facts: PushFacts, limit_bytes: int) -> tuple[bytes, bool]:
    """Return the whole diff of a push as text for a file, and whether it was cut at `limit_bytes`.

    Of a diff that is too large to be made there is nothing, and it counts as cut. Raises Failed.
    """
    ours = resolve(git, facts.new) if facts.new else None
    if facts.base is None or ours is None:
        return b"", False
    try:
        patch = tree_patch(git, facts.base, ours)
    except Failed as problem:
        if problem.code != "output_too_large":
            raise
        return b"", True
    if len(patch) <= limit_bytes:
        return patch, False
    # by whole lines: of a secret cut in two nobody could tell that it is one
    return patch[: patch.rfind(b"\n", 0, limit_bytes) + 1], True


def commit_facts(
    git: Git, revisions: Sequence[str], shown: int = COMMITS_SHOWN, known: Iterable[str] = ()
) -> tuple[tuple[CommitFact, ...], int]:
    """Return the newest commits of a range (words for `git rev-list`) and how many there are in all.

    What is reachable from the objects `known` is left out.
    """
    stdin = less(known)
    words = [*(LESS_KNOWN if stdin else ()), *revisions, "--"]
    form = "--format=%H%n%an%n%ae%n%ce%n%aI%n%B%x00"
    done = git.local(
        ["rev-list", "--no-commit-header", f"--max-count={shown}", form, *words], stdin=stdin, exact=True
    )  # fmt: skip
    found = tuple(_commit(entry) for entry in text(done.stdout).split("\0\n")[:-1])
    if len(found) < shown:
        return found, len(found)
    return found, int(git.local(["rev-list", "--count", *words], stdin=stdin, exact=True).stdout)


def _commit(entry: str) -> CommitFact:
    object_id, author, email, committer, at, message = entry.split("\n", 5)
    return CommitFact(object_id, author, email, committer, at, message.split("\n", 1)[0], skips_ci(message))


def _kind(git: Git, ref: str, old: tuple[str | None, str | None], new: tuple[str | None, str | None]) -> PushKind:
    """Return what kind of push it is; `old` and `new` are each (object, its commit here)."""
    if new[0] is None:
        return PushKind.DELETION
    if old[0] == new[0]:
        return PushKind.UP_TO_DATE
    if ref.startswith(TAGS):
        return PushKind.TAG
    if old[0] is None:
        return PushKind.NEW_BRANCH
    forward = is_ancestor(git, old[1], new[1]) if old[1] and new[1] else None
    if forward is not None:
        return PushKind.FAST_FORWARD if forward else PushKind.REWRITE
    # what contained the remote's commit would have brought it here, unless history is cut
    return PushKind.UNKNOWN if is_shallow(git) else PushKind.REWRITE


def _published(git: Git, move: _Move) -> tuple[tuple[CommitFact, ...], int]:
    if move.ours is None or move.kind is PushKind.UP_TO_DATE:
        return (), 0
    return commit_facts(git, [move.ours], known=_theirs(git, move))


def _dropped(git: Git, move: _Move) -> tuple[tuple[CommitFact, ...], int | None]:
    """Return the commits that the ref would no longer lead to; of a deletion those that no other branch has."""
    moves_tag = move.kind is PushKind.TAG and move.old is not None
    if move.kind not in (PushKind.REWRITE, PushKind.DELETION, PushKind.UNKNOWN) and not moves_tag:
        return (), 0
    if move.theirs is None:
        return (), None
    return commit_facts(git, [move.theirs], known=[move.ours] if move.ours else _other_branches(move))


def _theirs(git: Git, move: _Move) -> list[str]:
    """Return the objects that the remote has already, with all that they lead to."""
    if move.theirs:
        return [move.theirs]
    # What the gateway itself saw there is all that is known of a branch whose commits are not here.
    seen = tracked(git, move.remote) if move.old and move.new else {}
    return [*_other_branches(move), *(there for name, there in seen.items() if HEADS + name in move.listing)]


def _other_branches(move: _Move) -> list[str]:
    """Return the remote's branches. The one that moves counts only while the remote still has it."""
    known = _branches(move)
    if move.old is None or move.new is None:
        known.pop(move.ref.removeprefix(HEADS), None)
    return list(known.values())


def _branches(move: _Move) -> dict[str, str]:
    return {name.removeprefix(HEADS): there for name, there in move.listing.items() if name.startswith(HEADS)}


def _base(git: Git, move: _Move) -> str | None:
    """Return what to compare with: the remote's commit, else where history left its branches, else an empty tree."""
    if move.ours is None or move.kind is PushKind.UP_TO_DATE:
        return None
    if move.theirs is not None:
        return move.theirs
    known = _branches(move)
    own = move.ref.removeprefix(HEADS)
    for name in [name for name in dict.fromkeys([own, *_SHARED, *known]) if name in known][:_BASES_TRIED]:
        done = git.local(["merge-base", move.ours, known[name]], check=False, exact=True)
        if done.exit_code == 0:
            return text(done.stdout).strip()
    return empty_tree(git)


def _changes(git: Git, base: str | None, ours: str | None) -> tuple[tuple[ChangedPath, ...], tuple[RiskFact, ...]]:
    if base is None or ours is None:
        return (), ()
    try:
        return tree_changes(git, base, ours), ()
    except Failed as problem:
        if problem.code != "output_too_large":
            raise
        return (), (_TOO_LARGE,)


def _risks_of_move(move: _Move) -> tuple[RiskFact, ...]:
    if move.kind is PushKind.TAG and move.old is not None:
        return (RiskFact("moved-tag", Severity.DANGER, "moves a tag that others may have; they will not notice"),)
    if move.kind not in (PushKind.REWRITE, PushKind.DELETION, PushKind.UNKNOWN):
        return ()
    name = move.ref.removeprefix(HEADS)
    if name in _SHARED:
        return (RiskFact("shared-branch", Severity.DANGER, f"{name} is a branch that others build on"),)
    if move.old is not None and move.listing.get("HEAD") == move.old:  # only of HEAD's commit is it told which it is
        return (RiskFact("shared-branch", Severity.DANGER, f"{name} is where the remote's default branch is"),)
    return ()
