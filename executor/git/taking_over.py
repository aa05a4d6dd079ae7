"""Taking over what a command on the work tree made in the git directory that it was given: all of it, or nothing.

Everything is looked at before anything is taken. Objects first, since refs need them; a crash in between leaves the
repository as a git that was killed leaves it, and what was there before is kept (decision 5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from executor.errors import Failed, Problem
from executor.git.command_dir import CommandDir, contents_of, index_facts
from executor.git.command_layout import (
    LFS_OBJECT,
    OBJECT,
    PACK,
    Contents,
    branch_of,
    changed,
    intrusions,
    is_expected,
)
from executor.git.foreign_copy import Kind, directory, walk
from executor.git.inner_files import LIST_BYTES, opened, read_inner, remove_if_empty, remove_inner, write_inner
from executor.git.loose_objects import is_true, is_true_content
from executor.git.rescue_record import NOTE_DIRECTORIES
from executor.git.transfer_plan import RefChange, as_instructions
from executor.spans import several

_SHOWN = 5
_QUIET = ("-c", "core.logAllRefUpdates=false")  # the reflogs come from the command, with its own words
Plumbing = Callable[[Sequence[str], bytes], object]  # runs git on the local repository; raises Failed


def take_over(made: CommandDir, local: Path, words: Sequence[str], git: Plumbing, *, lfs: bool = False) -> None:
    """Bring what a command with these `words` did in `made` into the git directory `local`.

    With `lfs` the command may have stored content for Git LFS.
    Raises Failed("git_dir_tampered"), having taken nothing, where something is there that no such command makes, and
    Failed where git refuses a ref.
    """
    names, after = _looked_at(made, words, lfs)
    objects = [name for name in names if OBJECT.fullmatch(name) or LFS_OBJECT.fullmatch(name)]
    objects = [name for name in objects if not (local / name).exists()]
    packs = [name for name in names if PACK.fullmatch(name)]
    false = [name for name in objects if not _is_true(made.git_dir, name)]
    if false:
        raise _tampered(false)
    for name in objects:
        _move_object(made.git_dir, local, name)
    for name in packs:
        _take_pack(made.git_dir, local, name, git)
    _take_refs(made.before, after, git)
    _take_files(made.before, after, local)
    if index_facts(made.git_dir) != made.index:
        (made.git_dir / "index").rename(local / "index")


def _looked_at(made: CommandDir, words: Sequence[str], lfs: bool) -> tuple[list[str], Contents]:
    """Return the names of the files that are there and their contents; raises Failed("git_dir_tampered")."""
    with directory(made.git_dir) as within:
        found = [(one.path, one.kind, one.links) for one in walk(within) if one.kind is not Kind.DIRECTORY]
    odd = [
        name for name, kind, links in found if kind is not Kind.FILE or links != 1 or not is_expected(name, lfs=lfs)
    ]
    if odd:
        raise _tampered(odd)
    try:
        after = contents_of(made.git_dir)
    except Problem as problem:
        raise _tampered([problem.message]) from problem
    wrong = list(intrusions(made.before, after, words))
    if made.index is not None and index_facts(made.git_dir) is None:
        wrong.append("index")
    if wrong:
        raise _tampered(wrong)
    return [name for name, _, _ in found], after


def _is_true(git_dir: Path, name: str) -> bool:
    with opened(git_dir, name) as file:
        if file is not None and LFS_OBJECT.fullmatch(name):
            return is_true_content(file, name.rpartition("/")[2])
        return file is not None and is_true(file, name.removeprefix("objects/").replace("/", ""))


def _move_object(git_dir: Path, local: Path, name: str) -> None:
    target = local / name
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    (git_dir / name).rename(target)


def _take_pack(git_dir: Path, local: Path, name: str, git: Plumbing) -> None:
    """Take a pack, which git makes of large files; the index that says what is in it is made anew from the pack.

    `index-pack` names every object by its content. Until its index is there, no git sees a pack.
    """
    target = local / name
    if target.exists():
        return
    target.parent.mkdir(mode=0o700, exist_ok=True)
    (git_dir / name).rename(target)
    try:
        git(["index-pack", str(target)], b"")
    except BaseException:
        target.unlink()
        raise


def _take_refs(before: Contents, after: Contents, git: Plumbing) -> None:
    """Move refs and HEAD. git itself looks whether a ref may be called that and leads to an object that is there."""
    names = sorted(changed(before.refs, after.refs))
    moves = [RefChange(name, before.refs.get(name), after.refs.get(name)) for name in names]
    if moves:
        git([*_QUIET, "update-ref", "--no-deref", "--stdin", "-z"], as_instructions(moves))
    if after.head != before.head:
        branch = branch_of(after.head)
        git([*_QUIET, *(["symbolic-ref", "HEAD", branch] if branch else
                        ["update-ref", "--no-deref", "HEAD", after.head])], b"")  # fmt: skip


def _take_files(before: Contents, after: Contents, local: Path) -> None:
    """Take the configuration, git's notes and the reflogs: written anew, through no link."""
    if after.config != before.config:
        write_inner(local, "config", after.config)
    for name in sorted(changed(before.files, after.files)):
        if name in after.files:
            known = b"" if name in before.files else read_inner(local, name, LIST_BYTES) or b""  # a log left behind
            write_inner(local, name, known + after.files[name])
        else:
            remove_inner(local, name)
    for part in NOTE_DIRECTORIES:
        gone = [name for name in before.files.keys() - after.files.keys() if name.startswith(f"{part}/")]
        if gone:
            remove_if_empty(local, part)


def _tampered(names: Sequence[str]) -> Failed:
    said = several(sorted(names), _SHOWN)
    return Failed(
        "git_dir_tampered",
        f"The command was led from the work tree into its git directory ({said}); nothing that it made there was"
        " taken over, and branches and index are as before.",
        "Files are as it left them (git_status; undo takes them back). Stop what changes the tree while git runs.",
    )
