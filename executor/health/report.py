"""What was found, and how it is told: as data, as text, and to the agent. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from executor.record.display import visible


class Level(StrEnum):
    """How a thing is, worst first. What could not be found out is UNKNOWN, which is neither good nor bad (E09)."""

    BAD = "bad"  # does not work, or will not for long
    WARNING = "warning"  # works; somebody should look
    UNKNOWN = "unknown"
    GOOD = "good"


_ORDER = {level: place for place, level in enumerate(Level)}
_WORDS = {Level.BAD: "BAD", Level.WARNING: "WARN", Level.UNKNOWN: "????", Level.GOOD: "ok"}

Fact = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Finding:
    """What one probe found about one subject.

    `what` is a sentence that anybody may read, the agent too: it names no path and no address. `mend` (what to do
    about it) and `detail` (how the system said it) are for operators alone. `facts` are the same in numbers.
    """

    probe: str
    subject: str
    level: Level
    what: str
    mend: str = ""
    detail: str = ""
    facts: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was found on a host at one moment (aware), worst first."""

    host: str
    at: datetime
    findings: tuple[Finding, ...]

    @property
    def level(self) -> Level:
        """The worst there is; of no findings nothing is known."""
        return min((each.level for each in self.findings), key=_ORDER.__getitem__, default=Level.UNKNOWN)

    def count(self, level: Level) -> int:
        """Return how many findings are of that level."""
        return sum(each.level is level for each in self.findings)


def report(host: str, at: datetime, findings: Iterable[Finding]) -> Report:
    """Return the findings as a report: what is the same of several subjects told once, worst first."""
    return Report(host, at, tuple(sorted(_merged(findings), key=lambda each: _ORDER[each.level])))


def for_agent(told: Report) -> Report:
    """Return what of a report the agent may read: how things are, not where they lie nor how they are mended."""
    return replace(told, findings=tuple(replace(each, mend="", detail="") for each in told.findings))


def as_data(told: Report) -> dict[str, object]:
    """Return a report as JSON can hold it."""
    return {
        "host": told.host,
        "at": told.at.isoformat(timespec="seconds"),
        "level": told.level,
        "counts": {level: told.count(level) for level in Level},
        "findings": [_finding_data(each) for each in told.findings],
    }


def named(told: Report) -> dict[str, list[str]]:
    """Return what is not good by name, under its level; a level of which there is nothing is left out."""
    found: dict[str, list[str]] = {}
    for each in told.findings:
        if each.level is not Level.GOOD:
            found.setdefault(str(each.level), []).append(title(each))
    return found


def as_text(told: Report) -> str:
    """Return a report as lines for people, each probe on one, and what to do below it."""
    lines = [headline(told)]
    for each in told.findings:
        lines.append(f"{_WORDS[each.level]:<4}  {title(each)}: {visible(each.what)}")
        lines += [f"      {visible(more)}" for more in (each.detail, each.mend) if more]
    return "\n".join(lines) + "\n"


def headline(told: Report) -> str:
    """Return in a line how the host is."""
    return f"{told.host} is {told.level}: {counts(told)}"


def counts(told: Report) -> str:
    """Return how many findings there are of each level, worst first."""
    found = [f"{told.count(level)} {level}" for level in Level if told.count(level)]
    return ", ".join(found) or "nothing was looked at"


def title(each: Finding) -> str:
    """Return what a finding is about."""
    return visible(f"{each.probe} {each.subject}".rstrip())


def _finding_data(each: Finding) -> dict[str, object]:
    told: dict[str, object] = {"probe": each.probe, "subject": each.subject, "level": each.level, "what": each.what}
    told |= {name: text for name, text in (("mend", each.mend), ("detail", each.detail)) if text}
    return told | {"facts": dict(each.facts)}


def _merged(findings: Iterable[Finding]) -> Sequence[Finding]:
    """Tell once what is so of several subjects: directories on one file system, containers of one silent engine."""
    groups: dict[tuple[str, Level, str], list[Finding]] = {}
    for each in findings:
        groups.setdefault((each.probe, each.level, each.what), []).append(each)
    return [replace(group[0], subject=", ".join(each.subject for each in group)) for group in groups.values()]
