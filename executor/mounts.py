"""The mounted file systems, as the kernel lists them in /proc/self/mountinfo (proc(5))."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# File systems where another kernel writes, which inotify(7) does not see here.
_REMOTE = frozenset({"nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "vboxsf", "ceph", "glusterfs", "afs"})


@dataclass(frozen=True, slots=True)
class Mount:
    """Where a file system is mounted, what kind it is, and its options (the mount's and the super block's).

    `root` is the directory of it, or the file, that is seen at `point`, and `device` which file system it is. So a
    directory that is mounted at a second place is known again (mount --bind).
    """

    point: Path
    kind: str
    options: frozenset[str]
    device: str = ""
    root: Path = Path("/")

    @property
    def written_elsewhere(self) -> bool:
        """Whether other kernels can write there, without events in this one."""
        return self.kind in _REMOTE or self.kind.startswith("fuse.")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a path lies in its file system, wherever that is mounted."""

    device: str
    path: Path

    def holds(self, other: Origin) -> bool:
        """Whether `other` is this directory, or lies in it."""
        return self.device == other.device and other.path.is_relative_to(self.path)


def all_mounts() -> list[Mount]:
    """Return what is mounted now, as this process sees it."""
    return parse(Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines())


def mount_of(path: Path, table: str | None = None) -> Mount:
    """Return the mount that `path` (which must exist) lies on. `table` is for tests."""
    return _holding(Path(os.path.realpath(path)), all_mounts() if table is None else parse(table.splitlines()))


def origin_of(real: Path, mounts: Iterable[Mount]) -> Origin:
    """Return where `real`, an absolute path without links in it, lies in its file system."""
    mount = _holding(real, mounts)
    return Origin(mount.device, mount.root / real.relative_to(mount.point))


def _holding(real: Path, mounts: Iterable[Mount]) -> Mount:
    holding = [mount for mount in mounts if real.is_relative_to(mount.point)]
    # the last of the longest: a later mount hides an earlier one at the same place
    return max(enumerate(holding), key=lambda entry: (len(entry[1].point.parts), entry[0]))[1]


def parse(lines: Iterable[str]) -> list[Mount]:
    """Given the lines of mountinfo, return what they say, in their order; lines of another shape are left out."""
    found = []
    for line in lines:
        before, dash, after = line.partition(" - ")
        fields, rest = before.split(" "), after.split(" ")
        if dash and len(fields) >= 6 and len(rest) >= 3:
            options = frozenset(f"{fields[5]},{rest[2]}".split(","))
            point, root = Path(_unescape(fields[4])), Path(_unescape(fields[3]))
            found.append(Mount(point, rest[0], options, fields[2], root))
    return found


def _unescape(text: str) -> str:
    """Spaces, tabs, newlines and backslashes stand as three octal digits."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
