"""What mends an ssh remote whose host key is not known, or has become another one."""

from __future__ import annotations

import shlex
from pathlib import Path

from executor.git.remote_address import RemoteAddress
from gateway.setup import host_programs, mends
from gateway.setup.host_programs import SSH_KEYGEN

_UNNAMED = Path("/etc/ops-gateway/known_hosts")
_CREDENTIAL = mends.CREDENTIALS / "KNOWN_HOSTS"


def host_key_mend(address: RemoteAddress, known_hosts: Path | None) -> tuple[str, str]:
    """Given the remote and the file of host keys, return what mends it: words, and a command.

    A key that is there already and another one now is what an attack looks like, and what a new server looks like.
    """
    host = address.host if address.port == 22 else f"[{address.host}]:{address.port}"
    as_credential = known_hosts in (None, _CREDENTIAL) and mends.CREDENTIALS.is_dir()
    file = _CREDENTIAL if as_credential else known_hosts or _UNNAMED
    place = shlex.quote(str(file))
    command = f"ssh-keyscan -p {address.port} {shlex.quote(address.host)} >> {place}; ssh-keygen -lf {place}"
    words = "fetch the host's key, and"
    if _is_known(host, file):
        command = f"ssh-keygen -R {shlex.quote(host)} -f {place}; {command}"
        words = "the host has another key than before: ask its owner why; if that is well,"
    words += " compare the fingerprint that it shows with the server's own before anything is pushed"
    if as_credential:  # root's, and read when the service starts
        return f"{words}; then restart the service", mends.as_root("sh", "-c", command)
    return words if known_hosts else f"{words}; then set GATEWAY_KNOWN_HOSTS={file}", command


def _is_known(host: str, known_hosts: Path) -> bool:
    if not known_hosts.is_file() or not SSH_KEYGEN.exists():
        return False
    return host_programs.ask(SSH_KEYGEN, "-F", host, "-f", known_hosts).exit_code == 0
