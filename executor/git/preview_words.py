"""What the previews of local commands share: files and commits in lines, and how a command's words are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from executor.git.questions import resolve, split_z
from executor.git.repository import Git
from executor.git.risk_facts import CommitFact
from executor.policy.model import Contact

FILES_SHOWN = 50
COMMITS_SHOWN = 20


def revision(word: str) -> str:
    """Return what git takes a revision operand for: `-` is the branch before."""
    return "@{-1}" if word == "-" else word


def named_commit(git: Git, word: str) -> str | None:
    """Return the commit that an operand names, or None."""
    return resolve(git, revision(word))


def uncommitted(git: Git, paths: Sequence[str], *, untracked: bool = False, literal: bool = False) -> list[str]:
    """Return the uncommitted changes in `paths` (() is everywhere), each as `XY path`, as in git-status(1).

    X is what is staged, Y what is not, "??" a file that git does not know. With `literal` the paths are no patterns.
    """
    done = git.local(
        [*(["--literal-pathspecs"] if literal else []), "status", "--porcelain=v1", "-z", "--no-renames",
         f"--untracked-files={'all' if untracked else 'no'}", "--ignore-submodules=all", "--", *paths],
        contact=Contact.READ, exact=True,
    )  # fmt: skip
    return split_z(done.stdout)


def file_lines(title: str, files: Sequence[str]) -> Iterator[str]:
    """Yield a title with the number of files and the first of them; nothing where there are none."""
    if files:
        yield f"{title} ({len(files)}):"
        yield from (f"  {one}" for one in files[:FILES_SHOWN])
        if len(files) > FILES_SHOWN:
            yield f"  and {len(files) - FILES_SHOWN} more"


def commit_lines(title: str, commits: Sequence[CommitFact], total: int) -> Iterator[str]:
    """Yield a title with the number of commits and the newest of them; nothing where there are none."""
    if total:
        yield f"{title} ({total}):"
        yield from (f"  {one.id[:10]} {one.at[:10]} {one.author}: {one.subject}" for one in commits[:COMMITS_SHOWN])
        if total > min(len(commits), COMMITS_SHOWN):
            yield f"  and {total - min(len(commits), COMMITS_SHOWN)} older ones"
