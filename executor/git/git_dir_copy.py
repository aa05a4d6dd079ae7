"""Making a clean repository of a git directory that an agent wrote, beside the places where it will be used."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from executor.errors import Refused
from executor.git.adoption_checks import check_adoptable, check_config
from executor.git.adoption_plan import AdoptionPlan, read_config
from executor.git.foreign_copy import copy_file
from executor.git.git_dir_layout import Treatment
from executor.git.git_dir_survey import Item, survey
from executor.git.git_dirs import local_settings, make_git_dir, make_transfer, prepare_root, write_private
from executor.git.index_rebuild import INDEX_LIMIT, rebuild_index
from executor.git.paths import RepositoryPaths
from executor.git.repository import Git
from executor.sandbox.process import ProcessRunner

KEPT_FILE_LIMIT = 256 * 1024  # bytes; of the dropped files that are kept for people
KEPT_TOTAL_LIMIT = 16 * 1024 * 1024
# Flaws in commits and tags that old programs made; harmless, and no reason to turn a history away (git-fsck(1)).
_HARMLESS = (
    "badDate", "badDateOverflow", "badEmail", "badName", "badTimezone", "missingEmail", "missingNameBeforeEmail",
    "missingSpaceBeforeDate", "missingSpaceBeforeEmail", "missingTaggerEntry", "multipleAuthors", "zeroPaddedDate",
    "zeroPaddedFilemode",
)  # fmt: skip
_SHOWN_BYTES = 600


@dataclass(frozen=True, slots=True)
class Built:
    """A complete pair of git directories in `staged`, and the state of the original that it is a copy of."""

    staged: RepositoryPaths
    fingerprint: str
    notes: tuple[str, ...]


class _Copier:
    """Writes what `survey` meets into an empty git directory of ours."""

    def __init__(self, target: Path, index: Path, keep: Path) -> None:
        self._target = target
        self._index = index
        self._keep = keep
        self._room = KEPT_TOTAL_LIMIT
        self.packs: list[str] = []

    def __call__(self, item: Item) -> None:
        found, target = item.found, self._target / item.found.path
        if item.treatment is Treatment.INDEX:
            copy_file(found.directory, found.name, self._index, INDEX_LIMIT)
        elif item.treatment in (Treatment.OBJECT, Treatment.PACK):
            target.parent.mkdir(mode=0o700, exist_ok=True)
            copy_file(found.directory, found.name, target, found.size)
            if item.treatment is Treatment.PACK:
                self.packs.append(found.path)
        elif item.treatment in (Treatment.DROP, Treatment.CONFIG):
            self._keep_for_people(item)
        elif item.content is not None:
            _make_parents(target, self._target)
            write_private(target, item.content)

    def _keep_for_people(self, item: Item) -> None:
        found = item.found
        if found.size > min(KEPT_FILE_LIMIT, self._room):
            return
        self._room -= found.size
        target = self._keep / found.path
        _make_parents(target, self._keep)
        copy_file(found.directory, found.name, target, found.size)


def _make_parents(target: Path, root: Path) -> None:
    for parent in reversed(target.relative_to(root).parents):
        (root / parent).mkdir(mode=0o700, exist_ok=True)


def build(git_dir: int, plan: AdoptionPlan, keep: Path, runner: ProcessRunner, deadline: float) -> Built:
    """Copy, check and complete the repository in `root/incoming`; what is dropped is copied to `keep` for people.

    Given the descriptor of the original. Nothing of it is trusted before git found every object to be what its name
    says. Raises Refused as planning does, `git_dir_damaged`, `git_dir_changed`; TimedOut after `deadline` seconds.
    """
    final = plan.paths
    staged = RepositoryPaths(final.name, final.work_tree, final.root / "incoming")
    prepare_root(staged)
    make_git_dir(staged.local, local_settings(final, plan.settings, plan.remotes, plan.object_format), b"")
    copier = _Copier(staged.local, staged.tmp / "index", keep)
    found = survey(git_dir, copier)
    write_private(keep / "left-out.txt", _listing(plan))
    check_adoptable(found)
    git = Git(staged, runner)
    config = read_config(git, found)
    check_config(config)
    if config.object_format != plan.object_format:
        raise Refused(
            "git_dir_changed", "The repository's format was changed since the plan was made.", "Plan again."
        )
    _index_packs(git, copier.packs, deadline)
    notes: list[str] = []
    if "index" in found.top:
        marks = rebuild_index(git, staged.tmp / "index", submodules=plan.submodules)
        notes += [f"{len(marks)} files that were marked with git add -N are untracked again."] if marks else []
    _check_objects(git, deadline, lends="objects/info/alternates" in {entry.what for entry in found.dropped})
    make_transfer(staged.local, staged.transfer, final.objects, plan.remotes, plan.object_format)
    return Built(staged, found.fingerprint, tuple(notes))


def _listing(plan: AdoptionPlan) -> bytes:
    lines = "".join(f"{entry.what!r}: {entry.why}\n" for entry in plan.dropped)
    return lines.encode("utf-8", "backslashreplace")


def _index_packs(git: Git, packs: list[str], deadline: float) -> None:
    """Make each pack's index from the pack itself: the agent's could say that an object is another one."""
    for pack in packs:
        done = git.local(["index-pack", str(git.paths.local / pack)], deadline=deadline, check=False)
        if done.exit_code != 0:
            raise _damaged(done.stderr)


def _check_objects(git: Git, deadline: float, *, lends: bool) -> None:
    """Have git recompute every object's name and follow every ref and the index to the end."""
    tolerant = [word for flaw in _HARMLESS for word in ("-c", f"fsck.{flaw}=warn")]
    check = ["fsck", "--full", "--no-dangling", "--no-progress", "--no-reflogs"]
    done = git.local([*tolerant, *check], deadline=deadline, check=False)
    if done.exit_code != 0:
        raise _damaged(done.stderr or done.stdout, lends=lends)


def _damaged(output: bytes, *, lends: bool = False) -> Refused:
    said = output.decode("utf-8", "replace").strip()[:_SHOWN_BYTES]
    hint = "Mend it (git fsck --full says what is wrong), or make a fresh clone and adopt that."
    if lends:
        hint = "It borrowed objects from elsewhere (objects/info/alternates). Copy them first: git repack -a -d"
    return Refused("git_dir_damaged", f"The repository is damaged or incomplete: {said}", hint)
