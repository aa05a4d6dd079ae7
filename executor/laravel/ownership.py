"""Whether the application's PHP is the host's own. What the agent can write is the agent's program.

`php artisan` runs whatever lies in the application's directory, as the gateway's user. So on the host it is run only
from a directory that nobody else can change: none that the agent is given, nor inside or around one, wherever it is
mounted; no directory or link on the way to it, and no code in it, may be another one's to write. In a container it is
the container's PHP, and none of this matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from executor.errors import Refused
from executor.laravel.places import below, way
from executor.laravel.writers import users, why_writable
from executor.mounts import Mount, Origin, all_mounts, origin_of

# Directories of an application in which no code lies that artisan runs. Workers and visitors write to the first.
_NO_CODE = frozenset({"storage", "public", "node_modules", ".git"})
_WAY_OUT = (
    "point GATEWAY_QUEUE_APP_DIR at a directory that only the host's own users write, name the application's "
    "container in GATEWAY_QUEUE_CONTAINER, or restart by systemctl:UNIT or supervisorctl:GROUP"
)


def require_own(directory: Path, agent_dirs: tuple[Path, ...]) -> None:
    """Raise Refused("app_not_ours") unless the application in `directory` is the host's own.

    `agent_dirs` are the directories that the agent is given: the shared one and the work trees.
    """
    why = why_foreign(directory, agent_dirs)
    if why is not None:
        raise Refused("app_not_ours", f"that PHP is the agent's, so it is not run: {why}", _WAY_OUT)


def why_foreign(directory: Path, agent_dirs: tuple[Path, ...]) -> str | None:
    """Return why the agent could have written what is run in `directory`, or None when it could not."""
    try:
        real = directory.resolve(strict=True)
        if not (real / "artisan").is_file():
            return f"there is no artisan in {directory}"
        return next(_reasons(directory, real, tuple(place.resolve() for place in agent_dirs)), None)
    except OSError as error:
        return f"{error.filename or directory} cannot be looked at: {error.strerror}"


def _reasons(directory: Path, real: Path, given: Sequence[Path]) -> Iterator[str]:
    mounts = all_mounts()
    yield from _around(directory, real, given)
    yield from _mounted(real, given, mounts)
    who = users(real, tuple(given))
    for place in chain(way(directory), below(real, _NO_CODE)):
        for theirs in given:
            if place.path.is_relative_to(theirs):
                yield f"{place.path} lies in {theirs}, which the agent can write"
        why = why_writable(place, who)
        if why is not None:
            yield why


def _around(directory: Path, real: Path, given: Iterable[Path]) -> Iterator[str]:
    for theirs in given:
        if real.is_relative_to(theirs):
            yield f"{directory} lies in {theirs}, which the agent can write"
        elif theirs.is_relative_to(real):
            yield f"the agent can write {theirs}, which lies in {directory}"


def _mounted(real: Path, given: Iterable[Path], mounts: Sequence[Mount]) -> Iterator[str]:
    """Yield how a directory is both the application's and the agent's, under two names (mount --bind)."""
    for theirs in given:
        for at, written in _origins(theirs, mounts, writable=True):
            for place, read in _origins(real, mounts):
                if written.holds(read) or read.holds(written):
                    yield f"{place} is what the agent can write at {at}: it is mounted at both places"


def _origins(directory: Path, mounts: Sequence[Mount], *, writable: bool = False) -> Iterator[tuple[Path, Origin]]:
    """Yield a directory and all that is mounted below it, each with where it lies in its file system."""
    yield directory, origin_of(directory, mounts)
    for mount in mounts:
        inside = mount.point != directory and mount.point.is_relative_to(directory)
        if inside and not (writable and "ro" in mount.options):
            yield mount.point, Origin(mount.device, mount.root)
