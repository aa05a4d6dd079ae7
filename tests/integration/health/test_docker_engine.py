"""The Docker engine that other tests rely on is real, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from docker_engine import DockerEngine, running_engine

pytestmark = pytest.mark.needs("docker-engine")


def test_a_container_runs_and_a_command_runs_in_it(docker: DockerEngine) -> None:
    docker.run("web", "sleep", "1000")

    assert docker("exec", "web", "echo", "hello").stdout == "hello\n"


def test_a_directory_of_the_host_is_shared_with_a_container(docker: DockerEngine, tmp_path: Path) -> None:
    docker.run("agent", "sh", "-c", "echo . > /shared/git_add.flag", options=["--volume", f"{tmp_path}:/shared"])
    docker("wait", "agent")

    assert (tmp_path / "git_add.flag").read_text() == ".\n"


def test_nothing_is_left_of_an_engine_that_was_stopped() -> None:
    with running_engine() as engine:
        engine.run("web", "sleep", "1000")
        root = engine.root

    assert not root.exists()
    assert not list(Path("/sys/fs/cgroup").glob(f"*/{root.name}"))
    assert root.name not in Path("/proc/self/mountinfo").read_text()
