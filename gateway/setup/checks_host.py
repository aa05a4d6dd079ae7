"""Checks of the host: who runs the gateway, what was configured, the program, the clock, and whether it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from executor.health.host_probes import read_clock
from gateway import settings as configuration
from gateway import tick
from gateway.schedule.heartbeat import read_health
from gateway.settings_model import Settings
from gateway.setup import mends
from gateway.setup.check import Check, fail, ok, warn
from gateway.setup.exposure import loose, loose_ancestors
from gateway.single import holder

_CLOCK_KEEPERS = Path("/usr/lib/systemd/ntp-units.d")
CLOCK_BACK = timedelta(minutes=5)  # what a clock may go back when it is set right
_MAKE_USER = (
    "useradd", "--system", "--create-home", "-K", "HOME_MODE=0700", "--home-dir", "/var/lib/ops-gateway",
    "--shell", "/bin/bash", "ops-gateway",
)  # fmt: skip


def user(_settings: Settings) -> Iterator[Check]:
    """As root a mistake in the gateway would be root's mistake."""
    if os.geteuid() == 0:
        mend = "make a user for it, and run it as that one"
        yield fail("user", "the gateway would run as root", mend, mends.as_root(*_MAKE_USER))
    else:
        if mends.account() == str(os.geteuid()):
            what = f"uid {os.geteuid()} has no entry in the passwd database, without which ssh does not start"
            yield warn("user", what, "make a user for it, and run it as that one", mends.as_root(*_MAKE_USER))
            return
        home = os.environ.get("HOME", "") or "not set"
        yield ok("user", f"runs as {mends.account()} (uid {os.geteuid()}), not as root; HOME is {home}")


def choices(settings: Settings) -> Iterator[Check]:
    """What was configured that weakens a promise, and what was configured in vain."""
    for choice in configuration.unsafe_choices(settings):
        yield warn("unsafe choice", choice, "take the setting away as soon as you can")
    for stray in configuration.stray_names():
        yield warn("stray setting", stray, "correct the name, or take it out of the environment")


def program(_settings: Settings) -> Iterator[Check]:
    """Whoever can write the program is the gateway."""
    for part in {Path(sys.executable), Path(__file__).resolve().parents[1]}:
        found = loose(Path(os.path.realpath(part))) or next(loose_ancestors(part), None)
        if found is not None:
            command = mends.as_root("chmod", found.mode, found.path) if found.mode else ""
            mend = "close it" if command else "install it where only root can write (/opt), or give it to root"
            yield fail("program", f"{found.path} {found.why}: they can change what runs here", mend, command)
            return
    yield ok("program", f"{Path(__file__).resolve().parents[1]} can be changed by root and this user alone")


def clock(_settings: Settings) -> Iterator[Check]:
    """Expiry, cool-downs and the audit log go by the clock."""
    try:
        kept = read_clock().synchronised
    except OSError as error:  # as in a container that may not touch the clock
        yield ok("clock", f"the kernel does not say whether anything keeps it: {error.strerror}")
        return
    if kept:
        yield ok("clock", "the kernel says that it is synchronised")
    else:
        what = "this kernel's clock is not kept by anything that says so"
        yield ok("clock", what, "let it be synchronised, unless the machine below does that", _synchronise())


def clock_against(newest: datetime | None) -> Iterator[Check]:
    """Given when the newest event of the audit log was written, yield what that says of the clock: it went back?"""
    now = datetime.now(UTC)
    if newest is not None and newest - now > CLOCK_BACK:
        yield fail(
            "clock and audit log",
            f"it is {now:%Y-%m-%d %H:%M} UTC here, and the audit log was written at {newest:%Y-%m-%d %H:%M}",
            "set the clock right: approvals would not expire, and the log's times would be wrong",
            _synchronise(),
        )


def _synchronise() -> str:
    """What lets the clock be kept right; systemd-timedated(8) finds in that directory what could do so."""
    if any(_CLOCK_KEEPERS.glob("*.list")):
        return mends.as_root("timedatectl", "set-ntp", "true")
    return mends.as_root("apt-get", "install", "-y", "systemd-timesyncd")


def running(settings: Settings) -> Iterator[Check]:
    """Whether a gateway serves this state, and whether it gets on."""
    who = holder(settings.state_dir)
    if not who:
        if tick.is_fresh(tick.last_tick(settings.state_dir), datetime.now(UTC)):
            yield ok("gateway", "cron's `ops-gateway tick` serves this state directory")
            return
        yield warn("gateway", "no gateway runs here", "start the service, or", "ops-gateway run")
        return
    heartbeat = read_health(settings.state_dir).get("heartbeat")
    late = heartbeat.get("late") if isinstance(heartbeat, dict) else None
    if late:
        yield fail("gateway", f"`{who}` runs and does not get on with: {', '.join(late)}", "see its log, restart it")
    else:
        yield ok("gateway", f"`{who}` serves this state directory")
