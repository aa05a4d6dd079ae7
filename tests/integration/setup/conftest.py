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
def host(open_to_all: Path) -> SetUpHost:
    """A host that is set up well, with an adopted repository that has no remote."""
    (open_to_all / "host").mkdir()
    host = SetUpHost(open_to_all / "host", unprivileged())
    host.adopt()
    return host


@pytest.fixture
def sshd(open_to_all: Path) -> Iterator[SshRemote]:
    """A real sshd with an empty repository `shop.git`."""
    bare_repository_at = open_to_all / "remotes"
    bare_repository_at.mkdir()
    bare_repository(bare_repository_at / "shop.git")
    with ssh_remote(open_to_all / "sshd", bare_repository_at) as remote:
        yield remote


@pytest.fixture
def ssh_host(open_to_all: Path, sshd: SshRemote) -> SetUpHost:
    """The same with a remote behind ssh that it may use; its key and known hosts are files of its own."""
    (open_to_all / "host").mkdir()
    host = SetUpHost(open_to_all / "host", unprivileged())
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
