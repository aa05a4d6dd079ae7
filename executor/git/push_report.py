"""What a push would do, as a value and in words (pure). `push_facts` finds it out.

Nothing here makes hidden characters visible or masks secrets: whoever shows it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

from executor.git.refnames import HEADS, TAGS
from executor.git.risk_facts import CommitFact, RiskFact, Severity
from executor.git.secrets import SecretFinding
from executor.spans import plural

_DIGITS = 12  # of an id in a sentence; the whole ids are in the data
_LINE_FILES = 40  # files that the words name; the data has more


class PushKind(StrEnum):
    UP_TO_DATE = "up to date"
    FAST_FORWARD = "fast-forward"
    NEW_BRANCH = "new branch"
    REWRITE = "rewrite"
    DELETION = "deletion"
    TAG = "tag"
    UNKNOWN = "unknown"  # whether it only adds cannot be told from what is here


@dataclass(frozen=True, slots=True)
class FileStat:
    """One changed file; `added` and `deleted` are None for a binary one."""

    path: str
    status: str
    added: int | None
    deleted: int | None
    old_path: str | None = None


@dataclass(frozen=True, slots=True)
class PushFacts:
    """What moving `ref` at `remote` from `old` to `new` means. Lists are bounded, totals are not.

    `old` None is a new ref, `new` None deletes it. `dropped_total` is None where what is here does not tell. `base`
    is the object that the files are compared with, None where nothing is compared.
    """

    remote: str
    url: str  # masked
    ref: str
    old: str | None
    new: str | None
    kind: PushKind
    commits: tuple[CommitFact, ...] = ()
    commits_total: int = 0
    dropped: tuple[CommitFact, ...] = ()
    dropped_total: int | None = 0
    base: str | None = None
    files: tuple[FileStat, ...] = ()
    files_total: int = 0
    added_total: int = 0
    deleted_total: int = 0
    risks: tuple[RiskFact, ...] = ()
    secrets: tuple[SecretFinding, ...] = ()
    notes: tuple[str, ...] = ()

    def to_data(self) -> dict[str, Any]:
        """Return it as JSON holds it; texts may hold lone surrogates."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Return the facts that `to_data` wrote."""
        made = dict(data)
        made["kind"] = PushKind(data["kind"])
        for name in ("commits", "dropped"):
            made[name] = tuple(CommitFact(**one) for one in data[name])
        made["files"] = tuple(FileStat(**one) for one in data["files"])
        made["secrets"] = tuple(SecretFinding(**one) for one in data["secrets"])
        made["risks"] = tuple(
            RiskFact(one["kind"], Severity(one["severity"]), one["words"], tuple(one["paths"]), one["count"])
            for one in data["risks"]
        )
        made["notes"] = tuple(data["notes"])
        return cls(**made)

    @property
    def short_ref(self) -> str:
        return self.ref.removeprefix(HEADS).removeprefix(TAGS)


def lines(facts: PushFacts) -> tuple[str, ...]:
    """Return the facts as lines of text, what decides first: what and where, what is risky, then the rest."""
    return tuple(_all_lines(facts))


def _all_lines(facts: PushFacts) -> Iterator[str]:
    yield _headline(facts)
    yield f"{_short(facts.old)} -> {_short(facts.new)} at {facts.remote} ({facts.url})"
    yield from _warnings(facts)
    yield from facts.notes
    if facts.dropped_total != 0:
        yield from _commit_lines("Drops", facts.dropped, facts.dropped_total)
    if facts.commits_total:
        yield from _commit_lines("Publishes", facts.commits, facts.commits_total)
    if facts.base is not None:
        yield from _file_lines(facts)


def _headline(facts: PushFacts) -> str:
    name = facts.short_ref
    match facts.kind:
        case PushKind.UP_TO_DATE:
            return f"Nothing to push: {facts.remote} has {name} at this commit already."
        case PushKind.FAST_FORWARD:
            return f"Moves {name} at {facts.remote} forward by {plural(facts.commits_total, 'commit')}."
        case PushKind.NEW_BRANCH:
            return f"Creates branch {name} at {facts.remote} with {plural(facts.commits_total, 'new commit')}."
        case PushKind.DELETION:
            what = "tag" if facts.ref.startswith(TAGS) else "branch"
            return f"DELETES {what} {name} at {facts.remote}."
        case PushKind.TAG:
            return f"{'Publishes' if facts.old is None else 'MOVES'} tag {name} at {facts.remote}."
        case PushKind.REWRITE:
            return f"REWRITES {name} at {facts.remote}: what is there now is dropped from it."
        case PushKind.UNKNOWN:
            return f"MAY REWRITE {name} at {facts.remote}: the history here does not tell."


def _warnings(facts: PushFacts) -> Iterator[str]:
    for secret in facts.secrets:
        yield f"! secret? {secret.words()}"
    for risk in facts.risks:
        more = f" and {risk.count - len(risk.paths)} more" if risk.count > len(risk.paths) else ""
        where = f": {', '.join(risk.paths)}{more}" if risk.paths else ""
        yield f"{_MARKS[risk.severity]} {risk.words}{where}"


_MARKS = {Severity.DANGER: "!", Severity.WARNING: "*", Severity.NOTE: "-"}


def _commit_lines(verb: str, commits: Sequence[CommitFact], total: int | None) -> Iterator[str]:
    if total is None:
        yield f"{verb} commits that are not here, so they cannot be listed; fetch to see them."
        return
    yield f"{verb} {plural(total, 'commit')}:"
    for commit in commits:
        yield f"  {commit.id[:_DIGITS]} {commit.at[:10]} {commit.author} <{commit.email}>: {commit.subject}"
    if total > len(commits):
        yield f"  and {total - len(commits)} older ones"


def _file_lines(facts: PushFacts) -> Iterator[str]:
    yield f"Changes {plural(facts.files_total, 'file')}: +{facts.added_total} -{facts.deleted_total} lines"
    for file in facts.files[:_LINE_FILES]:
        counts = "binary" if file.added is None else f"+{file.added} -{file.deleted}"
        name = f"{file.old_path} => {file.path}" if file.old_path is not None else file.path
        yield f"  {file.status} {name} ({counts})"
    if facts.files_total > min(len(facts.files), _LINE_FILES):
        yield f"  and {facts.files_total - min(len(facts.files), _LINE_FILES)} more"


def _short(object_id: str | None) -> str:
    return object_id[:_DIGITS] if object_id else "nothing"
