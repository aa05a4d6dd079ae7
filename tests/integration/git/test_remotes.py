"""The remotes that other tests rely on are real: they transfer, and they say no in the ways they promise."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from remotes import (
    HttpRemote,
    SshRemote,
    bare_repository,
    git_environment,
    http_remote,
    silent_listener,
    ssh_remote,
)


def git(*words: str, env: dict[str, str], timeout: float = 30) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], env=env, capture_output=True, text=True, timeout=timeout, check=False)


def push_and_list(remote: SshRemote | HttpRemote, tmp_path: Path) -> str:
    env = git_environment(remote)
    assert git("init", "-q", "-b", "main", str(tmp_path / "w"), env=env).returncode == 0
    work = ["-C", str(tmp_path / "w")]
    assert git(*work, "commit", "-q", "--allow-empty", "-m", "one", env=env).returncode == 0
    pushed = git(*work, "push", "-q", remote.url("p.git"), "main", env=env)
    assert pushed.returncode == 0, pushed.stderr
    return git("ls-remote", remote.url("p.git"), env=env).stdout


@pytest.mark.needs("sshd")
def test_a_push_over_ssh_arrives(tmp_path: Path) -> None:
    bare_repository(tmp_path / "remotes" / "p.git")
    with ssh_remote(tmp_path / "ssh", tmp_path / "remotes") as remote:
        assert "refs/heads/main" in push_and_list(remote, tmp_path)


@pytest.mark.needs("sshd")
def test_ssh_refuses_a_strange_key_and_a_client_refuses_a_strange_server(tmp_path: Path) -> None:
    bare_repository(tmp_path / "remotes" / "p.git")
    with ssh_remote(tmp_path / "ssh", tmp_path / "remotes") as remote:
        for command, words in (
            (remote.ssh_command(key=remote.stranger_key), "Permission denied"),
            (remote.ssh_command(known_hosts=remote.wrong_known_hosts), "REMOTE HOST IDENTIFICATION HAS CHANGED"),
        ):
            env = git_environment(remote) | {"GIT_SSH_COMMAND": command}
            answer = git("ls-remote", remote.url("p.git"), env=env)
            assert answer.returncode != 0
            assert words in answer.stderr


@pytest.mark.needs("sshd")
def test_the_ssh_server_offers_nothing_but_git(tmp_path: Path) -> None:
    with ssh_remote(tmp_path / "ssh", tmp_path / "remotes") as remote:
        argv = ["sh", "-c", f"{remote.ssh_command()} -p {remote.port} {remote.user}@127.0.0.1 touch {tmp_path}/x"]
        assert subprocess.run(argv, capture_output=True, check=False).returncode != 0
        assert not (tmp_path / "x").exists()


@pytest.mark.needs("http-backend")
@pytest.mark.parametrize("encrypted", [False, True])
def test_a_push_over_http_arrives(tmp_path: Path, encrypted: bool) -> None:
    bare_repository(tmp_path / "remotes" / "p.git")
    with http_remote(tmp_path / "remotes", tls=tmp_path / "tls" if encrypted else None) as remote:
        assert "refs/heads/main" in push_and_list(remote, tmp_path)


@pytest.mark.needs("http-backend")
def test_http_says_no_in_each_of_its_ways(tmp_path: Path) -> None:
    bare_repository(tmp_path / "remotes" / "p.git")
    with http_remote(tmp_path / "remotes", credentials=("agent", "secret")) as remote, silent_listener() as other:
        env = git_environment(remote)
        assert git("ls-remote", remote.url("p.git"), env=env).returncode == 128
        with_password = remote.url("p.git").replace("://", "://agent:secret@")
        assert git("ls-remote", with_password, env=env).returncode == 0
        remote.redirect = f"http://127.0.0.1:{other.port}"
        with pytest.raises(subprocess.TimeoutExpired):
            git("ls-remote", remote.url("p.git"), env=env, timeout=1)
        assert other.connections == 1
        remote.redirect, remote.hang = None, True
        with pytest.raises(subprocess.TimeoutExpired):
            git("ls-remote", remote.url("p.git"), env=env, timeout=1)
        remote.hang, remote.status = False, 401
        assert git("ls-remote", with_password, env=env).returncode == 128
