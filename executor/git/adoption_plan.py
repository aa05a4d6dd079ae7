"""What adopting a repository would do: looked up without changing anything, and shown before it is done."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Problem, Refused
from executor.git.adoption_checks import agents_places, check_adoptable, check_config, check_places, check_standing
from executor.git.agreed_remotes import agree_on_remotes
from executor.git.config_scrub import Dropped, Scrubbed, Setting, parse_listing, scrub
from executor.git.foreign_copy import copy_file, directory
from executor.git.git_dir_survey import Survey, survey
from executor.git.git_dirs import Remote, local_settings, make_git_dir, prepare_root
from executor.git.gitfile import DOT_GIT, Standing, look, read_journal
from executor.git.index_rebuild import INDEX_LIMIT, IndexEntry, check_entries, gitlinks, list_entries
from executor.git.paths import RepositoryPaths
from executor.git.remote_address import mask_userinfo
from executor.git.repository import Git
from executor.git.requirements import require_confinement
from executor.git.submodule_dirs import Absorbed, absorbed
from executor.sandbox.process import ProcessRunner
from executor.spans import size

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
    submodules: bool = False  # they are allowed
    gitlinks: tuple[str, ...] = ()

    def lines(self) -> tuple[str, ...]:
        """Return the plan in plain words, passwords masked. It quotes foreign names: make them visible to show it."""
        if self.adopted:
            return _lines_adopted(self)
        shown = [
            f"Adopt {self.paths.work_tree}",
            f"  its git directory becomes {self.paths.local}",
            f"  {self.files} files, {size(self.size)} are copied and checked; .git becomes a gitfile",
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
    submodules: bool = False,
) -> AdoptionPlan:
    """Return what adopting the repository at `paths.work_tree` would do; nothing on the host is changed.

    `remotes` (name -> URL) come from the operator and win over what the repository says. A remote that is a path on
    this host starts a shell and that repository's own hooks here, so it takes `allow_local_remote`, and it must lie
    outside the work tree and `shared_dir`. With `submodules` the index may have some; that takes the confinement.
    Raises Refused with a code and a hint when it cannot be adopted as it is.
    """
    check_places(paths, shared_dir)
    if submodules:
        require_confinement(runner, paths.name, "submodules_unconfined", "submodules")
    with directory(paths.work_tree) as tree:
        standing = look(tree, paths)
        if paths.local.is_dir() or read_journal(paths) is not None:
            return AdoptionPlan(paths, standing, adopted=True)
        check_standing(standing, paths)
        with directory(DOT_GIT, tree) as git_dir, tempfile.TemporaryDirectory(prefix="ogw-plan-") as scratch:
            found = survey(git_dir)
            check_adoptable(found)
            git = scratch_git(paths, Path(scratch), runner)
            config = read_config(git, found)
            check_config(config)
            entries = _index_entries(git, git_dir, found)
            check_entries(entries, submodules=submodules)
            moving = absorbed(tree, paths.work_tree, gitlinks(entries)) if submodules else ()
            owner = os.fstat(git_dir).st_uid
    agreed, dropped = agree_on_remotes(
        config.remotes, remotes or {}, forbidden=agents_places(paths, shared_dir), allow_local=allow_local_remote
    )
    return AdoptionPlan(
        paths=paths,
        standing=standing,
        adopted=False,
        settings=config.kept,
        remotes=agreed,
        object_format=config.object_format,
        dropped=(*_left_out(found, submodules=submodules), *config.dropped, *dropped),
        notes=(*_notes(paths, found, config, agreed, owner, submodules=submodules), *map(_moving_note, moving)),
        files=found.files,
        size=found.size,
        submodules=submodules,
        gitlinks=gitlinks(entries),
    )


def scratch_git(paths: RepositoryPaths, scratch: Path, runner: ProcessRunner) -> Git:
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


def _index_entries(git: Git, git_dir: int, found: Survey) -> tuple[IndexEntry, ...]:
    """Return what the index holds; one that cannot be read without the objects is looked at later."""
    if "index" not in found.top:
        return ()
    copied = git.paths.tmp / "index"
    copy_file(git_dir, "index", copied, INDEX_LIMIT)
    try:
        return list_entries(git, copied)
    except Problem:
        return ()


def _left_out(found: Survey, *, submodules: bool) -> list[Dropped]:
    return [entry for entry in found.dropped if not (submodules and entry.what.startswith("modules/"))]


def _moving_note(one: Absorbed) -> str:
    return f"the git directory of submodule {one.path} moves from {one.git_dir} to {one.path}/.git."


def _notes(
    paths: RepositoryPaths, found: Survey, config: Scrubbed, remotes: tuple[Remote, ...], owner: int,
    *, submodules: bool,
) -> tuple[str, ...]:  # fmt: skip
    notes = []
    us, tree = os.geteuid(), paths.work_tree.stat()
    if owner != us or tree.st_uid != us:
        notes.append(
            f"the work tree belongs to uid {tree.st_uid} and its .git to uid {owner}; the adopted repository belongs "
            f"to uid {us}, and plain git in the work tree will work for that user alone."
        )
    if tree.st_mode & stat.S_ISVTX and us not in (0, tree.st_uid, owner):
        notes.append("the work tree is sticky: .git cannot be exchanged by another user than its owner.")
    if config.lfs or found.lfs:
        notes.append("Git LFS was in use; unless the host allows it (allow_lfs), LFS files stay pointers here.")
    if "modules" in found.top and not submodules:
        notes.append("git directories of submodules are left behind; submodules are not allowed here.")
    if not remotes:
        notes.append("no remote is left, so nothing can be fetched or pushed; give one with --remote origin=URL.")
    return tuple(notes)
