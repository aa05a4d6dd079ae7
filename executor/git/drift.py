"""What an approval depends on, as a value; and what moved between two of them, in plain words (pure).

An approval is for what was shown. So everything that its effect depends on is resolved to ids when operators are
asked, and again before it runs: where the two differ, nothing runs (flag-030).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from executor.spans import plural

_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT = 10
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Binding:
    """What one decision depends on.

    `things` maps what a person calls it ("HEAD", "main at origin") to what it is: an object id, a ref, a word; None
    is "there is none". `ids` are the names that the runner checks once more itself; for a commit "tree", for a push
    `new:REF` and `remote:REF` ("" for no object). `unbound` says what will be taken as it is when the operation runs.
    """

    repo: str
    operation: str
    argv: tuple[str, ...]
    things: tuple[tuple[str, str | None], ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    unbound: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of all of it, in hexadecimal."""
        canonical = json.dumps(self.to_data(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()

    def lines(self) -> tuple[str, ...]:
        """Return one line for each thing, ids in full, then what is not bound."""
        bound = (f"{label}: {value if value is not None else 'none'}" for label, value in self.things)
        return (*bound, *(f"not bound: {note}" for note in self.unbound))

    def to_data(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "repo": self.repo,
            "operation": self.operation,
            "argv": list(self.argv),
            "things": [list(thing) for thing in self.things],
            "ids": dict(self.ids),
            "unbound": list(self.unbound),
        }

    @classmethod
    def from_data(cls, data: object) -> Binding:
        """Return the binding that `to_data` gave. Raises ValueError for anything else."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise ValueError("this is no binding of a format that is known")
        try:
            return cls(
                str(data["repo"]),
                str(data["operation"]),
                tuple(data["argv"]),
                tuple((label, value) for label, value in data["things"]),
                dict(data["ids"]),
                tuple(data["unbound"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is no binding: {error}") from error


def drift(old: Binding, new: Binding, count: Callable[[str, str], int | None] | None = None) -> tuple[str, ...]:
    """Return what moved from `old` to `new`, a sentence each; empty when both have the same digest.

    `count` may tell how many commits lie between two ids.
    """
    said = [
        f"The {name} is another one."
        for name, then, now in (
            ("repository", old.repo, new.repo),
            ("operation", old.operation, new.operation),
            ("command", old.argv, new.argv),
        )
        if then != now
    ]
    then, now = dict(old.things), dict(new.things)
    for label in dict.fromkeys((*then, *now)):
        if then.get(label) != now.get(label):
            said.append(_sentence(label, then.get(label), now.get(label), count))
    if not said and old.digest != new.digest:
        said.append("What is bound is not the same.")
    return tuple(said)


def _sentence(label: str, old: str | None, new: str | None, count: Callable[[str, str], int | None] | None) -> str:
    if old is None:
        return f"{label} is there now: {_short(new)}."
    if new is None:
        return f"{label} is gone; it was {_short(old)}."
    commits = count(old, new) if count is not None and _is_id(old) and _is_id(new) else None
    between = f" ({plural(commits, 'commit')})" if commits is not None else ""
    return f"{label} moved from {_short(old)} to {_short(new)}{between}."


def _short(value: str | None) -> str:
    return value[:_SHORT] if value is not None and _is_id(value) else str(value)


def _is_id(value: str) -> bool:
    return _OBJECT_ID.fullmatch(value) is not None
