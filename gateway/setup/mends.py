"""Commands that mend what a check found, as they can be pasted by the user who runs the doctor."""

from __future__ import annotations

import os
import pwd
import shlex
from pathlib import Path


def account(uid: int | None = None) -> str:
    """Return the name of a user (by default the one who runs this), or the number where it has none."""
    number = os.geteuid() if uid is None else uid
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def as_root(*words: str | Path) -> str:
    """Return the command line, with sudo for anybody but root."""
    return _line(("sudo",) * (os.geteuid() != 0) + words)


def as_owner(path: Path, *words: str | Path) -> str:
    """Return the command line, with sudo where `path` is not ours to change."""
    ours = os.geteuid() in (0, path.lstat().st_uid)
    return _line(words) if ours else as_root(*words)


def make_directory(path: Path, mode: str) -> str:
    """Return what makes `path` a directory of ours with that mode, or makes it so where it is one already.

    Where its place is not ours (`/var/lib`, `/srv`), only root can.
    """
    place = next(parent for parent in path.parents if parent.exists())
    exists_ours = path.exists() and path.lstat().st_uid == os.geteuid()
    if os.geteuid() != 0 and (exists_ours or (not path.exists() and os.access(place, os.W_OK | os.X_OK))):
        return _line(("install", "-d", "-m", mode, path))
    return as_root("install", "-d", "-m", mode, "-o", account(), "-g", str(os.getegid()), path)


def _line(words: tuple[str | Path, ...]) -> str:
    return shlex.join(str(word) for word in words)
