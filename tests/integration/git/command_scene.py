"""A git command line as the agent gives it, run in an adopted repository, and a colleague who pushes meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from repos import LOCAL_ACCESS, Adopted, commit_file, plain_git

from executor.git.grammar import judge
from executor.git.lexer import split
from executor.git.run_command import run_command
from executor.outcome import Outcome, State


def run(repo: Adopted, line: str, bound: Mapping[str, str] | None = None, *, submodules: bool = False) -> Outcome:
    """Run `line` as if it needed nobody's yes; `bound` is what an approval of it would be held to."""
    git = repo.open(LOCAL_ACCESS)
    git.submodules = submodules
    return run_command(git, judge(split(line)), bound)


def done(repo: Adopted, line: str) -> Outcome:
    """The same, where it must succeed."""
    outcome = run(repo, line)
    assert outcome.state is State.SUCCEEDED, outcome.error
    return outcome


def code(outcome: Outcome) -> str:
    """Return the code of the error that it must have ended with."""
    assert outcome.error is not None, outcome.output
    return outcome.error.code


def theirs(colleague: Path, name: str = "theirs.txt", branch: str = "main") -> str:
    """Let a colleague commit a file and push it; return the commit's id."""
    commit = commit_file(colleague, name, "theirs\n")
    plain_git(colleague, "push", "-q", "origin", f"HEAD:{branch}")
    return commit
