"""Rescues that outlive a release: what the ledger remembers is held again when the repository is adopted anew.

A released repository takes its rescues along in `.git`, and adopting carries over no refs that are for programs: they
may have been planted. The ledger stayed with the host, and it names commits, which cannot be planted. But somebody
may have removed what they lead to.
"""

from __future__ import annotations

from collections.abc import Iterable

from executor.git.questions import refs
from executor.git.repository import Git
from executor.git.rescue_ledger import Ledger
from executor.git.rescue_record import NO_REFLOG, PREFIX, record_ref


def hold_again(git: Git) -> tuple[str, ...]:
    """Give the rescues of the ledger their refs again, forget those that are not whole; return notes for people."""
    ledger = Ledger(git.paths.root)
    held = refs(git, PREFIX.removesuffix("/"))
    entered = {entry.request_id: ledger.commit_of(entry.request_id) or "" for entry in ledger.entries()}
    commits = {name: commit for name, commit in entered.items() if held.get(record_ref(name)) != commit}
    if not commits:
        return ()
    whole = commits if _are_whole(git, commits.values()) else _whole_ones(git, commits)
    lines = "".join(f"update {record_ref(name)}\0{commit}\0\0" for name, commit in whole.items())
    git.local([*NO_REFLOG, "update-ref", "--stdin", "-z"], stdin=lines.encode())
    lost = sorted(commits.keys() - whole.keys())
    ledger.strike(lost)
    notes = [f"What was kept before {len(whole)} earlier requests can still be brought back (ops-gateway undo)."]
    if lost:
        notes.append(f"What was kept for {', '.join(lost[:5])} ({len(lost)} in all) is no longer in the repository.")
    return tuple(notes[0 if whole else 1 :])


def _whole_ones(git: Git, commits: dict[str, str]) -> dict[str, str]:
    return {name: commit for name, commit in commits.items() if _are_whole(git, [commit])}


def _are_whole(git: Git, commits: Iterable[str]) -> bool:
    """Whether everything that these commits lead to is here; what branches and tags lead to is known to be."""
    stdin = "".join(f"{commit}\n" for commit in commits).encode()
    words = ["rev-list", "--objects", "--quiet", "--stdin", "--not", "--branches", "--tags"]
    return git.local(words, stdin=stdin, check=False).exit_code == 0
