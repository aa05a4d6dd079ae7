"""What a host must have before git is started for a repository: a new enough git, and a kernel that confines it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from executor.errors import Refused
from executor.sandbox.process import ProcessRunner

if TYPE_CHECKING:
    from executor.git.repository import Git

GIT_PROGRAM = Path("/usr/bin/git")
OLDEST_GIT = (2, 34)  # the oldest that is tested with; 2.32 brought GIT_CONFIG_GLOBAL and unfollowed .gitattributes

_versions: dict[int, tuple[int, ...]] = {}  # by the program's modification time: an upgrade is seen without a restart


def git_version(git: Git) -> tuple[int, ...]:
    """Return the version of the git that is started, asking it once. Raises Refused("git_version")."""
    changed = GIT_PROGRAM.stat().st_mtime_ns
    if changed not in _versions:
        said = git.local(["version"]).stdout
        found = re.match(rb"git version (\d+)\.(\d+)(?:\.(\d+))?", said)
        if found is None:
            raise Refused("git_version", f"{GIT_PROGRAM} does not say its version: {said[:80]!r}.")
        _versions[changed] = tuple(int(part) for part in found.groups() if part)
    return _versions[changed]


def require_version(git: Git) -> None:
    """Raise Refused("git_version") for a git that is older than what is tested with."""
    version = git_version(git)
    if version < OLDEST_GIT:
        raise Refused(
            "git_version",
            f"git {'.'.join(map(str, version))} is too old to be run on a tree that an agent writes.",
            f"Install git {'.'.join(map(str, OLDEST_GIT))} or newer on the host.",
        )


def require_confinement(runner: ProcessRunner, name: str, code: str, what: str) -> None:
    """Raise Refused(`code`) where the kernel cannot confine git, so that repository `name` may not have `what`.

    Whatever else is allowed here: with submodules and Git LFS, more programs meet what an agent wrote.
    """
    problem = runner.confinement.support.problem
    if problem is not None:
        raise Refused(
            code,
            f"{name!r} may have {what}, and only the kernel keeps that harmless, but {problem}.",
            f"Use a kernel with Landlock, or do without {what}.",
        )
