"""The second half of adopting and releasing, also when another process, that died, did the first half.

Each step can be repeated. What is asked is always where the one directory stands that the journal names, never how
far somebody seems to have come.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from executor.git.foreign_copy import directory, remove_tree
from executor.git.git_dir_survey import fingerprint
from executor.git.git_dirs import discard
from executor.git.gitfile import (
    DOT_GIT,
    Journal,
    Phase,
    Standing,
    end_journal,
    exchange,
    identity,
    look,
    mend_exchange,
    move_aside,
    read_journal,
    sync_directory,
    write_gitfile,
    write_journal,
)
from executor.git.paths import RepositoryPaths


@dataclass(frozen=True, slots=True)
class AdoptionReport:
    """What adopting or releasing came to: `done` in one sentence; `left_behind` is what could not be removed."""

    done: str
    notes: tuple[str, ...] = ()
    left_behind: Path | None = None

    def lines(self) -> tuple[str, ...]:
        """Return the report in plain words."""
        lines = [self.done, *(f"Note: {note}" for note in self.notes)]
        if self.left_behind is not None:
            lines.append(f"The old git directory could not be removed; nothing uses it any more: {self.left_behind}")
        return tuple(lines)


def finish_interrupted(paths: RepositoryPaths, tree: int) -> AdoptionReport | None:
    """Finish or undo what a process that died had begun; the caller holds the lock.

    Return a report when something was finished, None when there was nothing to finish or it was undone.
    """
    journal = read_journal(paths)
    if journal is None:
        discard(incoming(paths))
        return None
    mend_exchange(tree, journal.aside)
    if journal.phase in (Phase.RELEASING, Phase.RELEASED):
        return _finish_release(paths, tree, journal)
    if journal.phase is Phase.SWAPPING and not _may_go_on(paths, tree, journal):
        undo_adoption(paths, tree, journal)
        return None
    left = complete_adoption(paths, tree, journal)
    _, moved = put_gitfile(paths, tree)
    return AdoptionReport(f"Finished the adoption of {paths.work_tree} that was interrupted.", moved, left)


def incoming(paths: RepositoryPaths) -> Path:
    """Return where the pair of git directories is built."""
    return paths.root / "incoming"


def _may_go_on(paths: RepositoryPaths, tree: int, journal: Journal) -> bool:
    """Say whether the copy may replace the original, which was exchanged unchanged or is gone altogether."""
    if identity(tree, DOT_GIT) == journal.directory:
        return False
    if identity(tree, journal.aside) == journal.directory:
        return is_unchanged(tree, journal)
    if not paths.local.is_dir():
        (incoming(paths) / "local.git").rename(paths.local)
    return True


def is_unchanged(tree: int, journal: Journal) -> bool:
    """Say whether the directory that was exchanged is the one that was copied, and still as it was then."""
    if identity(tree, journal.aside) != journal.directory:
        return False
    with directory(journal.aside, tree) as old:
        return fingerprint(old) == journal.fingerprint


def complete_adoption(paths: RepositoryPaths, tree: int, journal: Journal) -> Path | None:
    """After the exchange: open the repository to the gateway, remove the old directory, and return it if that fails.

    The gateway opens a repository only when its transfer repository is there: until now it could not.
    """
    if not paths.transfer.is_dir():
        (incoming(paths) / "transfer.git").rename(paths.transfer)
        sync_directory(paths.root)
    write_journal(paths, replace(journal, phase=Phase.SWAPPED))
    left = None
    if identity(tree, journal.aside) == journal.directory:
        try:
            remove_tree(tree, journal.aside)
        except OSError:
            left = paths.work_tree / journal.aside
    discard(incoming(paths))
    end_journal(paths)
    return left


def undo_adoption(paths: RepositoryPaths, tree: int, journal: Journal) -> None:
    """Put the original back at `.git` and remove what adopting had made."""
    if identity(tree, journal.aside) == journal.directory:
        if look(tree, paths) is Standing.OURS:
            exchange(tree, journal.aside)
        else:
            if look(tree, paths) is not Standing.MISSING:
                move_aside(tree, "planted")
            os.rename(journal.aside, DOT_GIT, src_dir_fd=tree, dst_dir_fd=tree)
    _remove_gitfile(tree, journal.aside)
    for path in (paths.transfer, paths.local, incoming(paths)):
        discard(path)
    end_journal(paths)


def put_gitfile(paths: RepositoryPaths, tree: int) -> tuple[Standing, tuple[str, ...]]:
    """Make `.git` the gitfile of the adopted repository; whatever else stands there gets another name, unread.

    Return what stood there, and a note about what was moved.
    """
    standing = look(tree, paths)
    if standing is Standing.OURS:
        return standing, ()
    notes: tuple[str, ...] = ()
    if standing is not Standing.MISSING:
        name = move_aside(tree, "planted")
        notes = (f".git was {standing}; it was moved to {paths.work_tree / name} and not used.",)
    write_gitfile(tree, DOT_GIT, paths)
    return standing, notes


def _finish_release(paths: RepositoryPaths, tree: int, journal: Journal) -> AdoptionReport | None:
    if journal.phase is Phase.RELEASED or identity(tree, DOT_GIT) == journal.directory:
        complete_release(paths, tree, journal)
        return AdoptionReport(f"Finished the release of {paths.work_tree} that was interrupted.")
    undo_release(paths, tree, journal)
    return None


def parked_transfer(paths: RepositoryPaths) -> Path:
    """Return where the transfer repository is while a release is under way, so that the gateway finds none."""
    return paths.root / "released-transfer.git"


def complete_release(paths: RepositoryPaths, tree: int, journal: Journal) -> None:
    """After the exchange: remove what the state directory holds of the repository, but for `adoption/`."""
    write_journal(paths, replace(journal, phase=Phase.RELEASED))
    _remove_gitfile(tree, journal.aside)
    for path in (paths.transfer, parked_transfer(paths), paths.local, incoming(paths), paths.home, paths.tmp):
        discard(path)
    for file in (paths.empty_config, paths.ssh_program, paths.lfs_filter):
        file.unlink(missing_ok=True)
    end_journal(paths)


def undo_release(paths: RepositoryPaths, tree: int, journal: Journal) -> None:
    """Remove the unfinished copy from the work tree; the repository stays adopted."""
    with suppress(OSError):  # what cannot be removed lies there under a name that says what it is
        remove_tree(tree, journal.aside)
    if parked_transfer(paths).is_dir():
        parked_transfer(paths).rename(paths.transfer)
    end_journal(paths)


def _remove_gitfile(tree: int, name: str) -> None:
    with suppress(FileNotFoundError, IsADirectoryError):
        os.unlink(name, dir_fd=tree)
