"""Fetch and push through a real sshd: what works, and how each difficulty is named (C03)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from remotes import SshRemote, bare_repository, silent_listener, ssh_remote
from repos import Adopted, adopted_repository, commit_file, plain_git

from executor.errors import Failed, TimedOut
from executor.git.pushing import push_branch
from executor.git.repository import Deadlines, RemoteAccess
from executor.git.transfer import fetch, ls_remote

pytestmark = [pytest.mark.needs("git"), pytest.mark.needs("sshd")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshRemote]:
    home = tmp_path_factory.mktemp("ssh")
    with ssh_remote(home / "sshd", home / "repositories") as remote:
        yield remote


@pytest.fixture
def repo(server: SshRemote, tmp_path: Path) -> Adopted:
    adopted = adopted_repository(tmp_path, pushed=False)
    bare = bare_repository(server.repositories / f"{tmp_path.name}.git")
    plain_git(adopted.paths.transfer, "config", "remote.origin.url", server.url(bare.name))
    return replace(adopted, remote=bare)


def access(server: SshRemote) -> RemoteAccess:
    return RemoteAccess(ssh_key=server.key, known_hosts=server.known_hosts)


def failure(repo: Adopted, how: RemoteAccess, deadlines: Deadlines | None = None) -> Failed:
    with pytest.raises(Failed) as caught:
        ls_remote(repo.open(how, deadlines=deadlines), "origin")
    return caught.value


def test_a_branch_is_pushed_and_fetched_over_ssh(repo: Adopted, server: SshRemote, tmp_path: Path) -> None:
    git = repo.open(access(server))
    assert push_branch(git, "main").verified["effect"] is True
    assert repo.remote is not None
    colleague = tmp_path / "colleague"
    plain_git(tmp_path, "clone", "-q", str(repo.remote), str(colleague))
    theirs = commit_file(colleague, "theirs.txt", "x\n")
    plain_git(colleague, "push", "-q")

    fetch(git, "origin")

    assert repo.ref("refs/remotes/origin/main") == theirs


def test_c03_a_key_that_is_not_accepted_is_named_at_once(repo: Adopted, server: SshRemote) -> None:
    assert failure(repo, replace(access(server), ssh_key=server.stranger_key)).code == "auth_failed"


def test_c03_a_key_with_a_passphrase_does_not_ask_for_it(repo: Adopted, server: SshRemote, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret words", "-f", str(locked)]
    subprocess.run(command, check=True)

    assert failure(repo, replace(access(server), ssh_key=locked)).code == "auth_failed"


@pytest.mark.parametrize("known", ["missing", "wrong"])
def test_c03_an_unknown_or_changed_host_key_is_named_and_not_learned(
    repo: Adopted, server: SshRemote, tmp_path: Path, known: str
) -> None:
    hosts = tmp_path / "known_hosts"
    hosts.write_text(server.wrong_known_hosts.read_text() if known == "wrong" else "")
    before = hosts.read_text()

    assert failure(repo, replace(access(server), known_hosts=hosts)).code == "host_key_unknown"
    assert hosts.read_text() == before


def test_a_repository_that_is_not_there_is_named(repo: Adopted, server: SshRemote) -> None:
    plain_git(repo.paths.transfer, "config", "remote.origin.url", server.url("nothing.git"))

    assert failure(repo, access(server)).code == "remote_not_found"


def test_a_port_where_nobody_listens_is_unreachable(repo: Adopted, server: SshRemote) -> None:
    plain_git(repo.paths.transfer, "config", "remote.origin.url", "ssh://git@127.0.0.1:1/x.git")

    assert failure(repo, access(server)).code == "remote_unreachable"


def test_a_remote_that_hangs_is_given_up_with_a_hint(repo: Adopted, server: SshRemote) -> None:
    with silent_listener() as listener:
        plain_git(repo.paths.transfer, "config", "remote.origin.url", f"ssh://git@127.0.0.1:{listener.port}/x.git")
        caught = failure(repo, access(server), Deadlines(network=0.5))

    assert isinstance(caught, TimedOut)
    assert caught.code == "remote_timeout"
    assert "try again" in caught.hint


def test_a_hook_of_the_remote_that_declines_is_quoted(repo: Adopted, server: SshRemote) -> None:
    assert repo.remote is not None
    hook = repo.remote / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'main is protected, open a merge request' >&2\nexit 1\n")
    hook.chmod(0o755)

    with pytest.raises(Failed) as caught:
        push_branch(repo.open(access(server)), "main")

    assert caught.value.code == "remote_declined"
    assert "main is protected" in caught.value.message
    assert repo.remote_ref("refs/heads/main") is None


def test_the_users_own_ssh_configuration_has_no_say(
    repo: Adopted, server: SshRemote, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = repo.tree.parent / "canary"
    for name in ("GIT_SSH_COMMAND", "GIT_SSH", "GIT_PROXY_COMMAND"):
        monkeypatch.setenv(name, f"touch {canary}")
    repo.plain("config", "core.sshCommand", f"touch {canary}")

    assert ls_remote(repo.open(access(server)), "origin") == {}
    assert not canary.exists()


@pytest.mark.needs("strace")
def test_no_shell_is_started_on_the_way_to_the_remote(repo: Adopted, server: SshRemote, tmp_path: Path) -> None:
    git = repo.open(access(server))
    ls_remote(git, "origin")  # writes the ssh program
    environment = {"GIT_SSH": str(repo.paths.ssh_program), "GIT_SSH_VARIANT": "ssh", "PATH": "/usr/bin:/bin"}
    log = tmp_path / "trace"
    command = ["strace", "-f", "-qq", "-e", "trace=execve", "-o", str(log)]

    subprocess.run([*command, "/usr/bin/git", "ls-remote", server.url(str(repo.remote and repo.remote.name))],
                   env=environment, check=True, capture_output=True)  # fmt: skip

    assert "ssh" in log.read_text()
    assert '/sh"' not in log.read_text()
