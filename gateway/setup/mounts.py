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
    """Where a file system is mounted, what kind it is, and its options (the mount's and the super block's)."""

    point: Path
    kind: str
    options: frozenset[str]

    @property
    def written_elsewhere(self) -> bool:
        """Whether other kernels can write there, without events in this one."""
        return self.kind in _REMOTE or self.kind.startswith("fuse.")


def mount_of(path: Path, table: str | None = None) -> Mount:
    """Return the mount that `path` (which must exist) lies on. `table` is for tests."""
    text = Path("/proc/self/mountinfo").read_text(errors="surrogateescape") if table is None else table
    real = Path(os.path.realpath(path))
    holding = [mount for mount in parse(text.splitlines()) if mount.point in (real, *real.parents)]
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
            found.append(Mount(Path(_unescape(fields[4])), rest[0], options))
    return found


def _unescape(text: str) -> str:
    """Spaces, tabs, newlines and backslashes stand as three octal digits."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
