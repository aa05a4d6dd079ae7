"""Files that git ignores and that a command takes away on purpose: put in a stash, or deleted (git-clean(1) -x).

Else they are left alone by every rescue (decision 5). A stash of them is brought back by an undo only if they were
kept; of what is deleted the part is kept that is likely somebody's own and not a program's: small, and not deep down.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator

from executor.errors import Failed
from executor.git.command_words import given
from executor.git.questions import split_z
from executor.git.repository import Git
from executor.git.tree_view import tree_view
from executor.policy.model import Command, Contact

FILE_BYTES = 1024 * 1024
TOTAL_BYTES = 64 * 1024 * 1024
FILES = 5_000


def ignored_losses(git: Git, command: Command) -> frozenset[str]:
    """Return the ignored files that `command` would take away and that are to be kept first. Raises Failed."""
    options = given(command)
    if command.subcommand in ("stash push", "stash save") and options & {"-a", "--all"}:
        return frozenset(_ignored(git, command))
    if command.subcommand == "clean" and options & {"-x", "-X"}:
        try:
            return frozenset(_likely_own(git, _ignored(git, command)))
        except Failed as problem:
            if problem.code != "output_too_large":
                raise
    return frozenset()


def _ignored(git: Git, command: Command) -> list[str]:
    listing = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", *command.paths]
    done = git.local(listing, contact=Contact.READ, exact=True)
    return [path for path in split_z(done.stdout) if not path.endswith("/")]


def _likely_own(git: Git, paths: list[str]) -> Iterator[str]:
    left, room = FILES, TOTAL_BYTES
    for size, path in sorted(_sizes(git, paths), key=lambda one: (one[1].count("/"), one[0])):
        if left and size <= room:
            left, room = left - 1, room - size
            yield path


def _sizes(git: Git, paths: list[str]) -> Iterator[tuple[int, str]]:
    """Yield (size, path) of the files and links that are small and that the host may read."""
    with tree_view(git.paths.work_tree) as view:
        for path in sorted(paths):
            standing = view.look(path)
            found = standing.found if standing.at == path and standing.readable else None
            if found is None or not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
                continue
            if found.st_size <= FILE_BYTES:
                yield found.st_size, path
