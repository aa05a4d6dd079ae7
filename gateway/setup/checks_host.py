"""Checks of the host: who runs the gateway, its directories, its secrets, its disk."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from asyncinotify import Inotify, Mask

from gateway import settings as configuration
from gateway.schedule.heartbeat import read_health
from gateway.settings_model import Settings
from gateway.settings_sources import env_file
from gateway.setup.check import Check, fail, ok, warn
from gateway.single import holder

DISK_FAIL_BYTES = 100_000_000
DISK_WARN_BYTES = 1_000_000_000
_INOTIFY_SECONDS = 2.0


def user(_settings: Settings) -> Iterator[Check]:
    """As root a mistake in the gateway would be root's mistake."""
    if os.geteuid() == 0:
        yield fail(
            "user",
            "the gateway would run as root",
            "make a user for it (useradd --system --home /var/lib/ops-gateway ops-gateway) and run it as that one",
        )
    else:
        yield ok("user", f"runs as uid {os.geteuid()}, not as root")


def choices(settings: Settings) -> Iterator[Check]:
    """What was configured that weakens a promise, and what was configured in vain."""
    for choice in configuration.unsafe_choices(settings):
        yield warn("unsafe choice", choice, "take the setting away as soon as you can")
    for stray in configuration.stray_names():
        yield warn("stray setting", stray, "correct the name, or take it out of the environment")


def secret_files(settings: Settings) -> Iterator[Check]:
    """The env file and the keys are for the gateway's user alone; ssh refuses a key that others can read."""
    named: list[tuple[str, Path | None]] = [("env file", env_file(os.environ))]
    for each in settings.served:
        named += [(f"{each.name}: ssh key", each.ssh_key), (f"{each.name}: credentials", each.credential_file)]
    for name, path in named:
        if path is None:
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            yield warn(name, f"{path} can be read by others (mode {mode:04o})", f"chmod 600 {path}")
        else:
            yield ok(name, f"{path} is the gateway's alone")
    for each in settings.served:
        if each.ssh_key is not None and (each.known_hosts is None or not each.known_hosts.is_file()):
            yield warn(
                f"{each.name}: known hosts",
                "there is a key and no file of host keys, so every ssh remote will be refused",
                "ssh-keyscan HOST > FILE, compare the fingerprints, and set GATEWAY_KNOWN_HOSTS=FILE",
            )


def state_directory(settings: Settings) -> Iterator[Check]:
    """Nobody else may write the state, and the gateway must be able to (D11)."""
    path = settings.state_dir
    if not path.exists():
        yield warn("state directory", f"{path} is not there yet", f"install -d -m 700 {path}, or let `run` make it")
        return
    facts = path.stat()
    mode = stat.S_IMODE(facts.st_mode)
    if mode & 0o022:
        yield fail("state directory", f"others can write {path} (mode {mode:04o})", f"chmod 700 {path}")
    elif mode & 0o055:
        yield warn("state directory", f"others can read {path} (mode {mode:04o})", f"chmod 700 {path}")
    elif facts.st_uid != os.geteuid():
        yield fail("state directory", f"{path} belongs to uid {facts.st_uid}", f"chown {os.geteuid()} {path}")
    else:
        yield ok("state directory", f"{path} is the gateway's alone")
    _try_writing(path)
    yield from _disk("disk of the state directory", path)


def shared_directory(settings: Settings) -> Iterator[Check]:
    """The gateway must be able to take flags away and to put results there, and better hears of them at once."""
    path = settings.shared_dir
    if path.is_symlink() or not path.is_dir():
        yield fail("shared directory", f"{path} is not a directory", f"mkdir {path}, and mount it into the container")
        return
    heard = _try_writing(path, watched=True)
    yield ok("shared directory", f"{path} can be written, and files in it renamed and removed")
    if heard:
        yield ok("inotify", "flags that are raised on this kernel are noticed at once")
    else:
        yield warn(
            "inotify",
            "no events came for a file that was written: flags are found by the sweep, within a minute",
            "raise fs.inotify.max_user_watches and max_user_instances; some file systems have no events at all",
        )
    yield from _disk("disk of the shared directory", path)


def running(settings: Settings) -> Iterator[Check]:
    """Whether a gateway serves this state, and whether it gets on."""
    who = holder(settings.state_dir)
    if not who:
        yield warn("gateway", "no gateway runs here", "ops-gateway run (or start the service)")
        return
    heartbeat = read_health(settings.state_dir).get("heartbeat")
    late = heartbeat.get("late") if isinstance(heartbeat, dict) else None
    if late:
        yield fail("gateway", f"`{who}` runs and does not get on with: {', '.join(late)}", "see its log, restart it")
    else:
        yield ok("gateway", f"`{who}` serves this state directory")


def _disk(name: str, path: Path) -> Iterator[Check]:
    free = shutil.disk_usage(path).free
    text = f"{free / 1e9:.1f} GB free for {path}"
    if free < DISK_FAIL_BYTES:
        yield fail(name, text, "make room: nothing is executed when the audit log cannot be written")
    elif free < DISK_WARN_BYTES:
        yield warn(name, text, "make room")
    else:
        yield ok(name, text)


def _try_writing(directory: Path, *, watched: bool = False) -> bool:
    """Write, sync, rename and remove a file; return whether inotify told of it. Raise OSError where one fails."""
    name = f".doctor-{secrets.token_hex(8)}"
    inotify = _watch(directory) if watched else None
    path, renamed = directory / name, directory / f"{name}.renamed"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(descriptor, b"ops-gateway doctor\n")
        os.fsync(descriptor)
        path.rename(renamed)
    finally:
        os.close(descriptor)
        path.unlink(missing_ok=True)
        renamed.unlink(missing_ok=True)
    if inotify is None:
        return False
    with inotify:
        return any(event.name is not None and event.name.name.startswith(name) for event in inotify)


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
