"""What the variables of a Bash worker manager are called here (docs/from-bash-scripts.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from executor.errors import Refused
from gateway.setup.shell_assignments import LIMIT_BYTES, Assignments, read_assignments
from gateway.setup.terminal_questions import problem

# our setting -> names that such scripts use for it, the surest first; a prefix as in WORKER_MANAGER_ may stand before
NAMES: Mapping[str, tuple[str, ...]] = {
    "shared_dir": ("SHARED_DIR", "SHARED_PATH", "SHARED_FOLDER", "FLAGS_DIR", "FLAG_DIR", "SHARED"),
    "repo_dir": (
        "REPO_DIR",
        "REPO_PATH",
        "GIT_REPO",
        "PROJECT_ROOT",
        "PROJECT_DIR",
        "PROJECT_PATH",
    ),
    "queue_names": ("QUEUE_NAMES", "QUEUES", "QUEUE_NAME", "QUEUE"),
    "queue_container": ("APP_CONTAINER", "CONTAINER_NAME", "CONTAINER", "DOCKER_CONTAINER", "LARAVEL_CONTAINER"),
    "queue_app_dir": ("CONTAINER_APP_DIR", "APP_DIR", "LARAVEL_DIR", "ARTISAN_DIR"),
    "queue_max_pending": ("QUEUE_MAX", "MAX_JOBS", "MAX_PENDING", "QUEUE_THRESHOLD", "THRESHOLD"),
    "queue_interval_seconds": ("QUEUE_CHECK_INTERVAL", "CHECK_INTERVAL", "INTERVAL"),
    "queue_cooldown_seconds": ("RESTART_COOLDOWN", "COOLDOWN"),
    "queue_time_zone": ("TIMEZONE", "TIME_ZONE", "BUSINESS_TZ", "TZ"),
}
_START = ("BUSINESS_START", "BUSINESS_HOUR_START", "START_HOUR")
_END = ("BUSINESS_END", "BUSINESS_HOUR_END", "END_HOUR")
_EXEC = re.compile(
    r"docker\s+exec\s+(?:-[a-z]+\s+)*(?P<container>[A-Za-z0-9][\w.-]*)\s+php\s+artisan\s+queue:monitor\s+"
    r"(?P<queues>[A-Za-z0-9][\w.:,-]*)(?:\s+--max=(?P<max>\d+))?"
)
_HOUR = re.compile(r"(\d{1,2})(?::(\d{2}))?")


@dataclass(frozen=True, slots=True)
class WorkerManager:
    """What was found: settings by our names, and lines for the person about each thing that was and was not."""

    settings: dict[str, str]
    told: tuple[str, ...]


def read_worker_manager(path: Path, app_dir: str = "") -> WorkerManager:
    """Read a script or its configuration; nothing of it is run. `app_dir` is where artisan lies, if that is known.

    Raise Refused where it is no such file.
    """
    try:
        with path.open("rb") as stream:
            text = stream.read(LIMIT_BYTES + 1).decode("utf-8", "replace")
        return translated(text, app_dir)
    except OSError as error:
        raise Refused("worker_manager", f"{path} cannot be read: {error.strerror}", "check its path") from error
    except ValueError as error:
        raise Refused("worker_manager", f"{path}: {error}", "name the file with the variables") from None


def translated(text: str, app_dir: str = "") -> WorkerManager:
    """Given a script, return its settings under our names (pure)."""
    found = read_assignments(text)
    taken = dict(_named(found)) | dict(_hours(found))
    if app_dir:
        taken["queue_app_dir"] = ("--set", app_dir)
    for setting, value in _from_command(text):
        taken.setdefault(setting, ("the command docker exec", value))
    settings: dict[str, str] = {}
    told = ["Read from the script:"]
    for setting, (name, value) in taken.items():
        why = problem(setting, value)
        if why is None:
            settings[setting] = value
            told.append(f"  {name} -> GATEWAY_{setting.upper()}={value}")
        else:
            told.append(f"  {name} is left out: {why}")
    told += [f"  {name} is not understood: {why}" for name, why in found.not_understood.items() if _means(name)]
    return WorkerManager(*_with_source(settings, told))


def _named(found: Assignments) -> Iterator[tuple[str, tuple[str, str]]]:
    for setting, names in NAMES.items():
        for name in names:
            hit = next((each for each in found.values if found.values[each] and _is(each, name)), None)
            if hit is not None:
                yield setting, (hit, found.values[hit])
                break


def _is(name: str, wanted: str) -> bool:
    return name.upper() == wanted or name.upper() == f"WORKER_MANAGER_{wanted}"


def _means(name: str) -> bool:
    wanted = [each for names in NAMES.values() for each in names]
    return any(_is(name, each) for each in (*wanted, *_START, *_END))


def _hours(found: Assignments) -> Iterator[tuple[str, tuple[str, str]]]:
    """From and to, Monday to Friday, as the script has it."""
    times, names = [], []
    for wanted in (_START, _END):
        hit = next((each for each in found.values if any(_is(each, name) for name in wanted)), None)
        hour = _HOUR.fullmatch(found.values[hit]) if hit is not None else None
        if hit is not None and hour is not None:
            times.append(f"{int(hour[1]):02}:{hour[2] or '00'}")
            names.append(hit)
    if len(times) == len((_START, _END)):
        yield "queue_hours", (" and ".join(names), f"Mon-Fri {times[0]}-{times[1]}")


def _from_command(text: str) -> Iterator[tuple[str, str]]:
    """Where the command itself says it: docker exec APP php artisan queue:monitor emails --max=50."""
    hit = _EXEC.search(text)
    if hit is not None:
        yield "queue_container", hit["container"]
        yield "queue_names", hit["queues"]
        if hit["max"]:
            yield "queue_max_pending", hit["max"]


def _with_source(settings: dict[str, str], told: list[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Queues are counted by artisan there; where it lies is needed for that, or they are left out whole."""
    queues = {name for name in settings if name.startswith("queue_")}
    if "queue_names" in queues and "queue_app_dir" in queues:
        return settings | {"queue_source": "artisan"}, tuple(told)
    if queues:
        told.append("  The queue settings are left out: the script does not say where artisan lies. Add")
        told.append("  --set queue_app_dir=/var/www/html (in the container), or set GATEWAY_QUEUE_* afterwards.")
    return {name: value for name, value in settings.items() if name not in queues}, tuple(told)
