"""What adopting a repository would do: looked up without changing anything, and shown before it is done."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Problem, Refused
from executor.git.agreed_remotes import agree_on_remotes
from executor.git.config_scrub import Dropped, Scrubbed, Setting, parse_listing, scrub
from executor.git.foreign_copy import copy_file, directory
from executor.git.git_dir_layout import operation_in_progress
from executor.git.git_dir_survey import Survey, survey
from executor.git.git_dirs import Remote, local_settings, make_git_dir, prepare_root
from executor.git.gitfile import DOT_GIT, Standing, look, read_journal
from executor.git.index_rebuild import INDEX_LIMIT, check_entries, list_entries
from executor.git.paths import RepositoryPaths
from executor.git.remote_address import mask_userinfo
from executor.git.repository import Git
from executor.sandbox.process import ProcessRunner

_SHOWN = 200  # dropped things that are listed one by one


@dataclass(frozen=True, slots=True)
class AdoptionPlan:
    """What `adopt` will do. `standing` is what is at `.git` now; when `adopted`, only that is put right.

    `settings` and `remotes` are what the repository will have; what the agent writes after planning does not count.
    """

    paths: RepositoryPaths
    standing: Standing
    adopted: bool
    settings: tuple[Setting, ...] = ()
    remotes: tuple[Remote, ...] = ()
    object_format: str = "sha1"
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()
    files: int = 0
    size: int = 0  # bytes

    def lines(self) -> tuple[str, ...]:
        """Return the plan in plain words, passwords masked. It quotes foreign names: make them visible to show it."""
        if self.adopted:
            return _lines_adopted(self)
        shown = [
            f"Adopt {self.paths.work_tree}",
            f"  its git directory becomes {self.paths.local}",
            f"  {self.files} files, {self.size / 1e6:.1f} MB are copied and checked; .git becomes a gitfile",
            "Remotes (the gateway will talk to these, with the host's credentials):",
            *(f"  {remote.name}  {mask_userinfo(remote.url)}" for remote in self.remotes),
            *(["  none"] if not self.remotes else []),
            "Settings that are kept:",
            *(f"  {setting.key} = {setting.value}" for setting in self.settings),
            *(["  none"] if not self.settings else []),
            f"Left out (readable copies of what is small go to {self.paths.root / 'adoption'}):",
            *(f"  {dropped.what}: {dropped.why}" for dropped in self.dropped[:_SHOWN]),
            *(["  nothing"] if not self.dropped else []),
        ]
        if len(self.dropped) > _SHOWN:
            shown.append(f"  and {len(self.dropped) - _SHOWN} more")
        return (*shown, *(f"Note: {note}" for note in self.notes))


def _lines_adopted(plan: AdoptionPlan) -> tuple[str, ...]:
    first = f"{plan.paths.work_tree} is adopted already: {plan.paths.local}"
    if plan.standing is Standing.OURS:
        return (first,)
    if plan.standing is Standing.MISSING:
        return (first, "  .git is missing and will be written again.")
    return (first, f"  .git is {plan.standing}; it will be moved aside, unread, and the gitfile written again.")


def plan_adoption(
    paths: RepositoryPaths,
    runner: ProcessRunner,
    *,
    shared_dir: Path | None = None,
    remotes: Mapping[str, str] | None = None,
    allow_local_remote: bool = False,
) -> AdoptionPlan:
    """Return what adopting the repository at `paths.work_tree` would do; nothing on the host is changed.

    `remotes` (name -> URL) come from the operator and win over what the repository says. A remote that is a path on
    this host starts a shell and that repository's own hooks here, so it takes `allow_local_remote`, and it must lie
    outside the work tree and `shared_dir`. Raises Refused with a code and a hint when it cannot be adopted as it is.
    """
    check_places(paths, shared_dir)
    with directory(paths.work_tree) as tree:
        standing = look(tree, paths)
        if paths.local.is_dir() or read_journal(paths) is not None:
            return AdoptionPlan(paths, standing, adopted=True)
        check_standing(standing, paths)
        with directory(DOT_GIT, tree) as git_dir, tempfile.TemporaryDirectory(prefix="ogw-plan-") as scratch:
            found = survey(git_dir)
            check_adoptable(found)
            git = _scratch_git(paths, Path(scratch), runner)
            config = read_config(git, found)
            check_config(config)
            _check_index(git, git_dir, found)
            owner = os.fstat(git_dir).st_uid
    agreed, dropped = agree_on_remotes(
        config.remotes, remotes or {}, forbidden=_places(paths, shared_dir), allow_local=allow_local_remote
    )
    return AdoptionPlan(
        paths=paths,
        standing=standing,
        adopted=False,
        settings=config.kept,
        remotes=agreed,
        object_format=config.object_format,
        dropped=(*found.dropped, *config.dropped, *dropped),
        notes=_notes(paths, found, config, agreed, owner),
        files=found.files,
        size=found.size,
    )


def _places(paths: RepositoryPaths, shared_dir: Path | None) -> tuple[Path, ...]:
    """Return the directories that an agent can write."""
    return (paths.work_tree,) if shared_dir is None else (paths.work_tree, shared_dir)


def check_places(paths: RepositoryPaths, shared_dir: Path | None) -> None:
    """Raise Refused: `work_tree_missing`, `work_tree_link`, `state_dir_place`, `work_tree_read_only`."""
    work_tree = paths.work_tree
    if not work_tree.is_dir():
        raise Refused("work_tree_missing", f"There is no directory {work_tree}.", "Check GATEWAY_REPO_DIR.")
    if work_tree.resolve() != work_tree:
        raise Refused(
            "work_tree_link",
            f"{work_tree} leads through a symbolic link to {work_tree.resolve()}.",
            f"Name the real directory: GATEWAY_REPO_DIR={work_tree.resolve()}",
        )
    root = paths.root.resolve()
    for place in _places(paths, shared_dir):
        if root.is_relative_to(place.resolve()) or place.resolve().is_relative_to(root):
            raise Refused(
                "state_dir_place",
                f"The state directory {root} and {place}, which the agent can write, lie in one another.",
                "Set GATEWAY_STATE_DIR to a directory of its own, such as /var/lib/ops-gateway.",
            )
    if not os.access(work_tree, os.W_OK | os.X_OK):
        raise Refused(
            "work_tree_read_only",
            f"uid {os.geteuid()} may not write in {work_tree}, so .git cannot be exchanged there.",
            "Give the directory to the user that the gateway runs as, or to a group of both.",
        )


def check_standing(standing: Standing, paths: RepositoryPaths) -> None:
    """Raise Refused unless a git directory of its own stands at `.git`."""
    if standing is Standing.DIRECTORY:
        return
    if standing is Standing.MISSING:
        raise Refused(
            "not_a_repository", f"There is no .git in {paths.work_tree}.", "Make a repository first: git init"
        )
    if standing is Standing.OURS:
        raise Refused(
            "state_missing",
            f".git points to {paths.local}, which is not there.",
            "Restore the state directory from its backup; the commits are in it.",
        )
    raise Refused(
        "git_dir_elsewhere",
        f".git in {paths.work_tree} is {standing}, so the git directory lies elsewhere.",
        "A linked work tree or a submodule cannot be adopted: use a clone of its own. If you did not make this link, "
        "somebody tampered with it.",
    )


def check_adoptable(found: Survey) -> None:
    """Raise Refused for a repository that is busy or of a kind that cannot be adopted as it is."""
    unfinished = operation_in_progress(found.top)
    if unfinished is not None:
        what, abort = unfinished
        raise Refused("in_progress", f"A {what} is in progress.", f"Finish it, or give it up: {abort}")
    if "index.lock" in found.top:
        raise Refused(
            "index_locked",
            "Another git process holds the index, or one left its lock behind.",
            "Wait for it; if no git is running, remove .git/index.lock.",
        )
    if found.worktrees:
        raise Refused(
            "linked_worktrees",
            f"Other work trees belong to this repository: {', '.join(found.worktrees[:5])}.",
            "Remove them first (git worktree remove, then git worktree prune).",
        )
    if found.promisor:
        raise _partial()
    if found.head is None:
        raise Refused(
            "no_head",
            "HEAD is missing or names neither a branch nor a commit.",
            "Put it right first (git switch main), or make a fresh clone.",
        )
    if not {"config", "objects", "refs"} <= found.top:
        raise Refused("not_a_repository", ".git holds no git repository.", "Make a fresh clone, and adopt that.")


def check_config(config: Scrubbed) -> None:
    """Raise Refused for a repository whose configuration says that it is of a kind that cannot be adopted."""
    if config.unsupported is not None:
        raise Refused("repository_format", f"The repository needs {config.unsupported}.", "Use a plain clone of it.")
    if config.bare:
        raise Refused("bare", "The repository is bare: it has no work tree.", "Adopt a clone that has one.")
    if config.partial:
        raise _partial()


def _partial() -> Refused:
    return Refused(
        "partial_clone",
        "The clone is partial: objects that are missing would be fetched whenever git comes across them.",
        "Fetch everything first; the sure way is a full clone: git clone without --filter",
    )


def _scratch_git(paths: RepositoryPaths, scratch: Path, runner: ProcessRunner) -> Git:
    """Return git in an empty repository of ours, to have files parsed that were copied there."""
    own = RepositoryPaths(paths.name, paths.work_tree, scratch.resolve())
    prepare_root(own)
    make_git_dir(own.local, local_settings(own, (), (), "sha1"), b"ref: refs/heads/main\n")
    return Git(own, runner)


def read_config(git: Git, found: Survey) -> Scrubbed:
    """Return what survives of the configuration, parsed by git itself from text that it cannot reach out of.

    Raises Refused("config_unreadable").
    """
    settings: tuple[Setting, ...] = ()
    for name, content in sorted(found.configs.items()):
        listing = ["config", "--file", "-", "--no-includes", "--list", "-z"]
        done = git.local(listing, stdin=content, exact=True, check=False)
        if done.exit_code != 0:
            why = done.stderr.decode("utf-8", "replace").strip()[-200:]
            raise Refused(
                "config_unreadable", f"git cannot read .git/{name}: {why}", "Mend the file, or make a clone."
            )
        settings += parse_listing(done.stdout)
    return scrub(settings)


def _check_index(git: Git, git_dir: int, found: Survey) -> None:
    """Look for submodules already now; an index that cannot be read without the objects is looked at later."""
    if "index" not in found.top:
        return
    copied = git.paths.tmp / "index"
    copy_file(git_dir, "index", copied, INDEX_LIMIT)
    try:
        entries = list_entries(git, copied)
    except Problem:
        return
    check_entries(entries)


def _notes(
    paths: RepositoryPaths, found: Survey, config: Scrubbed, remotes: tuple[Remote, ...], owner: int
) -> tuple[str, ...]:
    notes = []
    us, tree = os.geteuid(), paths.work_tree.stat()
    if owner != us or tree.st_uid != us:
        notes.append(
            f"the work tree belongs to uid {tree.st_uid} and its .git to uid {owner}; the adopted repository belongs "
            f"to uid {us}, and plain git in the work tree will work for that user alone (C01)."
        )
    if tree.st_mode & stat.S_ISVTX and us not in (0, tree.st_uid, owner):
        notes.append("the work tree is sticky: .git cannot be exchanged by another user than its owner.")
    if config.lfs or found.lfs:
        notes.append("Git LFS was in use; its filters do not run here, so LFS files stay pointers (C20).")
    if "modules" in found.top:
        notes.append("git directories of submodules are left behind; submodules are not supported (C24).")
    if not remotes:
        notes.append("no remote is left, so nothing can be fetched or pushed; give one with --remote origin=URL.")
    return tuple(notes)
