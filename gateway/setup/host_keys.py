"""What mends an ssh remote whose host key is not known, or has become another one."""

from __future__ import annotations

import shlex
from pathlib import Path

from executor.git.remote_address import RemoteAddress
from executor.sandbox.confinement import Confinement
from executor.sandbox.environment import base_environment
from executor.sandbox.process import ProcessRunner

_SSH_KEYGEN = Path("/usr/bin/ssh-keygen")
_SECONDS = 10.0
_UNNAMED = Path("/etc/ops-gateway/known_hosts")


def host_key_mend(address: RemoteAddress, known_hosts: Path | None) -> tuple[str, str]:
    """Given the remote and the file of host keys, return what mends it: words, and a command.

    A key that is there already and another one now is what an attack looks like, and what a new server looks like.
    """
    host = address.host if address.port == 22 else f"[{address.host}]:{address.port}"
    file = known_hosts or _UNNAMED
    place = shlex.quote(str(file))
    scan = f"ssh-keyscan -p {address.port} {shlex.quote(address.host)} >> {place}; ssh-keygen -lf {place}"
    compare = "compare the fingerprint that it shows with the server's own before anything is pushed"
    if known_hosts is None:
        return f"fetch the host's key, {compare}, and set GATEWAY_KNOWN_HOSTS={file}", scan
    if _is_known(host, known_hosts):
        forget = f"ssh-keygen -R {shlex.quote(host)} -f {place}"
        words = f"the host has another key than before: ask its owner why; if that is well, {compare}"
        return words, f"{forget}; {scan}"
    return f"fetch the host's key, and {compare}", scan


def _is_known(host: str, known_hosts: Path) -> bool:
    if not known_hosts.is_file() or not _SSH_KEYGEN.exists():
        return False
    done = ProcessRunner(Confinement()).run(
        (str(_SSH_KEYGEN), "-F", host, "-f", str(known_hosts)),
        env=base_environment(Path("/"), Path("/tmp")),  # noqa: S108 (nothing is written)
        cwd=Path("/"),
        profile=None,
        deadline=_SECONDS,
    )
    return done.exit_code == 0
