"""Checks of the files that the gateway trusts: the settings, the keys, the credentials."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from gateway.settings_model import RepositorySettings, Settings
from gateway.settings_sources import config_file, env_file
from gateway.setup import host_programs, mends
from gateway.setup.check import Check, fail, ok, warn
from gateway.setup.exposure import replaceable
from gateway.setup.host_programs import SSH_KEYGEN


def secret_files(settings: Settings) -> Iterator[Check]:
    """They are for the gateway's user alone; ssh refuses a key that others can read."""
    files = {"env file": env_file(os.environ), "config file": config_file(os.environ)}
    files |= {f"{each.name}: credentials": each.credential_file for each in settings.served}
    for name, path in files.items():
        if path is not None:
            yield from _secret(name, path, warn)
    for each in settings.served:
        if each.ssh_key is not None:
            yield from _secret(f"{each.name}: ssh key", each.ssh_key, fail)
        yield from _ssh(each)


def _secret(name: str, path: Path, say: Callable[..., Check]) -> Iterator[Check]:
    """`say` is how bad it is when others can read it."""
    if not path.exists():
        yield fail(name, f"{path} is not there", "put it there, or correct the setting that names it")
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if not os.access(path, os.R_OK):
        owner = mends.account(path.stat().st_uid)
        command = mends.as_root("chown", mends.account(), path)
        yield fail(name, f"{mends.account()} cannot read {path}; it is {owner}'s", "give it to that user", command)
    elif mode & 0o077:
        command = mends.as_owner(path, "chmod", "600", path)
        yield say(name, f"{path} can be read by others (mode {mode:04o})", "close it", command)
    else:
        yield ok(name, f"{path} is the gateway's alone")
    yield from replaceable(name, path, "keep it where nobody else can write")


def _ssh(repository: RepositorySettings) -> Iterator[Check]:
    """A service cannot type a passphrase, and without host keys no ssh remote is trusted."""
    key, hosts = repository.ssh_key, repository.known_hosts
    if key is not None and (hosts is None or not hosts.is_file()):
        at = hosts or Path("/etc/ops-gateway/known_hosts")
        yield warn(
            f"{repository.name}: known hosts",
            "there is a key and no file of host keys, so every ssh remote will be refused",
            f"ssh-keyscan HOST > {at}, compare the fingerprints, and set GATEWAY_KNOWN_HOSTS={at}",
        )
    if key is None or not os.access(key, os.R_OK) or not SSH_KEYGEN.exists():
        return
    locked = passphrase(key)
    if locked:
        yield fail(f"{repository.name}: ssh key", f"{key} {locked}", *_unlocked(key))


def passphrase(key: Path) -> str:
    """Return what keeps a private key from being used without a person; "" where nothing does."""
    done = host_programs.ask(SSH_KEYGEN, "-y", "-P", "", "-f", key)
    said = done.stderr.decode("utf-8", "replace")
    if done.exit_code == 0 or "UNPROTECTED PRIVATE KEY" in said:  # open to others: said by another check
        return ""
    if "incorrect passphrase" in said:
        return "has a passphrase, and nobody is there to type it"
    return "is no private key that ssh can read"


def _unlocked(key: Path) -> tuple[str, str]:
    return (
        "make a key of its own for the gateway, allow it at the remote, and name it in GATEWAY_SSH_KEY (or let an "
        "agent hold this one: GATEWAY_SSH_AGENT); to take the passphrase away, which asks for it once",
        mends.as_owner(key, "ssh-keygen", "-p", "-N", "", "-f", key),
    )
