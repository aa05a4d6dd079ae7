"""Whether the commits that a push would publish seem to hold a secret.

Every commit is looked at, not only what they come to: a secret that a later commit takes away again is published all
the same. What the remote has is what it says itself: a tracking ref that was planted, before adoption or later, would
hide what is published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from executor.errors import Failed, TimedOut
from executor.git.added_lines import AddedLine, added_lines
from executor.git.pushing import remote_of
from executor.git.questions import resolve, text
from executor.git.refnames import HEADS
from executor.git.repository import Git
from executor.git.secrets import INCOMPLETE, SecretFinding, secrets_in
from executor.git.transfer import ls_remote
from executor.git.tree_changes import NO_INDEX, PATCH, PATCH_SECONDS, contents_of, sizes_of
from executor.git.unshown_text import SMALL_BYTES, binary_files, file_names, lines_of, pieces_of
from executor.spans import several

LESS_KNOWN = ("--ignore-missing", "--stdin")  # there may be too many for a command line, and some may not be here
# A file must not escape the look by its size; what makes the patch too large is said (INCOMPLETE).
_DIFF_LARGE = ("-c", "core.bigFileThreshold=1g")
COMMITS_LIMIT = 2_000  # commits whose changes are looked at
_BINARIES_LIMIT, _BINARIES_READ = 2_000, 40  # contents whose size is asked, and that are read (SMALL_BYTES each)
_COMMIT = "%H%n%an %ae %cn %ce%n%B%x00"


class _Commit(NamedTuple):
    id: str
    people: str  # names and addresses of author and committer
    message: str


def outgoing_secret(git: Git, branch: str | None) -> str | None:
    """Return what seems to be secret in the commits of `branch` that its remote lacks, in words, or None.

    A branch that is not there holds none. Where not all could be looked at the words say so. Raises Failed:
    `no_remote`, or a code of `failures` where the remote cannot be asked.
    """
    if branch is None:
        return None
    tip = resolve(git, HEADS + branch)
    if tip is None:
        return None
    found = commit_secrets(git, tip, ls_remote(git, remote_of(git, branch)).values())
    if not found:
        return None
    return several([each.words() for each in found], 1)


def commit_secrets(git: Git, tip: str, known: Iterable[str]) -> tuple[SecretFinding, ...]:
    """Return the findings in the commits of `tip` that are not reachable from `known` (object ids).

    Their messages are looked at too, and what else a patch does not show: names of files and people, text in UTF-16,
    and what is readable in small binary files. A last finding of kind INCOMPLETE says that there was more than is
    looked at. Starts one process where there is no such commit, otherwise two, or four where there are binary files.
    Raises Failed.
    """
    listing = git.local(
        ["rev-list", f"--max-count={COMMITS_LIMIT + 1}", "--no-commit-header", f"--format={_COMMIT}",
         *LESS_KNOWN, tip, "--"], stdin=less(known), exact=True,
    )  # fmt: skip
    commits = [_Commit(*entry.split("\n", 2)) for entry in text(listing.stdout).split("\0\n")[:-1]]
    if not commits:
        return ()
    looked_at = commits[:COMMITS_LIMIT]
    try:
        patch = _patch(git, [commit.id for commit in looked_at])
        binary = _small_contents(git, binary_files(patch))
    except Failed as problem:
        if problem.code != "output_too_large" and not isinstance(problem, TimedOut):
            raise
        return (*secrets_in(_messages(looked_at), pieces=_people(looked_at)), SecretFinding("", 0, INCOMPLETE))
    unshown = (line for path, content in binary for line in lines_of(path, content))
    readable = (piece for path, content in binary for piece in pieces_of(path, content))
    found = secrets_in(
        chain(_messages(looked_at), unshown, added_lines(patch)),
        pieces=chain(_people(looked_at), file_names(patch), readable),
    )
    if len(commits) > COMMITS_LIMIT and not any(one.kind == INCOMPLETE for one in found):
        return (*found, SecretFinding("", 0, INCOMPLETE))
    return found


def less(known: Iterable[str]) -> bytes:
    """Return what goes with the options LESS_KNOWN on the standard input of `git rev-list`: leave out `known` ids."""
    return "".join(f"^{object_id}\n" for object_id in dict.fromkeys(known)).encode()


def _patch(git: Git, commits: Sequence[str]) -> bytes:
    """Return the changes of each commit; of a merge what differs from all its parents."""
    return git.local(
        [*_DIFF_LARGE, "diff-tree", "--stdin", "--root", "-r", "--cc", "--unified=0", "--no-commit-id", *PATCH],
        stdin="".join(f"{commit}\n" for commit in commits).encode(),
        index=git.paths.tmp / NO_INDEX,
        deadline=PATCH_SECONDS,
        exact=True,
    ).stdout


def _small_contents(git: Git, blobs: Mapping[str, str]) -> list[tuple[str, bytes]]:
    """Return (path, content) of those contents that are small, given their paths by id; of the others nothing."""
    sizes = sizes_of(git, list(blobs)[:_BINARIES_LIMIT])
    small = [blob for blob, size in sizes.items() if size <= SMALL_BYTES][:_BINARIES_READ]
    return [(blobs[blob], content) for blob, content in contents_of(git, small)]


def _messages(commits: Sequence[_Commit]) -> Iterator[AddedLine]:
    for commit in commits:
        for number, line in enumerate(commit.message.splitlines(), 1):
            yield AddedLine(f"the message of commit {commit.id[:10]}", number, line)


def _people(commits: Sequence[_Commit]) -> Iterator[AddedLine]:
    for people in dict.fromkeys(commit.people for commit in commits):
        yield AddedLine("the name of an author", 0, people)
