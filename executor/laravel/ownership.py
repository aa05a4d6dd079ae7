"""Whether the application's PHP is the host's own. What the agent can write is the agent's program.

`php artisan` runs whatever lies in the application's directory, as the gateway's user. So on the host it is run only
from a directory that nobody else can change: none that the agent is given, nor inside or around one; no directory on
the way to it, and none of the files that PHP begins with, may be writable by others or by a group with other people
in it. In a container it is the container's PHP, and none of this matters.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

from executor.errors import Refused

# What artisan reads before anything of the application can say otherwise, and where its code lies.
_CODE = (
    "artisan", "vendor", "vendor/autoload.php", "vendor/composer", "bootstrap", "bootstrap/app.php",
    "bootstrap/cache", "app", "config", "routes", "database", ".env",
)  # fmt: skip
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
        for given in (place.resolve() for place in agent_dirs):
            if given == real or given in real.parents:
                return f"{directory} lies in {given}, which the agent can write"
            if real in given.parents:
                return f"the agent can write {given}, which lies in {directory}"
        return next(filter(None, map(_why_writable, _concerned(directory, real))), None)
    except OSError as error:
        return f"{error.filename or directory} cannot be looked at: {error.strerror}"


def _concerned(directory: Path, real: Path) -> Iterator[Path]:
    """Yield every directory on the way to the application, as written and as resolved, and the code in it."""
    yield from dict.fromkeys((*reversed(directory.parents), *reversed(real.parents), real))
    for name in _CODE:
        found = real / name
        if found.exists():
            yield found
            if found.is_symlink():
                target = found.resolve()
                yield from (*reversed(target.parents), target)


def _why_writable(path: Path) -> str | None:
    facts = path.stat()
    if facts.st_mode & stat.S_ISVTX and stat.S_ISDIR(facts.st_mode):
        return None  # like /tmp: what is in it can only be replaced by its owner, and that is looked at next
    if facts.st_mode & stat.S_IWOTH:
        return f"{path} can be written by everybody"
    if facts.st_mode & stat.S_IWGRP and not _alone(facts.st_gid, facts.st_uid):
        return f"{path} can be written by the group {_name(facts.st_gid)}"
    return None


def _alone(gid: int, uid: int) -> bool:
    """Whether a group is only its owner's: root's, the gateway's user's, or a private one with nobody else in it."""
    if gid == 0 or gid == os.getegid():
        return True
    try:
        return pwd.getpwuid(uid).pw_gid == gid and not grp.getgrgid(gid).gr_mem
    except KeyError:
        return False


def _name(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
