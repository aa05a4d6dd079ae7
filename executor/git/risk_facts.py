"""What in a change deserves a second look before it is published: from paths, modes, sizes and commits (pure).

A fact says what could follow, not that something is wrong. Files that tell by their name are in `risk_paths`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from executor.git.risk_paths import NAMED, matcher

PATHS_SHOWN = 10  # of one fact; `count` says how many there are
LARGE_BYTES = 1024 * 1024
MANY_DELETIONS = 20

SYMLINK, GITLINK, EXECUTABLE = "120000", "160000", "100755"
_ABSENT = "000000"
_NAMED = tuple((row, matcher(row.patterns)) for row in NAMED)
_CI_WORDS = re.compile(
    r"\[(?:skip|no)[ -](?:ci|actions|travis|circle|pipeline)\]|\[(?:ci|actions|travis|circle)[ -]skip\]"
    r"|\*\*\*NO_CI\*\*\*|^skip-checks: *true",
    re.I | re.M,
)


class Severity(StrEnum):
    """How much a fact weighs, heaviest first."""

    DANGER = "danger"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class ChangedPath:
    """One changed path. `status` is git's letter (A, D, M, T, R); modes are git's, "000000" for none.

    `added` and `deleted` count lines and are None for a binary file; `size` is that of the new content in bytes,
    `link` where a new symbolic link points. `old_path` is where it was before a rename.
    """

    path: str
    status: str
    old_mode: str
    new_mode: str
    added: int | None = 0
    deleted: int | None = 0
    size: int | None = None
    link: str | None = None
    old_path: str | None = None

    @property
    def binary(self) -> bool:
        return self.added is None and GITLINK not in (self.old_mode, self.new_mode)


@dataclass(frozen=True, slots=True)
class CommitFact:
    """One commit as an operator needs to know it; `at` is ISO 8601. `skips_ci` when its message says so."""

    id: str
    author: str
    email: str
    committer_email: str
    at: str
    subject: str
    skips_ci: bool = False


@dataclass(frozen=True, slots=True)
class RiskFact:
    """One thing worth knowing. `paths` are examples (or commits), at most `PATHS_SHOWN` of `count`."""

    kind: str
    severity: Severity
    words: str
    paths: tuple[str, ...] = ()
    count: int = 0


def risks_of_paths(changes: Sequence[ChangedPath]) -> tuple[RiskFact, ...]:
    """Return what the changed paths tell, heaviest first, at most one fact of each kind."""
    found = [
        _fact(row.kind, Severity(row.severity), row.words, [c for c in changes if _touches(c, pattern)])
        for row, pattern in _NAMED
    ]
    found += [_fact(kind, severity, words, filter(holds, changes)) for kind, severity, words, holds in _BY_KIND]
    removed = [c for c in changes if c.status == "D"]
    many = Severity.WARNING if len(removed) >= MANY_DELETIONS else Severity.NOTE
    found.append(_fact("deletions", many, "deletes files", removed))
    return by_severity(fact for fact in found if fact is not None)


def risks_of_commits(commits: Sequence[CommitFact], email: str | None) -> tuple[RiskFact, ...]:
    """Return what the commits tell; `email` is the identity that this repository commits with, if it has one."""
    strangers = sorted({who for c in commits for who in (c.email, c.committer_email) if email and who != email})
    silent = [c.id[:10] for c in commits if c.skips_ci]
    found = (
        _counted("strangers", Severity.WARNING, "authors or committers other than this repository's own", strangers),
        _counted("ci-words", Severity.WARNING, "commit messages that tell the CI not to run", silent),
    )
    return tuple(fact for fact in found if fact is not None)


def by_severity(facts: Iterable[RiskFact]) -> tuple[RiskFact, ...]:
    """Return the facts, heaviest first, otherwise in the order given."""
    order = list(Severity)
    return tuple(sorted(facts, key=lambda fact: order.index(fact.severity)))


def skips_ci(message: str) -> bool:
    """Say whether a commit message holds the words with which CI systems are told not to run."""
    return _CI_WORDS.search(message) is not None


def leads_outside(path: str, target: str) -> bool:
    """Say whether a symbolic link at `path`, pointing to `target`, leads out of the tree or into `.git`."""
    if target.startswith("/"):
        return True
    reached = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    parts = reached.split("/")
    return parts[0] == ".." or any(part.lower() == ".git" for part in parts)


def _touches(change: ChangedPath, pattern: re.Pattern[str]) -> bool:
    return any(pattern.match(f"/{path}") for path in (change.path, change.old_path) if path is not None)


def _new_link(change: ChangedPath) -> bool:
    return change.new_mode == SYMLINK and change.status != "D"


def _link_outside(change: ChangedPath) -> bool:
    return _new_link(change) and change.link is not None and leads_outside(change.path, change.link)


_BY_KIND: tuple[tuple[str, Severity, str, Callable[[ChangedPath], bool]], ...] = (
    ("links-outside", Severity.DANGER, "symbolic links that lead out of the tree", _link_outside),
    ("links", Severity.NOTE, "new or changed symbolic links", lambda c: _new_link(c) and not _link_outside(c)),
    (
        "submodules",
        Severity.WARNING,
        "moves, adds or drops submodules: other repositories' code",
        lambda c: GITLINK in (c.old_mode, c.new_mode),
    ),
    (
        "executable",
        Severity.WARNING,
        "files that become executable",
        lambda c: c.new_mode == EXECUTABLE and c.old_mode != EXECUTABLE,
    ),
    ("large", Severity.WARNING, "files larger than 1 MiB", lambda c: (c.size or 0) > LARGE_BYTES and c.status != "D"),
    (
        "binary",
        Severity.NOTE,
        "binary files: no diff shows them, and hardly a search for secrets",
        lambda c: c.binary and c.status != "D",
    ),
    (
        "replaced",
        Severity.WARNING,
        "paths that become another kind of thing (file, link, submodule)",
        lambda c: c.status == "T" and _ABSENT not in (c.old_mode, c.new_mode),
    ),
)


def _fact(kind: str, severity: Severity, words: str, changes: Iterable[ChangedPath]) -> RiskFact | None:
    return _counted(kind, severity, words, [_named(change) for change in changes])


def _named(change: ChangedPath) -> str:
    if change.link is not None:
        return f"{change.path} -> {change.link}"
    return change.path if change.old_path is None else f"{change.old_path} => {change.path}"


def _counted(kind: str, severity: Severity, words: str, named: Sequence[str]) -> RiskFact | None:
    return RiskFact(kind, severity, words, tuple(named[:PATHS_SHOWN]), len(named)) if named else None
