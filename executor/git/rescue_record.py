"""What a rescue remembers of a repository, and its form as JSON (pure).

The record is kept in the repository itself, as a file in a commit whose tree and parents hold every object that it
names: as long as the commit has a ref, nothing in the record can be pruned away. Which commit that is the gateway
remembers elsewhere (`rescue_ledger`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TypeGuard

FORMAT = 1
PREFIX = "refs/rescue/"
# Rescues keep what reflogs are for; one for each of their refs would only be litter.
NO_REFLOG = ("-c", "core.logAllRefUpdates=false")
# What operations move. Rescues themselves are left out: an undo must not take rescues back.
NAMESPACES = ("heads", "tags", "remotes", "notes", "stash", "bisect", "rewritten", "replace")
# git's own files about something unfinished, and the stash, which is a reflog.
NOTE_FILES = (
    "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG", "BISECT_HEAD",
    "BISECT_START", "BISECT_LOG", "BISECT_NAMES", "BISECT_TERMS", "BISECT_RUN", "BISECT_EXPECTED_REV",
    "BISECT_ANCESTORS_OK", "BISECT_FIRST_PARENT", "logs/refs/stash",
)  # fmt: skip
NOTE_DIRECTORIES = ("rebase-merge", "rebase-apply", "sequencer")
NOTES_BYTES = 8 * 1024 * 1024  # of all of them together
_NOTE_DEPTH = 4  # directories
_RECORD_BYTES = 64 * 1024 * 1024
_LARGEST = 2**63 - 1
_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DIGEST = re.compile(r"(?:[0-9a-f]{64})?")
_BRANCH_KEY = re.compile(r"branch\.(?:[^\n\0]+\.)?[A-Za-z][A-Za-z0-9-]*")
_BAD_IN_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{")  # git-check-ref-format(1)


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
    """Return the record that `to_json` wrote. Raises ValueError for anything else.

    Everything in it is checked, because `undo` writes by it: no name leads out of its place.
    """
    if len(data) > _RECORD_BYTES:
        raise ValueError(f"it is larger than {_RECORD_BYTES} bytes")
    try:
        values = json.loads(data)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
        raise ValueError("this is no rescue record of a format that is known")
    if values.keys() != {each.name for each in fields(Rescue)}:
        raise ValueError("it has other parts than a rescue record")
    _check(values)
    values["config"] = tuple((key, value) for key, value in values["config"])
    values["left_out"] = tuple(values["left_out"])
    values["embedded"] = tuple(values["embedded"])
    return Rescue(**values)


def _check(values: Mapping[str, object]) -> None:
    """Raise ValueError where a part of a record is not what `preserve` writes."""
    right = {
        "request_id": isinstance(values["request_id"], str),
        "head": _is_id(values["head"]) or is_kept_ref(values["head"]),
        "refs": _is_mapping(values["refs"]) and all(is_kept_ref(k) and _is_id(v) for k, v in values["refs"].items()),
        "config": _is_config(values["config"]),
        "staged": isinstance(values["staged"], str) and _DIGEST.fullmatch(values["staged"]) is not None,
        "notes": _are_notes(values["notes"]),
    }  # fmt: skip
    right |= {name: _is_count(values[name]) for name in ("sequence", "at", "index_time")}
    ids = ("commit", "index", "tags", "tree", "snapshot")
    right |= {name: values[name] is None or _is_id(values[name]) for name in ids}
    right |= {name: _are_words(values[name]) for name in ("left_out", "embedded")}
    wrong = next((name for name, is_right in right.items() if not is_right), None)
    if wrong is not None:
        raise ValueError(f"its {wrong} cannot be of a repository")


def is_note(name: object) -> bool:
    """Say whether `name` is one of git's own files about something unfinished, relative to the git directory."""
    if not isinstance(name, str) or name in NOTE_FILES:
        return isinstance(name, str)
    top, *below = name.split("/")
    return (
        top in NOTE_DIRECTORIES
        and 0 < len(below) <= _NOTE_DEPTH
        and all(part not in ("", ".", "..") and "\0" not in part for part in below)
    )


def is_kept_ref(name: object) -> bool:
    """Say whether `name` is a full ref name that git accepts, of a kind that rescues keep."""
    if not isinstance(name, str) or _BAD_IN_REF.search(name) or name.endswith("."):
        return False
    top, *below = name.split("/")
    if top != "refs" or not below or below[0] not in NAMESPACES or (below != ["stash"] and len(below) < 2):
        return False
    return all(part and not part.startswith(".") and not part.endswith(".lock") for part in below)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _OBJECT_ID.fullmatch(value) is not None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _is_mapping(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)  # by JSON, its keys are words


def _are_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _are_notes(value: object) -> bool:
    if not _is_mapping(value) or not all(map(is_note, value)):
        return False
    contents = [
        content for content in value.values() if isinstance(content, str) and max(content, default="") <= "\xff"
    ]
    return len(contents) == len(value) and sum(map(len, contents)) <= NOTES_BYTES


def _is_config(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and _are_words(pair) and _BRANCH_KEY.fullmatch(pair[0])
        for pair in value
    )


def by_branch(pairs: tuple[tuple[str, str], ...]) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return branch -> its (variable, value) pairs, of `branch.<name>.<variable>` keys."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for key, value in pairs:
        branch, _, name = key.removeprefix("branch.").rpartition(".")
        found[branch] = (*found.get(branch, ()), (name, value))
    return found
