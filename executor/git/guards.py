"""What must hold before and after a command that a person would type: no embedded repository gets in, and what was
approved is what is there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from executor.errors import Failed, Refused
from executor.git.bringing_in import Coming, what_comes
from executor.git.coming_files import coming_gitlinks, replaced_submodules
from executor.git.index_draft import refuse_gitlinks
from executor.git.inner_files import INDEX_BYTES, copy_inner
from executor.git.push_plan import NEW, OLD
from executor.git.questions import Head, head, index_gitlinks, index_tree, resolve
from executor.git.refnames import HEADS
from executor.git.reports import listing
from executor.git.repository import Git
from executor.policy.model import Command, Contact, RiskClass

ALL_TREE = "all changes, staged"  # under this name an approval is bound to the tree that `commit -a` would commit
_IGNORES_NESTED = "--ignore-submodules=all"


@dataclass(frozen=True, slots=True)
class Before:
    """How things stood before a command: HEAD, and the commits that its operands named."""

    at: Head
    targets: Mapping[str, str]


def check_bound(git: Git, bound: Mapping[str, str]) -> None:
    """Raise Failed("ref_moved" or "index_changed") unless each name still stands for the object that was approved.

    "tree" is what the index holds; what a push moves is compared where it is pushed.
    """
    for name, object_id in bound.items():
        if name.startswith((NEW, OLD)) or name == ALL_TREE:
            continue  # compared where it is pushed, where it is staged
        if name == "tree":
            if index_tree(git) != object_id:
                raise Failed(
                    "index_changed", "What is staged is not what was approved; nothing was run.", "Ask again."
                )
        elif resolve(git, name, "object") != object_id:
            raise Failed(
                "ref_moved",
                f"{name} is no longer the {object_id[:10]} that was approved; nothing was run.",
                "Look at what changed and ask again.",
            )


def look_before(git: Git, command: Command) -> Before:
    """Return where HEAD is and what the command's operands name."""
    named = {word: resolve(git, "@{-1}" if word == "-" else word) for word in command.operands}
    return Before(head(git), {word: commit for word, commit in named.items() if commit is not None})


def refuse_links(git: Git, command: Command) -> None:
    """Raise Refused("beyond_a_link") where a path of a command that writes files leads through a symbolic link.

    `git mv` follows one in its destination, to wherever it leads. One that is put there after this look is found by
    `taking_over`.
    """
    if command.contact is not Contact.WRITE:
        return
    words = (*command.operands, *command.paths) if command.subcommand == "mv" else command.paths
    for number, word in enumerate(words, 1):
        path = git.paths.work_tree / word
        destination = command.subcommand == "mv" and number == len(words)
        for place in (*path.parents, *((path,) if destination else ())):
            if git.paths.work_tree in place.parents and place.is_symlink():  # not looked where to: anywhere
                raise Refused(
                    "beyond_a_link",
                    f"{place.relative_to(git.paths.work_tree)} is a symbolic link.",
                    "Name the files by the directory in which they really are.",
                )


def refuse_nested(git: Git, command: Command) -> None:
    """Raise Refused("embedded_repository") where git would look into nested repositories, or bring one in."""
    if not git.submodules:
        looks_around = command.contact in (Contact.READ, Contact.WRITE) and _IGNORES_NESTED not in command.inject
        if looks_around or (command.contact is Contact.WRITE and command.risk is not RiskClass.READ):
            refuse_gitlinks(index_gitlinks(git))
    elif command.subcommand == "rm" and "--cached" not in {name for name, _ in command.options}:
        _refuse_submodule_loss(index_gitlinks(git, paths=command.paths))
    refuse_coming(git, what_comes(command))


def refuse_coming(git: Git, coming: Coming) -> None:
    """Raise Refused where what comes holds an embedded repository, or would take the place of a submodule."""
    if git.submodules:
        _refuse_submodule_loss(replaced_submodules(git, coming))
    else:
        refuse_gitlinks(coming_gitlinks(git, coming))


def _refuse_submodule_loss(lost: Collection[str]) -> None:
    """Raise Refused("submodule_in_the_way") where git would remove submodules with their repositories, or move those
    into the host's git directory (git-rm(1)).
    """
    if lost:
        raise Refused(
            "submodule_in_the_way",
            f"The repositories of these submodules would be in the way, or lost:\n{listing(sorted(set(lost)))}",
            "Take a submodule out with git rm --cached PATH, commit that, and remove its directory in the container.",
        )


@contextmanager
def backed_out(git: Git, *, allowed: bool = False) -> Iterator[None]:
    """Watch over a command that changes the index; should it let a gitlink in, put index and HEAD back.

    Raises Failed("embedded_repository") then, unless gitlinks are `allowed`: the command did run, and what it did in
    the work tree stays.
    """
    real, kept = git.paths.local / "index", git.paths.tmp / "index.before"
    kept.unlink(missing_ok=True)
    if real.exists():
        copy_inner(git.paths.local, "index", kept, INDEX_BYTES)  # with its time, see index_draft
    known, at = set(index_gitlinks(git)), head(git)
    try:
        yield
    finally:
        added = set() if allowed else set(index_gitlinks(git)) - known
        if added:
            _put_back(git, at)
            real.unlink(missing_ok=True)
            if kept.exists():
                kept.rename(real)
        kept.unlink(missing_ok=True)
    if added:
        raise Failed(
            "embedded_repository",
            "The command brought in directories that are git repositories of their own; index and branches were put "
            "back, files in the work tree are as it left them:\n" + listing(sorted(added)),
            "Look at git_status; ops-gateway undo takes the files back too.",
        )


def _put_back(git: Git, at: Head) -> None:
    """Make HEAD stand where it stood, and its branch too."""
    reason = "an embedded repository was backed out"
    if at.branch is not None:
        git.local(["symbolic-ref", "-m", reason, "HEAD", HEADS + at.branch])
    if at.commit is not None:
        git.local(["update-ref", "-m", reason, *(["--no-deref"] if at.branch is None else []), "HEAD", at.commit])
