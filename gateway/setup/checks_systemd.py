"""Checks of the unit, on a host that systemd booted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gateway.settings_model import Settings
from gateway.setup import host_programs, mends
from gateway.setup.check import Check, fail, ok, warn

UNIT = "ops-gateway.service"
_BOOTED = Path("/run/systemd/system")  # sd_booted(3)
_SYSTEMCTL = Path("/usr/bin/systemctl")
_ASKED = (
    "LoadState", "ActiveState", "SubState", "UnitFileState", "Result", "User", "WatchdogUSec", "NRestarts",
    "NeedDaemonReload", "LoadCredential", "Environment", "WorkingDirectory", "ReadWritePaths", "BindPaths",
)  # fmt: skip
_MANY_RESTARTS = 5


def unit(_settings: Settings) -> Iterator[Check]:
    """Whether the unit is there, runs, comes back at boot, and is watched."""
    said = _show()
    if said is None:
        yield ok("systemd", "this host was not booted by systemd")
    elif isinstance(said, str):
        yield warn("systemd", f"systemctl cannot be asked: {said}", "look at it by hand", f"systemctl status {UNIT}")
    else:
        yield from judge(said)


def installed_for(named_in: str, settings_file: Path, written: Iterable[Path]) -> bool:
    """Whether the unit is there, reads that settings file, and may write all those directories."""
    said = _show()
    return isinstance(said, Mapping) and fits(said, f"{named_in}={settings_file}", written)


def fits(said: Mapping[str, str], assignment: str, written: Iterable[Path]) -> bool:
    """Given the properties of the unit, return whether it has that assignment and may write those directories."""
    bound = (each.partition(":")[0] for each in said.get("BindPaths", "").split())
    writable = {Path(each.lstrip("-+")) for each in (*said.get("ReadWritePaths", "").split(), *bound)}
    return (
        said.get("LoadState") == "loaded"
        and assignment in said.get("Environment", "").split()
        and all(writable & {path, *path.parents} for path in written)
    )


def _show() -> Mapping[str, str] | str | None:
    """The properties of the unit, what systemctl complains of, or None where systemd did not boot the host."""
    if not _BOOTED.is_dir() or not _SYSTEMCTL.exists():
        return None
    done = host_programs.ask(_SYSTEMCTL, "show", f"--property={','.join(_ASKED)}", "--", UNIT)
    if done.exit_code != 0:
        return done.stderr.decode("utf-8", "replace").strip()
    return parse(done.stdout.decode("utf-8", "replace"))


def parse(text: str) -> dict[str, str]:
    """Given what `systemctl show` prints, return each property; one that comes several times is joined by spaces."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals:
            found[name] = f"{found[name]} {value}" if name in found else value
    return found


def judge(said: Mapping[str, str]) -> Iterator[Check]:
    """Given the properties of the unit, yield what is to be said of it."""
    if said.get("LoadState") != "loaded":
        what = f"{UNIT} is {said.get('LoadState', 'not known')}: nothing starts the gateway at boot"
        yield ok("systemd", what, "deploy/install.sh installs it; or leave it to cron and `ops-gateway tick`")
        return
    yield _state(said)
    if said.get("UnitFileState") not in ("enabled", "enabled-runtime", "static", "generated"):
        yield warn("unit at boot", f"{UNIT} is not enabled", "enable it", mends.as_root("systemctl", "enable", UNIT))
    if said.get("User", "") in ("", "root", "0"):
        yield fail("unit's user", f"{UNIT} runs as root", "give it User=ops-gateway", _edit())
    started = said.get("ActiveState") not in ("inactive", "failed")  # systemd says it of what has been started only
    if started and said.get("WatchdogUSec", "0") in ("0", "infinity", ""):
        what = f"{UNIT} has no WatchdogSec: a gateway that hangs stays so"
        yield warn("unit's watchdog", what, "give it Type=notify and WatchdogSec=", _edit())
    if said.get("NeedDaemonReload") == "yes":
        what = "its file was changed and systemd has not read it since"
        yield warn("unit's file", what, "let it", mends.as_root("systemctl", "daemon-reload"))


def _state(said: Mapping[str, str]) -> Check:
    active, restarts = said.get("ActiveState", ""), said.get("NRestarts", "0")
    often = restarts.isdigit() and int(restarts) >= _MANY_RESTARTS
    log = f"journalctl -u {UNIT} -n 50"
    if active == "active" and often:
        return warn("unit", f"{UNIT} is active, and was started again {restarts} times", "see why", log)
    if active == "active":
        return ok("unit", f"{UNIT} is active ({said.get('SubState', '')})")
    if active == "failed":
        return fail("unit", f"{UNIT} has failed: {said.get('Result', '')}", "see why, and start it again", log)
    start = mends.as_root("systemctl", "start", UNIT)
    return warn("unit", f"{UNIT} is {active or 'not known'}", "start it", start)


def _edit() -> str:
    return mends.as_root("systemctl", "edit", UNIT)
