"""A machine that systemd boots, over the host's own /usr: the service as it is shipped, under a real service manager.

    with booted_host(tmp_path) as machine:
        machine.install()                      # account, directories, unit, settings
        machine.run("systemctl", "start", "ops-gateway")

Everything but /usr is the machine's own and gone afterwards; `tmp_path/srv` on this side is /srv on that side. It has
a network of its own, into which `with machine.network():` puts this thread.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from programs import until

PROJECT = Path(__file__).resolve().parents[2]
UNIT = "ops-gateway.service"
ACCOUNT, GROUP = 4711, 4712  # the gateway's account, and the group that it shares with the agent
PATIENCE = 120.0  # s for what a busy machine does slowly; nothing is asserted about time
_CLONE_NEWNET = 0x4000_0000
# What systemd-nspawn takes from a machine by default, and a host's kernel has.
_CONFINING = "landlock_create_ruleset landlock_add_rule landlock_restrict_self"
_BOOT = (
    "systemd.unit=basic.target", "systemd.firstboot=off", "systemd.mask=systemd-firstboot.service",
    "systemd.mask=docker.socket", "systemd.mask=systemd-networkd-wait-online.service",
)  # fmt: skip
_PROGRAM = f"""#!/bin/sh
export PYTHONPATH=/opt/project:/opt/packages PYTHONDONTWRITEBYTECODE=1
exec /opt/python/bin/python{sys.version_info.major}.{sys.version_info.minor} -m gateway "$@"
"""
_STATE = "/var/lib/ops-gateway"
_SETTINGS = """GATEWAY_SHARED_DIR=/srv/agent/shared
GATEWAY_REPO_DIR=/srv/agent/shop
GATEWAY_HOST_NAME=booted
"""


class BootedHost:
    """What a test does with the machine: as its root, and as the agent, which is this side's root."""

    def __init__(self, leader: int, srv: Path) -> None:
        self.leader, self.srv = leader, srv
        self.shared, self.tree = srv / "agent" / "shared", srv / "agent" / "shop"

    def path(self, name: str) -> Path:
        """Where a file of the machine lies on this side; only for reading and writing by name."""
        return Path(f"/proc/{self.leader}/root{name}")

    def attempt(self, *argv: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a program in the machine as its root."""
        enter = ["nsenter", "-t", str(self.leader), "-m", "-p", "-n", "-u", "-i"]
        environment = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin", "LC_ALL": "C.UTF-8", **(env or {})}
        return subprocess.run(
            [*enter, *argv], env=environment, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PATIENCE,
        )  # fmt: skip

    def run(self, *argv: str, env: dict[str, str] | None = None) -> str:
        """The same; it must succeed. Return what it prints."""
        return self._printed(self.attempt(*argv, env=env))

    def _printed(self, done: subprocess.CompletedProcess[str]) -> str:
        assert done.returncode == 0, f"{done.args}: {done.stdout}{done.stderr}{self.journal()}"
        return done.stdout

    def write(self, name: str, content: str, mode: int = 0o644) -> None:
        """Write a file of the machine, making its directory if need be."""
        target = self.path(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
        target.chmod(mode)

    # --- the service -------------------------------------------------------------------------------------------

    def install(self, drop_in: str = "") -> None:
        """Put account, directories, program, unit and settings in place, as deploy/install.sh does.

        `drop_in` are lines for the unit's section [Service].
        """
        self.run("groupadd", "--gid", str(GROUP), "agents")
        self.run(
            "useradd", "--uid", str(ACCOUNT), "--user-group", "--home-dir", "/var/lib/ops-gateway", "ops-gateway"
        )
        self.write("/opt/ops-gateway/venv/bin/ops-gateway", _PROGRAM, 0o755)
        self.write("/etc/ops-gateway/gateway.env", _SETTINGS, 0o644)
        self.write("/etc/ops-gateway/gateway.toml", "")
        self.path("/etc/ops-gateway/credentials").mkdir(mode=0o700)
        shutil.copy(PROJECT / "deploy" / UNIT, self.path(f"/etc/systemd/system/{UNIT}"))
        own = "[Service]\nSupplementaryGroups=agents\nReadWritePaths=/srv/agent/shared /srv/agent/shop\n"
        self.write(f"/etc/systemd/system/{UNIT}.d/10-paths.conf", own)
        self.write(f"/etc/systemd/system/{UNIT}.d/20-test.conf", f"[Service]\n{drop_in}\n")
        self.run("install", "-d", "-o", "ops-gateway", "-m", "700", _STATE)
        self.share(self.shared)
        self.run("systemctl", "daemon-reload")

    def share(self, *paths: Path) -> None:
        """Give directories on this side to the gateway's account and the agent's group."""
        for path in paths:
            path.mkdir(parents=True, exist_ok=True)
            subprocess.run(["chown", "-R", f"{ACCOUNT}:{GROUP}", str(path)], check=True)
            path.chmod(0o2770)

    def attempt_gateway(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a verb of the program as the gateway's account, with its settings."""
        become = ("setpriv", "--reuid", str(ACCOUNT), "--regid", str(ACCOUNT), "--groups", str(GROUP))
        settings = {
            "GATEWAY_ENV_FILE": "/etc/ops-gateway/gateway.env",
            "GATEWAY_STATE_DIR": _STATE,
            "HOME": _STATE,
        }
        return self.attempt(*become, "/opt/ops-gateway/venv/bin/ops-gateway", *words, env=settings)

    def gateway(self, *words: str) -> str:
        """The same; it must succeed. Return what it prints."""
        return self._printed(self.attempt_gateway(*words))

    def shows(self, name: str) -> str:
        """What systemd says of a property of the service."""
        return self.attempt("systemctl", "show", UNIT, "--value", "-p", name).stdout.strip()

    def start(self) -> int:
        """Start the service, which returns when it is READY; return its process, as the machine numbers it."""
        self.run("systemctl", "start", "--no-block", UNIT)
        self.wait_for("ActiveState", "active")
        return int(self.shows("MainPID"))

    def wait_for(self, name: str, *values: str) -> str:
        """Wait until a property of the service has one of `values`, and return it."""
        try:
            found: str = until(lambda: (seen := self.shows(name)) in values and seen, f"{name} in {values}", PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {self.shows(name)}\n{self.journal()}") from None
        return found

    def journal(self) -> str:
        """What the service and systemd said about it."""
        return self.attempt("journalctl", "--no-pager", "-o", "cat", "-u", UNIT).stdout

    # --- the agent ---------------------------------------------------------------------------------------------

    def raise_flag(self, name: str, body: str = "") -> None:
        """Write a flag as a careful agent does, which a container's root mostly is."""
        draft = self.shared / f"{name}.draft"
        draft.write_text(body)
        draft.rename(self.shared / name)

    def result(self, request_id: str) -> dict[str, Any]:
        """The result of a request, {} while there is none."""
        with suppress(FileNotFoundError):
            found: dict[str, Any] = json.loads((self.shared / "results" / f"{request_id}.json").read_text())
            return found
        return {}

    def in_state(self, request_id: str, *states: str) -> dict[str, Any]:
        """Wait until the result of a request says one of `states`, and return it."""
        try:
            found: dict[str, Any] = until(
                lambda: (seen := self.result(request_id)).get("state") in states and seen,
                f"{request_id} in {states}",
                PATIENCE,
            )
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {self.result(request_id)}\n{self.journal()}") from None
        return found

    @contextmanager
    def network(self) -> Iterator[None]:
        """This thread, and what it starts, is in the machine's network; only its loopback goes anywhere."""
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        other = os.open(f"/proc/{self.leader}/ns/net", os.O_RDONLY)
        try:
            _set_network(other)
            yield
        finally:
            _set_network(own)
            os.close(own)
            os.close(other)


def _set_network(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.setns(descriptor, _CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())


@contextmanager
def booted_host(root: Path, *bound: str) -> Iterator[BootedHost]:
    """Boot a machine; `bound` are further directories of this side for it to read, as `HERE:THERE`.

    Needs the part "systemd-nspawn".
    """
    srv = root / "srv"
    srv.mkdir()
    srv.chmod(0o755)
    read = {
        sys.base_prefix: "/opt/python",
        sysconfig.get_path("purelib"): "/opt/packages",
        str(PROJECT): "/opt/project",
    }
    argv = ["systemd-nspawn", "-D", "/", "--volatile=yes", "--register=no", "--keep-unit", "--console=pipe"]
    argv += [
        f"--system-call-filter={_CONFINING}",
        "--quiet",
        "--private-network",
        f"--machine=ogw-{os.getpid()}",
        f"--bind={srv}:/srv",
        "--tmpfs=/usr/local/bin",
    ]
    argv += [f"--bind-ro={place}" for place in (*(f"{here}:{there}" for here, there in read.items()), *bound)]
    with _own_cgroup(f"ogw-{os.getpid()}-{srv.stat().st_ino}") as enter, (root / "boot.log").open("w") as log:
        program = subprocess.Popen(
            [*enter, *argv, "-b", *_BOOT], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        try:
            leader = until(lambda: _leader(program), f"the machine; {root / 'boot.log'}", PATIENCE)
            machine = BootedHost(leader, srv)
            booted = ("systemctl", "is-active", "basic.target")
            until(lambda: machine.attempt(*booted).stdout.strip() == "active", "basic.target", PATIENCE)
            yield machine
        finally:
            _end(program)


def _leader(program: subprocess.Popen[bytes]) -> int | None:
    """The machine's first process, as this side numbers it."""
    assert program.poll() is None, "systemd-nspawn has ended"
    children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
    for child in children:
        with suppress(OSError):
            if Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                return int(child)
    return None


def _end(program: subprocess.Popen[bytes]) -> None:
    """Kill the machine's first process, with which all others in it go, and wait for systemd-nspawn."""
    with suppress(OSError, AssertionError):
        leader = _leader(program)
        os.kill(leader if leader is not None else program.pid, signal.SIGKILL)
    try:
        program.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()


@contextmanager
def _own_cgroup(name: str) -> Iterator[list[str]]:
    """A control group of its own for one machine, so that several run side by side; yield what starts one in it."""
    tops = [top for top in map(Path, ("/sys/fs/cgroup", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified"))
            if (top / "cgroup.procs").exists()]  # fmt: skip
    groups = [top / name for top in tops]
    for group in groups:
        group.mkdir()
    line = "".join(f"echo $$ > {group}/cgroup.procs; " for group in groups)
    try:
        yield ["/bin/sh", "-euc", f'{line}exec "$@"', "sh"]
    finally:
        for group in groups:
            until(lambda group=group: _removed(group), f"the end of {group}", PATIENCE)  # type: ignore[misc]


def _removed(group: Path) -> bool:
    """Remove an empty control group with all below it; return False while something is left in it."""
    for directory, _, _ in os.walk(group, topdown=False):
        with suppress(OSError):
            Path(directory).rmdir()
    return not group.exists()
