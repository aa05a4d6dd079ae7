"""Set-ups that are really broken, each in one way: the doctor finds it, and the mend that it names mends it.

Each row breaks a host that was good, says which check has to notice and how badly, and what its mend names. Where the
mend is a command, it is pasted, as the user who ran the doctor (with root's help where it says sudo), and then that
check is good; elsewhere the row does what the words say.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from repos import plain_git
from set_up_host import SetUpHost

pytestmark = pytest.mark.needs("git", "landlock", "root", "unprivileged-user")

Act = Callable[[SetUpHost], object]


@dataclass(frozen=True)
class Broken:
    """One way to break a host."""

    name: str
    breaks: Act
    check: str  # that has to notice
    state: str
    names: str  # a part of the mend or of its command
    heals: Act | None = None  # what the mend's words say; None where the command does it
    command_more: str = ""  # what a person would type after the command


def chmod(name: str, mode: int) -> Act:
    return lambda host: (host.root / name).chmod(mode)


def chown(name: str, uid: int) -> Act:
    return lambda host: os.chown(host.root / name, uid, uid)


def settings(**values: str) -> Act:
    return lambda host: host.write_settings(**values)


def without_state(host: SetUpHost) -> None:
    """No state directory, in a place where only root can make one, like /var/lib."""
    (host.root / "lib").mkdir()
    host.write_settings(STATE_DIR=str(host.root / "lib" / "ops-gateway"))


def state_of_another_user(host: SetUpHost) -> None:
    subprocess.run(["chown", "-R", "7777:7777", str(host.state)], check=True)


def cut_audit_log(host: SetUpHost) -> None:
    database = sqlite3.connect(host.state / "gateway.db")
    with database:
        database.execute("delete from events where seq = (select max(seq) from events)")
    database.close()


def linked_shared(host: SetUpHost) -> None:
    host.shared.rename(host.root / "elsewhere")
    host.shared.symlink_to(host.root / "elsewhere")


def real_shared(host: SetUpHost) -> None:
    host.shared.unlink()
    (host.root / "elsewhere").rename(host.shared)


def linked_tree(host: SetUpHost) -> None:
    host.tree.rename(host.root / "moved")
    host.tree.symlink_to("/etc")


def real_tree(host: SetUpHost) -> None:
    host.tree.unlink()
    (host.root / "moved").rename(host.tree)


def planted_config(host: SetUpHost) -> None:
    """What a container's root leaves that had the git directory mounted writable."""
    info = host.state / "repos" / "shop" / "local.git" / "info" / "planted"
    info.write_text("")
    os.chown(info, 0, 0)
    info.chmod(0o666)


def a_key(host: SetUpHost, passphrase: str = "") -> None:
    key = host.root / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", str(key)], check=True)
    os.chown(key, host.account or 0, host.group)
    host.write_settings(SSH_KEY=str(key), KNOWN_HOSTS=str(host.env_file))


def open_key(host: SetUpHost) -> None:
    a_key(host)
    (host.root / "key").chmod(0o640)


def locked_key(host: SetUpHost) -> None:
    a_key(host, "hard to guess")


def key_without_hosts(host: SetUpHost) -> None:
    a_key(host)
    host.write_settings(KNOWN_HOSTS="/nonexistent/hosts")


def unadopted(host: SetUpHost) -> None:
    host.ok("release")
    plain_git(host.tree, "-c", "safe.directory=*", "remote", "add", "origin", "https://localhost:1/shop.git")


def quoted(host: SetUpHost) -> None:
    host.environment["GATEWAY_LOG_LEVEL"] = '"INFO"'  # as docker --env-file leaves it (E07)


ROWS = [
    Broken("others write the state", chmod("state", 0o777), "state directory", "fail", "chmod 700"),
    Broken("others read the state", chmod("state", 0o750), "state directory", "warn", "chmod 700"),
    Broken("the state is not there", without_state, "state directory", "fail", "install -d -m 700 -o nobody"),
    Broken("the state is another user's", state_of_another_user, "state directory", "fail", "chown -R nobody"),
    Broken("others can replace the state", chmod(".", 0o777), "above the state directory", "fail", "chmod go-w"),
    Broken("nothing is shared", lambda host: host.shared.rmdir(), "shared directory", "fail", "install -d -m 2770"),
    Broken("the shared directory is root's", chown("shared", 0), "shared directory", "fail", "install -d -m 2770"),
    Broken("everybody can raise flags", chmod("shared", 0o2777), "shared directory", "warn", "chmod o-w"),
    Broken("the shared directory is a link", linked_shared, "shared directory", "fail", "move it away", real_shared),
    Broken("others read the token", chmod(".env", 0o644), "env file", "warn", "chmod 600"),
    Broken("others write the settings", chmod(".env", 0o666), "settings", "fail", "chmod 600", chmod(".env", 0o600)),
    Broken(
        "a setting is misspelt",
        settings(APROVE="git_push"),
        "settings",
        "fail",
        "docs/settings.md",
        lambda host: host.env_file.write_text(host.env_file.read_text().replace("APROVE", "APPROVE")),
    ),
    Broken(
        "a setting is misspelt in the environment",
        lambda host: host.environment.update(GATEWAY_APROVE="git_push"),
        "stray setting",
        "warn",
        "correct the name",
        lambda host: host.environment.clear(),
    ),
    Broken("quotes are kept", quoted, "settings", "fail", "docs/settings.md", lambda host: host.environment.clear()),
    Broken(
        "the state is where the agent writes",
        lambda host: host.write_settings(STATE_DIR=str(host.shared / "state")),
        "settings",
        "fail",
        "docs/settings.md",
        lambda host: host.write_settings(STATE_DIR=str(host.state)),
    ),
    Broken("others read the key", open_key, "shop: ssh key", "fail", "chmod 600"),
    Broken(
        "the key has a passphrase",
        locked_key,
        "shop: ssh key",
        "fail",
        "ssh-keygen -p -N",
        command_more=" -P 'hard to guess'",
    ),
    Broken(
        "there are no host keys",
        key_without_hosts,
        "shop: known hosts",
        "warn",
        "ssh-keyscan",
        lambda host: host.write_settings(KNOWN_HOSTS=str(host.env_file)),
    ),
    Broken(
        "the credentials are not there",
        settings(CREDENTIAL_FILE="/nonexistent/credentials"),
        "shop: credentials",
        "fail",
        "put it there",
        lambda host: host.write_settings(CREDENTIAL_FILE=str(host.env_file)),
    ),
    Broken("it was never adopted", unadopted, "repository shop", "fail", "ops-gateway adopt", command_more=" --yes"),
    Broken(
        "others write the git directory",
        chmod("state/repos/shop/local.git", 0o777),
        "repository shop",
        "fail",
        "chmod -R go-w",
    ),
    Broken(
        "the git directory is root's", chown("state/repos/shop/local.git", 0), "repository shop", "fail", "chown -R"
    ),
    Broken("a container wrote the git directory", planted_config, "repository shop", "fail", "mount it read-only"),
    Broken("the work tree was replaced", linked_tree, "repository shop", "fail", "real path", real_tree),
    Broken(
        "the audit log was cut",
        cut_audit_log,
        "audit log",
        "fail",
        "audit verify",
        lambda host: host.ok("audit", "accept", "--reason", "a test"),
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_doctor_finds_it_and_its_mend_mends_it(row: Broken, host: SetUpHost) -> None:
    row.breaks(host)

    found = host.doctor()[row.check]

    assert found["state"] == row.state, found
    assert row.names in f"{found['mend']} {found['command']}", found
    if row.heals is None:
        host.paste(found["command"] + row.command_more)
    else:
        row.heals(host)
    after = host.doctor().get(row.check)
    assert after is None or after["state"] == "ok", after
