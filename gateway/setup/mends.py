"""Commands that mend what a check found, as they can be pasted by the user who runs the doctor.

That is this process's user, or root who ran the command of install.sh, which becomes the gateway's account.
"""

from __future__ import annotations

import os
import pwd
import shlex
from pathlib import Path

READER = "OPS_GATEWAY_READER"  # the command of install.sh sets it to `root` where that is who reads this
CREDENTIALS = Path("/etc/ops-gateway/credentials")  # where install.sh has the unit look for keys and tokens


def account(uid: int | None = None) -> str:
    """Return the name of a user (by default the one who runs this), or the number where it has none."""
    number = os.geteuid() if uid is None else uid
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def as_root(*words: str | Path) -> str:
    """Return the command line, with sudo for anybody but root."""
    return _line(("sudo",) * (not _read_by_root()) + words)


def as_owner(path: Path, *words: str | Path) -> str:
    """Return the command line, with sudo where `path` is not ours to change."""
    ours = os.geteuid() in (0, path.lstat().st_uid)
    return _line(words) if ours else as_root(*words)


def make_directory(path: Path, mode: str) -> str:
    """Return what makes `path` a directory of ours with that mode, or makes it so where it is one already.

    Where its place is not ours (`/var/lib`, `/srv`), only root can.
    """
    exists_ours = path.exists() and path.lstat().st_uid == os.geteuid()
    if not _read_by_root() and (exists_ours or (not path.exists() and can_make(path))):
        return _line(("install", "-d", "-m", mode, path))
    return as_root("install", "-d", "-m", mode, "-o", account(), "-g", str(os.getegid()), path)


def can_make(path: Path) -> bool:
    """Return whether this process may make `path`, which is not there."""
    place = next(parent for parent in path.parents if parent.exists())
    return os.access(place, os.W_OK | os.X_OK)


def _read_by_root() -> bool:
    return os.geteuid() == 0 or os.environ.get(READER) == "root"


def _line(words: tuple[str | Path, ...]) -> str:
    return shlex.join(str(word) for word in words)
