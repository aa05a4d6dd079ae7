"""Hosts that are set up well, and remotes and chats for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bot_api import BotApi
from docker_engine import docker, docker_engine
from remotes import SshRemote, bare_repository, ssh_remote
from repos import plain_git
from set_up_host import SetUpHost, unprivileged

__all__ = ["docker", "docker_engine"]


@pytest.fixture
def open_root(tmp_path: Path) -> Path:
    """A directory that any uid can reach, though nobody else can write it."""
    for parent in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        parent.chmod(parent.stat().st_mode | 0o055)
    return tmp_path


@pytest.fixture
def host(open_root: Path) -> SetUpHost:
    """A host that is set up well, with an adopted repository that has no remote."""
    (open_root / "host").mkdir()
    host = SetUpHost(open_root / "host", unprivileged())
    host.adopt()
    return host


@pytest.fixture
def sshd(open_root: Path) -> Iterator[SshRemote]:
    """A real sshd with an empty repository `shop.git`."""
    bare_repository_at = open_root / "remotes"
    bare_repository_at.mkdir()
    bare_repository(bare_repository_at / "shop.git")
    with ssh_remote(open_root / "sshd", bare_repository_at) as remote:
        yield remote


@pytest.fixture
def ssh_host(open_root: Path, sshd: SshRemote) -> SetUpHost:
    """The same with a remote behind ssh that it may use; its key and known hosts are files of its own."""
    (open_root / "host").mkdir()
    host = SetUpHost(open_root / "host", unprivileged())
    plain_git(host.tree, "-c", "safe.directory=*", "remote", "add", "origin", sshd.url("shop.git"))
    for name, source in (("id", sshd.key), ("known_hosts", sshd.known_hosts)):
        (host.root / name).write_bytes(source.read_bytes())
        (host.root / name).chmod(0o600)
    host.write_settings(SSH_KEY=str(host.root / "id"), KNOWN_HOSTS=str(host.root / "known_hosts"))
    host.give(host.root)
    host.adopt()
    return host


@pytest.fixture
def api() -> Iterator[BotApi]:
    """A Bot API server of one's own."""
    with BotApi() as server:
        yield server
