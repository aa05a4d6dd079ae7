"""How much one git_add may stage: a file of a hundred gigabytes takes no room until git reads it."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from executor.errors import Refused
from executor.git.questions import split_z
from executor.git.repository import Git
from executor.policy.model import Contact


def require_size(git: Git, paths: Sequence[str], limit: int) -> None:
    """Raise Refused("too_much_to_add") if what `git add` would read of `paths` is more than `limit` bytes.

    By what lstat says, before git reads any of it. That it is too much is said and not how much it is: a link that is
    put into a path meanwhile could lead to somebody else's file.
    """
    done = git.local(
        ["--literal-pathspecs", "ls-files", "-z", "--others", "--modified", "--exclude-standard", "--", *paths],
        contact=Contact.READ,
        exact=True,
    )
    total = 0
    for path in set(split_z(done.stdout)):
        total += _size(git, path)
        if total > limit:
            raise Refused(
                "too_much_to_add",
                f"the files to be staged have more than {limit // 1024**2} MiB",
                "leave large files out (name them in .gitignore), or stage in several steps",
            )


def _size(git: Git, path: str) -> int:
    try:
        found = os.lstat(os.fsencode(git.paths.work_tree / path))
    except (OSError, ValueError):
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0
