"""The shared directory: the one place where an untrusted agent and the gateway meet.

The agent may write, replace and remove anything here at any moment, as any user. So every path is one name relative
to a descriptor, no link is followed, nothing opened can block, and a flag is read only after it was renamed to a
private random name. (To read first and then unlink "that very file" would leave a moment in which a new flag under
the same name is lost; a name that nobody knows has no such moment.)
"""

from __future__ import annotations

import contextlib
import heapq
import os
import secrets
import threading
import time
from collections.abc import Callable, Container, Iterator
from pathlib import Path

from executor.errors import Unavailable
from executor.protocol.claims import Claim, look, not_removable
from executor.protocol.directory import Directory, open_directory, passes, unavailable
from executor.protocol.names import FlagName, parse_name, parse_private, private_name
from executor.protocol.outbox import Outbox
from executor.protocol.placing import discard
from executor.protocol.sightings import Sighting, sweep_order

SCAN_LIMIT = 10_000  # flags seen in one sweep, oldest first; the rest waits for the next (report D03)
LEFTOVER_LIMIT = 256  # claims taken up again in one go: up to 64 KiB each


class SharedDir:
    """Given the configured path, serve the directory that lies there, also after it was deleted and made anew.

    A link in the path is resolved once, here: that is the operator's. One that appears later is not followed.
    Methods may be called from several threads. While the directory is missing they raise `Unavailable`.
    """

    def __init__(self, path: Path, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._path = os.path.realpath(path)
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._held: Directory | None = None
        self._in_hand: set[bytes] = set()  # private names this process claimed and has not released
        self._outbox = Outbox(self.root)

    def root(self) -> Directory:
        """Return the directory, opened again if another one lies at its path now. Raise `Unavailable`."""
        with self._lock:
            try:
                if self._held is None or not self._held.is_at(self._path):
                    self._held = None
                    self._held = open_directory(self._path)
            except (FileNotFoundError, NotADirectoryError) as error:
                self._held = None
                raise Unavailable(
                    "shared_dir_missing",
                    f"there is no directory at {self._path} (a link is not followed)",
                    "make it again; the gateway goes on by itself",
                ) from error
            except OSError as error:
                raise unavailable("opening the shared directory", error) from error
            return self._held

    def close(self) -> None:
        """Let go of the directory, which is opened again when it is asked for."""
        with self._lock:
            self._held = None
        self._outbox.close()

    def scan(self, ignore: Container[str] = frozenset()) -> list[Sighting]:
        """Return the flags that lie there, in sweep order, at most `SCAN_LIMIT`. Raise `Unavailable`.

        Whatever has a flag's name is returned, be it a link or a directory: `claim` refuses those by name. `ignore`
        holds identities of flags that are known not to be removable.
        """
        seen = self._monotonic()
        try:
            sightings = (s for s in self._sightings(seen) if s.identity not in ignore)
            return heapq.nsmallest(SCAN_LIMIT, sightings, key=sweep_order)
        except OSError as error:
            raise unavailable("listing the shared directory", error) from error

    def claim(self, name: bytes) -> Claim | None:
        """Take the flag `name` away and return what it holds, or None if it is gone.

        What cannot be taken away is not run: its claim has the problem `flag_not_removable`. Raise `Unavailable`
        where the host cannot take or read it just now (disk full, too many open files): it is left for later.
        """
        root = self.root()
        private = private_name(name, secrets.token_hex(8))
        self._in_hand.add(private)
        claim = None
        try:
            claim = _take(root, name, private)
        finally:
            if claim is None or not claim.private:
                self._in_hand.discard(private)
        return claim

    def peek(self, name: bytes) -> Claim | None:
        """Look at a flag and leave it there, to see if a typed request is complete. Never run what this returns.

        Raise `Unavailable`.
        """
        try:
            return look(self.root(), name, name, b"")
        except OSError as error:
            raise unavailable("looking at a flag", error) from error

    def release(self, claim: Claim) -> bool:
        """Remove a claimed flag for good, once its request is recorded; return whether it is gone.

        Where it is not, the next start finds it among the leftovers and knows its private name. A directory with
        something in it is set aside under a visible name.
        """
        if not claim.private:
            return False
        try:
            discard(self.root(), claim.private, claim.name)
        except FileNotFoundError:
            pass
        except (OSError, Unavailable):
            return False
        self._in_hand.discard(claim.private)
        return True

    def leftovers(self, limit: int = LEFTOVER_LIMIT) -> tuple[list[Claim], bool]:
        """Return flags that were claimed before a crash and never released, the `limit` oldest of one listing, and
        whether there were more. Raise `Unavailable`.

        Anybody can make files of such names, so what this costs is bounded, and the rest is for another time.
        """
        root = self.root()
        try:
            oldest = heapq.nsmallest(limit + 1, self._left_behind(root))
            return self._take_up(root, [at for _mtime, at in oldest[:limit]]), len(oldest) > limit
        except OSError as error:
            raise unavailable("listing the shared directory", error) from error

    def publish(self, name: str, text: str, also: str | None = None) -> None:
        """Write `text` under one of the published names, whole or not at all. Raise `Unavailable` (see `Outbox`).

        A second result name, `also`, costs less than publishing twice.
        """
        self._outbox.publish(name, text, also)

    def prune_results(self, keep: int) -> int:
        """Remove the oldest results beyond `keep`; return how many. Raise `Unavailable` (see `Outbox`)."""
        return self._outbox.prune_results(keep)

    def tidy(self, now: float) -> int:
        """Remove what crashes left; return how many. `now` in seconds since the epoch (see `Outbox`)."""
        return self._outbox.tidy(now)

    def _take_up(self, root: Directory, private: list[bytes]) -> list[Claim]:
        claims = []
        for at in private:
            claim = look(root, parse_private(at) or at, at, at)
            if claim is not None:
                self._in_hand.add(at)
                claims.append(claim)
        return claims

    def _left_behind(self, root: Directory) -> Iterator[tuple[int, bytes]]:
        for at in root.names():
            if at not in self._in_hand and parse_private(at):
                with contextlib.suppress(FileNotFoundError):
                    yield root.lstat(at).st_mtime_ns, at

    def _sightings(self, seen: float) -> Iterator[Sighting]:
        root = self.root()
        for name in root.names():
            # The suffix alone passes over a hundred thousand other files.
            flag = parse_name(name) if name.endswith((b".flag", b".request.json")) else None
            if flag is not None:
                with contextlib.suppress(FileNotFoundError):
                    yield _sighting(name, flag, root.lstat(name), seen)


def _sighting(name: bytes, flag: FlagName, st: os.stat_result, seen: float) -> Sighting:
    return Sighting(name, flag, st.st_mode, st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns, seen)


def _take(root: Directory, name: bytes, private: bytes) -> Claim | None:
    try:
        os.rename(name, private, src_dir_fd=root.fd, dst_dir_fd=root.fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        if passes(error):
            raise unavailable("taking a flag", error) from error
        return not_removable(root, name, error)
    try:
        return look(root, name, private, private)
    except OSError as error:
        _put_back(root, name, private)
        raise unavailable("reading a flag", error) from error


def _put_back(root: Directory, name: bytes, private: bytes) -> None:
    """Give a claimed flag its name again, unless there is a new one: a link, unlike a rename, replaces nothing.

    Where that cannot be, the flag stays under its private name and is found at the next start.
    """
    with contextlib.suppress(OSError):
        os.link(private, name, src_dir_fd=root.fd, dst_dir_fd=root.fd, follow_symlinks=False)
        os.unlink(private, dir_fd=root.fd)
