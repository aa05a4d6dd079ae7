"""Make the files of the work tree those of a snapshot again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Failed
from executor.git.inner_files import scratch_name
from executor.git.questions import text
from executor.git.repository import Git
from executor.git.snapshot_directory import EVERY_NAME, ignored_among, run
from executor.git.tree_view import Place, tree_view
from executor.policy.model import Contact

_ABSENT = "000000"


@dataclass(frozen=True, slots=True)
class Difference:
    """One path that differs between two trees. `had` says that the first one has it; `mode` is "000000" where the
    second has none."""

    path: str
    had: bool
    mode: str
    object_id: str

    @property
    def deleted(self) -> bool:
        return self.mode == _ABSENT


def put_back(git: Git, now: str, then: str, paths: Iterable[str]) -> None:
    """Make the files of the work tree at `paths` those of tree `then`.

    `now` is the tree that `take` has just returned. Files that are ignored once `then`'s ignore files are back stay:
    they were in no snapshot then. Raises Failed("ignored_in_the_way") where one would be overwritten, and Failed when
    the tree changed in between.
    """
    chosen = set(paths)
    changed = [entry for entry in differences(git, now, then) if entry.path in chosen]
    blocked = _in_the_way(git.paths.work_tree, changed)
    if blocked:
        raise Failed(
            "ignored_in_the_way",
            f"Ignored files or links stand where others have to come back: {', '.join(sorted(blocked)[:5])}.",
            "Move them out of the way, then ask again.",
        )
    # A file written anew with the same content is no change to `take`, but git-read-tree(1) would not replace it.
    run(git, ["update-index", "-q", "--refresh"], Contact.READ, check=False)
    written = [entry for entry in changed if not entry.deleted or _makes_room(entry.path, changed)]
    middle = _step(git, now, written)
    deleted = [entry for entry in changed if entry.deleted and entry not in written]
    stay = ignored_among(git, [entry.path for entry in deleted])
    _step(git, middle, [entry for entry in deleted if entry.path not in stay])


def differences(git: Git, old: str, new: str) -> tuple[Difference, ...]:
    """Return the paths in which tree `new` differs from tree `old`."""
    done = git.local(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new], exact=True)
    fields = [text(field) for field in done.stdout.split(b"\0")[:-1]]
    found = []
    for meta, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, mode, _, object_id, _ = meta.removeprefix(":").split(" ")
        found.append(Difference(path, old_mode != _ABSENT, mode, object_id))
    return tuple(found)


def _step(git: Git, now: str, changes: Sequence[Difference]) -> str:
    """Bring `changes` into the work tree, which is at tree `now`, and return the tree that it then is at."""
    if not changes:
        return now
    target = _graft(git, now, changes)
    run(git, ["read-tree", "-m", "-u", now, target], Contact.WRITE)
    return target


def _makes_room(path: str, changed: Sequence[Difference]) -> bool:
    """Whether a file has to go because a directory comes in its place, or the other way round."""
    created = (entry.path for entry in changed if not entry.deleted and not entry.had)
    return any(other.startswith(f"{path}/") or path.startswith(f"{other}/") for other in created)


def _in_the_way(root: Path, changed: Sequence[Difference]) -> set[str]:
    """Return what is in no snapshot and would be overwritten (git itself holds that ignored files may be), and what
    stands where a directory has to be: a link there, which leads anywhere."""
    known = {entry.path for entry in changed if entry.had}
    blocked: set[str] = set()
    with tree_view(root) as view:
        for path in sorted(entry.path for entry in changed if not entry.had):
            standing = view.look(path)
            if standing.place is Place.DIRECTORY:
                blocked |= set(view.files_in(path)) - known
            elif standing.place is Place.OTHER and standing.at not in known:
                blocked.add(standing.at)
    return blocked


def _graft(git: Git, tree: str, changes: Sequence[Difference]) -> str:
    gone_first = sorted(changes, key=lambda entry: not entry.deleted)  # a file may become a directory
    lines = "".join(f"{entry.mode} {entry.object_id}\t{entry.path}\0" for entry in gone_first)
    with scratch_name(git.paths.tmp, "graft-index") as index:
        git.local([*EVERY_NAME, "read-tree", tree], index=index)
        stdin = lines.encode("utf-8", "surrogateescape")
        git.local([*EVERY_NAME, "update-index", "-z", "--index-info"], index=index, stdin=stdin)
        return text(git.local([*EVERY_NAME, "write-tree"], index=index).stdout).strip()
