"""Whether the commits that a push would publish seem to hold a secret.

Every commit is looked at, not only what they come to: a secret that a later commit takes away again is published all
the same. What the remote has is what it says itself: a tracking ref that was planted, before adoption or later, would
hide what is published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from executor.errors import Failed, TimedOut
from executor.git.added_lines import AddedLine, added_lines
from executor.git.pushing import remote_of
from executor.git.questions import HEADS, resolve, text
from executor.git.repository import Git
from executor.git.secrets import INCOMPLETE, SecretFinding, secrets_in
from executor.git.transfer import ls_remote
from executor.git.tree_changes import NO_INDEX, PATCH, PATCH_SECONDS

LESS_KNOWN = ("--ignore-missing", "--stdin")  # there may be too many for a command line, and some may not be here
# A file must not escape the look by its size; what makes the patch too large is said (INCOMPLETE).
_DIFF_LARGE = ("-c", "core.bigFileThreshold=1g")
COMMITS_LIMIT = 2_000  # commits whose changes are looked at


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
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return found[0].words() + more


def commit_secrets(git: Git, tip: str, known: Iterable[str]) -> tuple[SecretFinding, ...]:
    """Return the findings in the commits of `tip` that are not reachable from `known` (object ids).

    Their messages are looked at too. A last finding of kind INCOMPLETE says that there was more than is looked at.
    Starts one process where there is no such commit, otherwise two. Raises Failed.
    """
    listing = git.local(
        ["rev-list", f"--max-count={COMMITS_LIMIT + 1}", "--no-commit-header", "--format=%H%n%B%x00",
         *LESS_KNOWN, tip, "--"], stdin=less(known), exact=True,
    )  # fmt: skip
    commits = [entry.split("\n", 1) for entry in text(listing.stdout).split("\0\n")[:-1]]
    if not commits:
        return ()
    looked_at = commits[:COMMITS_LIMIT]
    try:
        patch = _patch(git, [commit for commit, _ in looked_at])
    except Failed as problem:
        if problem.code != "output_too_large" and not isinstance(problem, TimedOut):
            raise
        return (*secrets_in(_messages(looked_at)), SecretFinding("", 0, INCOMPLETE))
    found = secrets_in(_all_lines(looked_at, patch))
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


def _all_lines(commits: Sequence[Sequence[str]], patch: bytes) -> Iterator[AddedLine]:
    yield from _messages(commits)
    yield from added_lines(patch)


def _messages(commits: Sequence[Sequence[str]]) -> Iterator[AddedLine]:
    for commit, message in commits:
        for number, line in enumerate(message.splitlines(), 1):
            yield AddedLine(f"the message of commit {commit[:10]}", number, line)
