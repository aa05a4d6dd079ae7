"""What a rescue remembers of a repository, and its form as JSON (pure).

The record is kept in the repository itself, as a file in a commit whose tree and parents hold every object that it
names: as long as the commit has a ref, nothing in the record can be pruned away.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

FORMAT = 1
PREFIX = "refs/rescue/"


@dataclass(frozen=True, slots=True)
class Rescue:
    """A repository as it was before request `request_id`.

    `head` is what HEAD said: a full branch name, or a commit when it was detached (`commit` is None on an unborn
    branch). `tree` holds the work tree's files and is None when they were not at stake. `snapshot` is a commit of
    the uncommitted work, when there was any. `notes` are git's own files about an operation in progress and about
    the stash, as latin-1 text.
    """

    request_id: str
    sequence: int  # counts the rescues of a repository; the clock may jump, this does not
    at: int  # seconds since the epoch
    head: str
    commit: str | None
    refs: Mapping[str, str]
    config: tuple[tuple[str, str], ...] = ()  # the branch.* keys
    index: str | None = None  # blob: the index file byte for byte; None when there was none
    index_time: int = 0  # the index file's mtime in ns: git reads a file again that is not older ("racy git")
    staged: str = ""  # digest of what the index says: its bytes also change when git only looks at files again
    tags: str | None = None  # blob: the annotated tag objects, as `git cat-file --batch` writes them
    tree: str | None = None
    snapshot: str | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    embedded: tuple[str, ...] = ()

    @property
    def branch(self) -> str | None:
        """The branch HEAD was on, by its short name; None when it was detached."""
        return self.head.removeprefix("refs/heads/") if self.head.startswith("refs/heads/") else None

    @property
    def ref(self) -> str:
        return record_ref(self.request_id)


def record_ref(request_id: str) -> str:
    return f"{PREFIX}{request_id}/record"


def to_json(rescue: Rescue) -> bytes:
    """Return the record as JSON. Names that are no UTF-8 stay what they were (as surrogate escapes)."""
    return json.dumps({"format": FORMAT, **asdict(rescue)}, sort_keys=True).encode("ascii")


def from_json(data: bytes) -> Rescue:
    """Return the record that `to_json` wrote. Raises ValueError for anything else."""
    values = json.loads(data)
    if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
        raise ValueError("this is no rescue record of a format that is known")
    values["config"] = tuple((key, value) for key, value in values["config"])
    values["left_out"] = tuple(values["left_out"])
    values["embedded"] = tuple(values["embedded"])
    try:
        return Rescue(**values)
    except TypeError as error:
        raise ValueError(str(error)) from error


def by_branch(pairs: tuple[tuple[str, str], ...]) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return branch -> its (variable, value) pairs, of `branch.<name>.<variable>` keys."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for key, value in pairs:
        branch, _, name = key.removeprefix("branch.").rpartition(".")
        found[branch] = (*found.get(branch, ()), (name, value))
    return found
