"""What a check of the set-up says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from executor.errors import Problem


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"  # works, and could be better
    FAIL = "fail"  # does not work, or breaks a promise


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: its name, how it is, what is so, and what mends it.

    `mend` says it in words; where nothing is wrong it is advice, or empty. `command` is one line for a shell that
    does what the words say, for the user who runs the doctor; empty where a person has to decide something first.
    """

    name: str
    level: Level
    what: str
    mend: str = ""
    command: str = ""


def ok(name: str, what: str, advice: str = "", command: str = "") -> Check:
    return Check(name, Level.OK, what, advice, command)


def warn(name: str, what: str, mend: str, command: str = "") -> Check:
    return Check(name, Level.WARN, what, mend, command)


def fail(name: str, what: str, mend: str, command: str = "") -> Check:
    return Check(name, Level.FAIL, what, mend, command)


def each(name: str, look: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    """Yield what `look` finds; where it raises, that is what was found, and the other checks go on (E09)."""
    try:
        yield from look()
    except Problem as problem:
        yield fail(name, problem.message, problem.hint or "see what it says; ops-gateway doctor once it is mended")
    except OSError as error:
        yield fail(name, f"{error.filename or name}: {error.strerror}", "check that it exists and who may use it")
