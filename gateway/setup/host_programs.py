"""The host's own programs that are asked something: they write nothing, and inherit nothing of this process."""

from __future__ import annotations

from pathlib import Path

from executor.sandbox.confinement import Confinement
from executor.sandbox.environment import base_environment
from executor.sandbox.process import Completed, ProcessRunner

SSH_KEYGEN = Path("/usr/bin/ssh-keygen")
_SECONDS = 10.0


def ask(program: Path, *words: str | Path) -> Completed:
    """Return how `program` with these words ended, within ten seconds. Raise Unavailable where it cannot start."""
    return ProcessRunner(Confinement()).run(
        (str(program), *map(str, words)),
        env=base_environment(Path("/"), Path("/tmp")),  # noqa: S108 (nothing is written)
        cwd=Path("/"),
        profile=None,
        deadline=_SECONDS,
    )
