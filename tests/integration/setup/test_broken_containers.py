"""Containers that see what they must not, on a real Docker engine."""

from __future__ import annotations

import os

import pytest
from docker_engine import DockerEngine
from set_up_host import SetUpHost

pytestmark = pytest.mark.needs("git", "landlock", "docker-engine", "unprivileged-user")


@pytest.fixture
def docker_host(host: SetUpHost, docker: DockerEngine) -> SetUpHost:
    """A host whose account may use the engine, as a member of the group docker may."""
    host.environment["DOCKER_HOST"] = docker.host
    docker.root.chmod(0o711)
    os.chown(docker.socket, 0, host.group)
    docker.socket.chmod(0o660)
    return host


def test_whoever_may_use_the_socket_is_told_what_that_is(docker_host: SetUpHost, docker: DockerEngine) -> None:
    found = docker_host.doctor()["docker"]
    assert found["state"] == "warn"
    assert "root on the host" in found["what"]

    docker.socket.chmod(0o600)

    assert docker_host.doctor()["docker"]["state"] == "ok"


def test_an_agents_container_as_it_should_be_is_found_good(docker_host: SetUpHost, docker: DockerEngine) -> None:
    local = docker_host.state / "repos" / "shop" / "local.git"
    mounts = [f"{docker_host.shared}:/shared", f"{docker_host.tree}:/work", f"{local}:{local}:ro"]
    docker.run("agent", "sleep", "1000", options=[word for mount in mounts for word in ("--volume", mount)])

    found = docker_host.doctor()

    assert found["containers"]["state"] == "ok"
    assert not [name for name in found if name.startswith("container ")]


def test_what_a_container_must_not_see_or_be_is_named_with_its_mend(
    docker_host: SetUpHost, docker: DockerEngine
) -> None:
    shared = ("--volume", f"{docker_host.shared}:/shared")
    local = docker_host.state / "repos" / "shop" / "local.git"
    for name, options in {
        "state": ("--volume", f"{docker_host.state}:/state:ro"),
        "git": (*shared, "--volume", f"{local}:/git"),
        "socket": (*shared, "--volume", f"{docker.socket}:/docker.sock"),
        "pids": (*shared, "--pid", "host"),
    }.items():
        docker.run(name, "sleep", "1000", options=options)

    found = docker_host.doctor()

    for name, part in {
        "state": f"take the mount of {docker_host.state} out",
        "git": "read-only",
        "socket": f"take the mount of {docker.socket} out",
        "pids": "pid: host",
    }.items():
        assert found[f"container {name}"]["state"] == "fail"
        assert part in found[f"container {name}"]["mend"]
    docker("rm", "--force", "state", "git", "socket", "pids")
    assert not [name for name in docker_host.doctor() if name.startswith("container ")]


def test_e09_an_engine_that_does_not_answer_is_a_warning_and_the_other_checks_go_on(
    docker_host: SetUpHost, docker: DockerEngine
) -> None:
    docker_host.environment["DOCKER_HOST"] = f"unix://{docker_host.shared}"  # there, and no socket

    found = docker_host.doctor()

    assert found["containers"]["state"] == "warn"
    assert "gateway" in found
