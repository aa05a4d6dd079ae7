"""Real transfers in the remote profile: ssh without a shell, https, and no way to where neither goes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from confined_scene import Scene, build_scene
from remotes import SshRemote, bare_repository, http_remote, silent_listener, ssh_remote

from executor.policy.model import Contact
from executor.sandbox.confinement import Profile
from executor.sandbox.environment import ssh_config_program

pytestmark = pytest.mark.needs("landlock", "git")

SSH = Path("/usr/bin/ssh")
NAMES = ("/etc/hosts", "/etc/nsswitch.conf", "/etc/passwd", "/etc/resolv.conf", "/etc/ssl")


def network_profile(scene: Scene, port: int, *read: Path, execute: tuple[Path, ...] = ()) -> Profile:
    bare = scene.profile(Contact.REMOTE, execute=execute, ports=[port])
    return dataclasses.replace(bare, read=(*bare.read, *read, *(Path(name) for name in NAMES if Path(name).exists())))


def ssh_program(scene: Scene, remote: SshRemote, **other: Path) -> Path:
    program = scene.root / "state/ssh"
    options = {
        "BatchMode": "yes",
        "IdentitiesOnly": "yes",
        "IdentityFile": str(other.get("key", remote.key)),
        "StrictHostKeyChecking": "yes",
        "UserKnownHostsFile": str(other.get("known_hosts", remote.known_hosts)),
        "GlobalKnownHostsFile": "none",
    }
    program.write_text(ssh_config_program(SSH, list(options.items())))
    program.chmod(0o555)
    return program


@pytest.mark.needs("sshd")
def test_a_push_over_ssh_needs_no_shell(tmp_path: Path) -> None:
    scene = build_scene(tmp_path)
    with ssh_remote(tmp_path / "sshd", tmp_path / "served") as remote:
        bare = bare_repository(remote.repositories / "project.git")
        program = ssh_program(scene, remote)
        profile = network_profile(scene, remote.port, remote.key, remote.known_hosts, program, execute=(SSH, program))
        push = ("push", "-q", remote.url("project.git"), "HEAD:refs/heads/main")
        scene.ok(*push, contact=Contact.REMOTE, profile=profile, GIT_SSH=str(program), GIT_SSH_VARIANT="ssh")

        assert (bare / "refs/heads/main").read_text().strip() == scene.ok("rev-parse", "HEAD", contact=Contact.NONE)


@pytest.mark.needs("sshd")
def test_c03_ssh_that_would_ask_fails_at_once(tmp_path: Path) -> None:
    scene = build_scene(tmp_path)
    with ssh_remote(tmp_path / "sshd", tmp_path / "served") as remote:
        for other in ({"key": remote.stranger_key}, {"known_hosts": remote.wrong_known_hosts}):
            program = ssh_program(scene, remote, **other)
            files = (remote.stranger_key, remote.key, remote.known_hosts, remote.wrong_known_hosts, program)
            profile = network_profile(scene, remote.port, *files, execute=(SSH, program))
            done = scene.git(
                "ls-remote",
                remote.url("project.git"),
                contact=Contact.REMOTE,
                profile=profile,
                GIT_SSH=str(program),
                GIT_SSH_VARIANT="ssh",
            )
            (scene.root / "state/ssh").unlink()

            assert done.exit_code == 128 and not done.timed_out
            assert b"Permission denied (publickey" in done.stderr or b"Host key verification failed" in done.stderr


@pytest.mark.needs("http-backend")
def test_a_fetch_over_https_works_and_follows_no_redirect_to_another_port(tmp_path: Path) -> None:
    scene = build_scene(tmp_path)
    with http_remote(tmp_path / "served", tls=tmp_path / "tls") as remote, silent_listener() as elsewhere:
        bare_repository(remote.repositories / "project.git")
        assert remote.authority is not None
        profile = network_profile(scene, remote.port, remote.authority)
        ask = ("ls-remote", remote.url("project.git"))
        trust = [("http.sslCAInfo", str(remote.authority))]
        scene.ok(*ask, contact=Contact.REMOTE, profile=profile, config=trust)

        remote.redirect = f"https://localhost:{elsewhere.port}"
        redirected = scene.git(*ask, contact=Contact.REMOTE, profile=profile, config=trust)

        assert redirected.exit_code != 0 and not redirected.timed_out
        assert elsewhere.connections == 0


@pytest.mark.needs("http-backend")
def test_c03_a_remote_that_wants_a_password_is_refused_at_once(tmp_path: Path) -> None:
    scene = build_scene(tmp_path)
    with http_remote(tmp_path / "served", credentials=("user", "password"), tls=tmp_path / "tls") as remote:
        bare_repository(remote.repositories / "project.git")
        assert remote.authority is not None
        done = scene.git(
            "ls-remote",
            remote.url("project.git"),
            contact=Contact.REMOTE,
            profile=network_profile(scene, remote.port, remote.authority),
            config=[("http.sslCAInfo", str(remote.authority))],
        )

    assert done.exit_code == 128 and not done.timed_out
