"""With what the host speaks to a remote: ssh key, known hosts, credentials, and the files that hand them to git.

No shell is needed for any of it, so none may be executed where the network is. git would run `GIT_SSH_COMMAND` and a
credential helper with arguments through `/bin/sh`. Instead `GIT_SSH` names a file that is both an ssh configuration
and the program that reads it, and an https credential becomes the `Authorization` header of that one host.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from executor.errors import ConfigError
from executor.git.git_dirs import write_program
from executor.git.remote_address import RemoteAddress
from executor.sandbox.environment import ssh_config_program

SSH_PROGRAM = Path("/usr/bin/ssh")
# What name resolution, TLS and ssh read; those that do not exist on a host are left out.
NETWORK_FILES = tuple(
    Path(name)
    for name in (
        "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
        "/etc/passwd", "/etc/group", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates",
        "/usr/local/share/ca-certificates", "/etc/crypto-policies", "/run/systemd/resolve",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RemoteAccess:
    """What the host's owner configured for talking to remotes; every path lies outside what an agent can write."""

    ssh_key: Path | None = None
    known_hosts: Path | None = None
    credential_file: Path | None = None  # lines https://user:password@host, as git-credential-store(1) writes them
    ssh_agent: Path | None = None  # socket
    ca_file: Path | None = None  # PEM bundle in place of the system's
    allow_local_remote: bool = False  # tests and the demo
    allow_plain_http: bool = False  # credentials would travel in the clear

    def files(self) -> tuple[Path, ...]:
        """Return the files that a network process must be able to read."""
        named = (self.ssh_key, self.known_hosts, self.ca_file, self.ssh_agent)
        return tuple(path for path in named if path is not None)


def ssh_configuration(access: RemoteAccess) -> str:
    """Return the text of the ssh configuration that is also the program named by `GIT_SSH`.

    Never asks anything (C03), trusts only the given known hosts, offers only the given key. Raises ConfigError for a
    path that ssh would expand or could not read back.
    """
    return ssh_config_program(
        SSH_PROGRAM,
        (
            ("BatchMode", "yes"),
            ("StrictHostKeyChecking", "yes"),
            ("UpdateHostKeys", "no"),
            ("GlobalKnownHostsFile", "none"),
            ("UserKnownHostsFile", _ssh_path(access.known_hosts)),
            ("IdentityFile", _ssh_path(access.ssh_key)),
            ("IdentityAgent", _ssh_path(access.ssh_agent)),
            ("IdentitiesOnly", "yes" if access.ssh_key else "no"),
            ("ConnectTimeout", "15"),
            ("ServerAliveInterval", "15"),  # with the next line: a dead connection is noticed within a minute
            ("ServerAliveCountMax", "4"),
            ("ForwardAgent", "no"),
            ("ControlPath", "none"),
            ("LogLevel", "ERROR"),
        ),
    )


def write_ssh_program(path: Path, access: RemoteAccess) -> None:
    """Make `path` the program that git starts as ssh, which is the ssh configuration as well."""
    write_program(path, ssh_configuration(access))


def http_configuration(access: RemoteAccess, address: RemoteAddress) -> tuple[tuple[str, str], ...]:
    """Return the git configuration with which `address` is spoken to over http(s).

    The credential is bound to scheme, host and port of the address; redirects are off, so it goes nowhere else.
    """
    if address.scheme not in ("http", "https"):
        return ()
    pairs: list[tuple[str, str]] = []
    if access.ca_file is not None:
        pairs.append(("http.sslCAInfo", str(access.ca_file)))
    if access.credential_file is not None:
        credential = _credential(access.credential_file, address)
        if credential is not None:
            basic = base64.b64encode(credential.encode()).decode()
            scope = _origin(address.url)
            pairs.append((f"http.{scope}/.extraHeader", f"Authorization: Basic {basic}"))
    return tuple(pairs)


def _credential(path: Path, address: RemoteAddress) -> str | None:
    """Return "user:password" of the first line for the address's scheme, host and port, as git looks it up."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            "credential_file", f"The credential file {path} cannot be read.", "Check its path."
        ) from error
    wanted = _origin(address.url)
    for line in text.splitlines():
        try:
            parts = urlsplit(line.strip())
            if parts.password and _origin(line.strip()) == wanted:
                return f"{unquote(parts.username or '')}:{unquote(parts.password)}"
        except ValueError:
            continue  # a line that is no URL names no host
    return None


def _origin(url: str) -> str:
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def _ssh_path(path: Path | None) -> str:
    if path is None:
        return "none"
    text = str(path)
    if not path.is_absolute() or any(c in '"$\\' or ord(c) < 0x20 for c in text):
        raise ConfigError(
            "ssh_path", f"ssh cannot be given the path {text!r}.", "Use an absolute path of plain characters."
        )
    return text.replace("%", "%%")
