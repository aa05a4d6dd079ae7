"""Which rescues the gateway made: remembered outside the repository, where no git process can write.

What lies below `refs/rescue/` only keeps objects alive and shows them to people. A ref there may have been planted
(in the `.git` that was adopted, or from the work tree), so it is never believed: a rescue is what is entered here.
One file each, `<sequence>.<time>.<request id>`, which holds the id of the commit with the record.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from executor.git.foreign_copy import directory, read_file, write_new

_NAME = re.compile(r"(\d{1,18})\.(\d{1,18})\.([A-Za-z0-9][A-Za-z0-9._-]{0,79})", re.ASCII)
_LINE_LIMIT = 65  # bytes: an object id and the end of the line
_FRESH = ".new"


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One rescue: `sequence` counts those of a repository, `at` is in seconds since the epoch."""

    sequence: int
    request_id: str
    at: int

    @property
    def file_name(self) -> str:
        return f"{self.sequence}.{self.at}.{self.request_id}"


class Ledger:
    """The rescues of the repository whose state is in `root`."""

    def __init__(self, root: Path) -> None:
        self._place = root / "rescues"

    def entries(self) -> tuple[Entry, ...]:
        """Return every rescue, oldest first."""
        try:
            names = os.listdir(self._place)
        except FileNotFoundError:
            return ()
        found = (_NAME.fullmatch(name) for name in names)
        return tuple(sorted(Entry(int(one[1]), one[3], int(one[2])) for one in found if one))

    def commit_of(self, request_id: str) -> str | None:
        """Return the id of the commit that holds the record of a request, or None."""
        entry = next((entry for entry in self.entries() if entry.request_id == request_id), None)
        if entry is None:
            return None
        with directory(self._place) as place:
            return read_file(place, entry.file_name, _LINE_LIMIT).decode("ascii", "replace").strip()

    def enter(self, entry: Entry, commit: str) -> None:
        """Remember that `commit` holds the record of a rescue; in one step, and on disk when this returns."""
        self._place.mkdir(mode=0o700, exist_ok=True)
        with directory(self._place) as place:
            with suppress(FileNotFoundError):
                os.unlink(_FRESH, dir_fd=place)  # of a killed process; only one worker comes here
            write_new(place, _FRESH, f"{commit}\n".encode())
            os.rename(_FRESH, entry.file_name, src_dir_fd=place, dst_dir_fd=place)
            os.fsync(place)

    def strike(self, request_ids: Collection[str]) -> None:
        """Forget the rescues of these requests."""
        for entry in self.entries():
            if entry.request_id in request_ids:
                (self._place / entry.file_name).unlink(missing_ok=True)
