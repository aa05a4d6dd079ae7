"""What the gateway publishes in the shared directory, and keeping that bounded."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Iterator

from executor.errors import Unavailable
from executor.protocol.directory import Directory, open_directory, unavailable
from executor.protocol.names import PLAIN_FILES, RESULTS, is_request_result, is_set_aside, is_temporary, result_file
from executor.protocol.placing import place, set_aside

TEMPORARY_AGE = 60  # s after which a half-written file was left by a crash
SET_ASIDE_AGE = 24 * 3600  # s that its owner has to find what stood in the way
TIDY_LIMIT = 1_000  # removals in one go

_RESULTS = RESULTS.encode()


class Outbox:
    """Given a function that returns the shared directory, publish into it. May be used from several threads."""

    def __init__(self, root: Callable[[], Directory]) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._held: Directory | None = None

    def publish(self, name: str, text: str, also: str | None = None) -> None:
        """Write `text` under `name`: a plain file, or `results/ID.json` and `also` a second name of that kind.

        Each name has the old text or the new one, never a part. Raise `Unavailable`; then publishing again mends it.
        """
        file, second = result_file(name), result_file(also or "")
        if (file is None and name not in PLAIN_FILES) or (also is not None and (file is None or second is None)):
            raise ValueError(f"not names for publishing: {name!r}, {also!r}")
        data = text.encode("utf-8", "replace")
        root = self._root()
        try:
            if file is None:
                place(root, name.encode(), data)
            else:
                self._place_result(root, file, data, second)
        except OSError as error:
            raise unavailable(f"writing {name}", error) from error

    def close(self) -> None:
        """Let go of `results/`, which is opened again when it is asked for."""
        with self._lock:
            self._held = None

    def prune_results(self, keep: int) -> int:
        """Remove the oldest results of single requests beyond `keep`; return how many. Raise `Unavailable`."""
        try:
            results = self._results(self._root())
            found = list(_dated(results))
        except OSError as error:
            raise unavailable("listing results", error) from error
        found.sort(reverse=True)
        return sum(_remove(results, name) for _, name in found[keep:])

    def tidy(self, now: float) -> int:
        """Remove what crashes left and what was set aside long ago; return how many. Raise `Unavailable`.

        `now` is in seconds since the epoch. A directory that was set aside and is not empty stays: its content is
        the agent's.
        """
        removed = 0
        try:
            root = self._root()
            for directory in (root, self._results(root)):
                for name in _stale(directory, now):
                    removed += _remove(directory, name)
                    if removed == TIDY_LIMIT:
                        return removed
        except OSError as error:
            raise unavailable("tidying the shared directory", error) from error
        return removed

    def _place_result(self, root: Directory, name: bytes, data: bytes, also: bytes | None) -> None:
        results = self._results(root)
        try:
            place(results, name, data, also)
        except PermissionError:
            if results.uid == os.geteuid():
                raise
            set_aside(root, _RESULTS)  # the agent made it, for itself
            place(self._results(root), name, data, also)

    def _results(self, root: Directory) -> Directory:
        """Return the directory of results, made anew if it is missing or something else stands there."""
        with self._lock:
            try:
                if self._held is not None and self._held.is_at(_RESULTS, root.fd):
                    return self._held
            except FileNotFoundError:
                pass  # made anew below
            self._held = _open_or_make(root)
            return self._held


def _open_or_make(root: Directory) -> Directory:
    made = False
    for _ in range(4):  # missing, in the way, swapped again: more is a fight
        try:
            results = open_directory(_RESULTS, root.fd)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                os.mkdir(_RESULTS, 0o755, dir_fd=root.fd)
                made = True
        except (NotADirectoryError, PermissionError):
            set_aside(root, _RESULTS)
        else:
            if made and results.uid == os.geteuid():
                os.fchmod(results.fd, 0o755)  # for the agent to read, whatever the umask
            return results
    raise Unavailable("results_contested", f"{RESULTS}/ is replaced again and again", f"leave {RESULTS}/ alone")


def _dated(results: Directory) -> Iterator[tuple[int, bytes]]:
    for name in results.names():
        if is_request_result(name):
            with contextlib.suppress(FileNotFoundError):
                yield results.lstat(name).st_mtime_ns, name


def _stale(directory: Directory, now: float) -> Iterator[bytes]:
    for name in directory.names():
        limit = TEMPORARY_AGE if is_temporary(name) else SET_ASIDE_AGE if is_set_aside(name) else None
        if limit is not None:
            with contextlib.suppress(FileNotFoundError):
                if now - directory.lstat(name).st_ctime >= limit:
                    yield name


def _remove(directory: Directory, name: bytes) -> bool:
    """Remove a file or an empty directory; return whether it is gone now because of us."""
    try:
        os.unlink(name, dir_fd=directory.fd)
    except OSError as error:
        if error.errno not in (errno.EISDIR, errno.EPERM):
            return False
        try:
            os.rmdir(name, dir_fd=directory.fd)
        except OSError:
            return False
    return True
