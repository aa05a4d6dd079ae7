"""Checks of the directories: whose they are, what they are mounted on, and what room is left."""

from __future__ import annotations

import os
import secrets
import shlex
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from asyncinotify import Inotify, Mask

from executor.health.host_probes import read_space
from executor.mounts import mount_of
from executor.spans import size
from gateway.settings_model import Settings
from gateway.setup import mends
from gateway.setup.check import Check, fail, ok, warn
from gateway.setup.exposure import replaceable

DISK_FAIL_BYTES = 100_000_000
DISK_WARN_BYTES = 1_000_000_000
FEW_INODES = 5_000
CLOCKS_APART_SECONDS = 5.0
_INOTIFY_SECONDS = 2.0
_ADVISED = ("nodev", "nosuid", "noexec")  # what a directory of flags and results has no use for


def state_directory(settings: Settings) -> Iterator[Check]:
    """Nobody else may write the state, and the gateway must be able to (D11)."""
    path = settings.state_dir
    make = mends.make_directory(path, "700")
    if not path.exists():
        say = warn if mends.can_make(path) else fail
        yield say("state directory", f"{path} is not there yet", "make it, as the gateway's own", make)
        return
    facts = path.stat()
    mode = stat.S_IMODE(facts.st_mode)
    if facts.st_uid != os.geteuid():
        yield _foreign_state(path, facts.st_uid)
        return
    if mode & 0o077:
        say = fail if mode & 0o022 else warn
        what = "write" if mode & 0o022 else "read"
        command = mends.as_owner(path, "chmod", "700", path)
        yield say("state directory", f"others can {what} {path} (mode {mode:04o})", "close it", command)
    else:
        yield ok("state directory", f"{path} is the gateway's alone")
    yield from replaceable("state directory", path, "give it to root, or keep the state elsewhere")
    try_writing(path)
    if "noexec" in mount_of(path).options:
        yield warn(
            "state directory's mount",
            f"{path} is mounted noexec: git starts ssh through a file there, so no ssh remote can be reached",
            "mount it without noexec",
            mends.as_root("mount", "-o", "remount,exec", mount_of(path).point),
        )


def _foreign_state(path: Path, owner: int) -> Check:
    name = mends.account(owner)
    if os.geteuid() == 0:
        who = f"sudo -u {shlex.quote(name)} -H" if name != str(owner) else f"sudo -u '#{owner}' -H"
        command = f"{who} ops-gateway doctor"
        return fail("state directory", f"{path} belongs to {name}, and you are root", "look as that user", command)
    command = mends.as_root("chown", "-R", mends.account(), path)
    mend = f"run it as {name}; or, if it is to be yours, take it over"
    return fail("state directory", f"{path} belongs to {name}, and you are {mends.account()}", mend, command)


def shared_directory(settings: Settings) -> Iterator[Check]:
    """The gateway must be able to take flags away and to put results there, and better hears of them at once."""
    path, name = settings.shared_dir, "shared directory"
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        yield fail(name, f"{path} is not a directory but something in its place", "look at it, and move it away")
        return
    make = mends.make_directory(path, "2770")
    if not path.exists():
        yield fail(name, f"{path} is not there", "make it, and mount it into the agent's container", make)
        return
    try:
        heard, apart = try_writing(path, watched=True)
    except PermissionError:
        yield fail(name, f"{mends.account()} may not write {path}", "make it the gateway's, and the group's", make)
        return
    yield ok(name, f"{path} can be written, and files in it renamed and removed")
    if stat.S_IMODE(path.stat().st_mode) & 0o002:
        command = mends.as_owner(path, "chmod", "o-w", path)
        yield warn(name, f"every user of this host can raise flags in {path}", "leave it to a group", command)
    yield from _hearing(path, heard)
    yield from _mount(path)
    if abs(apart) > CLOCKS_APART_SECONDS:
        what = f"the file system's clock is {apart:+.0f} s from this host's, so new flags look old or unfinished"
        yield warn("clock of the shared directory", what, "set the clock of the file server, or keep it on this host")


def _hearing(path: Path, heard: bool) -> Iterator[Check]:
    mount = mount_of(path)
    if not heard:
        yield warn(
            "inotify",
            "no events came for a file that was written: flags are found by the sweep, within a minute",
            "allow more watches and instances; some file systems have no events at all",
            mends.as_root("sysctl", "-w", "fs.inotify.max_user_instances=512", "fs.inotify.max_user_watches=65536"),
        )
    elif mount.written_elsewhere:
        what = f"{mount.kind} at {mount.point}: what another machine writes is found by the sweep, within a minute"
        yield warn("inotify", what, "keep the shared directory on a disk of this host, if that is too slow")
    else:
        yield ok("inotify", "flags that are raised on this kernel are noticed at once")


def _mount(path: Path) -> Iterator[Check]:
    missing = [option for option in _ADVISED if option not in mount_of(path).options]
    if not missing:
        yield ok("mount of the shared directory", f"{path} is mounted {','.join(_ADVISED)}")
        return
    place, options = shlex.quote(str(path)), ",".join(_ADVISED)
    line = f"mount --bind {place} {place} && mount -o remount,bind,{options} {place}"
    yield ok(
        "mount of the shared directory",
        f"{path} is mounted without {','.join(missing)}; the gateway does without them",
        f"as a further wall, mount it so (and in fstab: {path} {path} none bind,{options} 0 0)",
        mends.as_root("sh", "-c", line),
    )


def room(settings: Settings) -> Iterator[Check]:
    """Bytes and inodes on each file system that is written, named once."""
    places = {"state directory": settings.state_dir, "shared directory": settings.shared_dir}
    places |= {f"work tree of {each.name}": each.path for each in settings.served}
    seen: set[int] = set()
    for name, path in places.items():
        if not path.is_dir() or path.stat().st_dev in seen:
            continue
        seen.add(path.stat().st_dev)
        yield from _room_of(f"disk of the {name}", path)


def _room_of(name: str, path: Path) -> Iterator[Check]:
    found = read_space(path)
    text = f"{size(found.free)} free for {path}"
    largest = mends.as_root("sh", "-c", f"du -x -d 3 -h {shlex.quote(str(mount_of(path).point))} | sort -h | tail")
    if found.free < DISK_FAIL_BYTES:
        mend = "make room: nothing is executed when the audit log cannot be written. What takes it"
        yield fail(name, text, mend, largest)
    elif found.free < DISK_WARN_BYTES:
        yield warn(name, text, "make room. What takes it", largest)
    elif found.inodes and found.inodes_free < FEW_INODES:  # some file systems have no fixed number, and say 0
        what = f"{found.inodes_free} files can still be made for {path}, whatever room is left"
        yield warn(name, what, "remove small files. Where they are", largest.replace("du -x -d", "du --inodes -x -d"))
    else:
        yield ok(name, text)


def try_writing(directory: Path, *, watched: bool = False) -> tuple[bool, float]:
    """Write, sync, rename and remove a file; raise OSError where one of these fails.

    Return whether inotify told of it, and how many seconds the file system's clock is ahead of this host's.
    """
    name = f".doctor-{secrets.token_hex(8)}"
    inotify = _watch(directory) if watched else None
    path, renamed = directory / name, directory / f"{name}.renamed"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        before = time.time()
        os.write(descriptor, b"ops-gateway doctor\n")
        os.fsync(descriptor)
        apart = os.fstat(descriptor).st_mtime - before
        path.rename(renamed)
    finally:
        os.close(descriptor)
        path.unlink(missing_ok=True)
        renamed.unlink(missing_ok=True)
    if inotify is None:
        return False, apart
    with inotify:
        return any(event.name is not None and event.name.name.startswith(name) for event in inotify), apart


def _watch(directory: Path) -> Inotify | None:
    try:
        inotify = Inotify(sync_timeout=_INOTIFY_SECONDS)
    except OSError:
        return None
    try:
        inotify.add_watch(directory, Mask.CLOSE_WRITE | Mask.MOVED_TO)
    except OSError:
        inotify.close()
        return None
    return inotify
