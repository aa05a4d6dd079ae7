"""Whatever git does to whatever tree: undo brings it all back."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest
from repos import Adopted, adopted_repository
from repository_states import state_of

from executor.git.rescue import preserve
from executor.git.undo import undo
from executor.outcome import State

SECONDS = 15.0
NAMES = ["a", "b", "dir/c", "dir/d", "dir", "ignored-not/e", "ü \n x", "-dash", ".hidden", "crlf.txt"]
CONTENTS = [b"one\n", b"one\r\ntwo\n", b"", b"\0\xff binary", b"$Id$\n", b"line\n" * 50]
ATTRIBUTES = [b"", b"* text=auto eol=crlf\n", b"* ident\n", b"*.txt text eol=crlf\n"]
OPERATIONS = [
    "checkout -f dev", "checkout dev", "checkout --detach HEAD~1", "checkout -- .", "reset --hard HEAD~1",
    "reset HEAD", "reset --soft HEAD~1", "stash", "stash -u", "stash pop", "stash drop", "stash clear", "clean -fd",
    "commit -a -m more", "commit --amend -m other", "commit --allow-empty -m empty", "merge dev", "merge --abort",
    "rebase dev", "rebase --abort", "rebase --continue", "cherry-pick dev", "cherry-pick --abort",
    "revert --no-edit HEAD", "rm -rf .", "rm --cached -rf .", "mv a moved", "add -A", "add -N .", "branch -D dev",
    "branch -m dev renamed", "branch new", "tag -a -m x t", "tag -d annotated", "branch -u origin/main",
    "branch --unset-upstream", "switch -c other", "switch --orphan empty", "bisect start HEAD HEAD~1", "bisect reset",
    "update-index --assume-unchanged file.txt", "symbolic-ref HEAD refs/heads/dev",
]  # fmt: skip


def run(repository: Adopted, line: str) -> None:
    """Run git, whether or not it agrees: a failed operation must be undone too."""
    words = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "core.editor=true", *line.split()]
    subprocess.run(words, cwd=repository.tree, capture_output=True, check=False, timeout=30)


def disturb(repository: Adopted, dice: random.Random) -> None:
    """Leave the tree dirty in a few random ways."""
    for _ in range(dice.randrange(6)):
        path = repository.tree / dice.choice(NAMES)
        kind = dice.randrange(8)
        if path.is_symlink() or path.is_file():
            if kind < 2:
                path.unlink()
            elif kind == 2 and not path.is_symlink():
                path.chmod(dice.choice([0o644, 0o755]))
            elif not path.is_symlink():
                path.write_bytes(dice.choice(CONTENTS))
        elif not path.exists() and not any(parent.is_file() for parent in path.parents):
            path.parent.mkdir(parents=True, exist_ok=True)
            if kind == 0:
                path.symlink_to(dice.choice(["a", "/etc/hostname", "nowhere"]))
            else:
                path.write_bytes(dice.choice(CONTENTS))
    if dice.randrange(3) == 0:
        (repository.tree / ".gitattributes").write_bytes(dice.choice(ATTRIBUTES))
    if dice.randrange(2) == 0:
        run(repository, dice.choice(["add -A", "add a", "add dir", "add -N ."]))


def prepared(where: Path) -> Adopted:
    repository = adopted_repository(where, commits=2)
    repository.plain("switch", "-q", "-c", "dev", "HEAD~1")
    repository.commit("file.txt", "other\n")
    repository.commit("dir/c", "from dev\n")
    repository.commit("ignored-log", "tracked though ignored\n")
    repository.plain("switch", "-q", "main")
    repository.commit("a", "a\n")
    repository.commit(".gitignore", "ignored-*\n!ignored-not\n")
    repository.plain("tag", "-a", "-m", "x", "annotated")
    repository.write("ignored-file", "mine\n")
    return repository


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_undo_restores_every_ref_the_index_and_every_file_after_any_operation(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    repository = prepared(tmp_path)
    git = repository.open()
    ends, number = time.monotonic() + SECONDS / 4, 0
    while time.monotonic() < ends or number < 5:
        number += 1
        disturb(repository, dice)
        before = state_of(repository)
        preserve(git, f"r{number}", worktree=True)
        operations = [dice.choice(OPERATIONS) for _ in range(dice.randrange(1, 4))]
        for operation in operations:
            run(repository, operation)
        after, ignored_is_there = state_of(repository), (repository.tree / "ignored-file").exists()

        undone = undo(git, f"r{number}")

        assert undone.state is State.SUCCEEDED, (operations, undone)
        assert state_of(repository) == before, operations
        assert (repository.tree / "ignored-file").exists() or not ignored_is_there
        repository.write("ignored-file", "mine\n")
        if dice.randrange(2) == 0:  # an undo can be undone
            undo(git, str(undone.verified["undo_id"]))
            assert state_of(repository) == after, operations
