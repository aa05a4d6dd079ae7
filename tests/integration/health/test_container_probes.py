"""Containers as a real Docker engine tells of them; and engines that refuse, are gone, or never answer."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from docker_engine import DockerEngine
from probing import probed

from executor.health.config import HealthConfig
from executor.health.container_probes import container_probes
from executor.health.engine import EngineError, EngineTrouble, inspect_container
from executor.health.report import Finding, Level, report

ENGINE = pytest.mark.needs("docker-engine")
PATIENCE = 90.0  # s until something must have come to be so
ANSWER = 60.0  # s for an engine on a busy machine


def looked_at(docker_host: str, *names: str) -> list[Finding]:
    """What the probes find."""
    return probed(container_probes(HealthConfig(names, docker_host)))


def becomes(docker: DockerEngine, name: str, so: Callable[[Finding], bool]) -> Finding:
    """Look until it is so."""
    give_up = time.monotonic() + PATIENCE
    while not so(found := looked_at(docker.host, name)[0]):
        assert time.monotonic() < give_up, found
        time.sleep(0.1)
    return found


@ENGINE
def test_a_container_that_runs_is_good(docker: DockerEngine) -> None:
    docker.run("web", "sleep", "1000")

    (found,) = looked_at(docker.host, "web")
    assert (found.level, found.facts["status"], found.facts["restarts"]) == (Level.GOOD, "running", 0)


@ENGINE
def test_a_container_that_ended_is_bad_and_says_how_it_ended(docker: DockerEngine) -> None:
    docker.run("web", "sh", "-c", "exit 3")
    docker("wait", "web")

    (found,) = looked_at(docker.host, "web")
    assert found.level is Level.BAD
    assert "exit code 3" in found.what


@ENGINE
def test_a_container_that_restarts_again_and_again_is_bad(docker: DockerEngine) -> None:
    docker.run("web", "sh", "-c", "exit 3", options=["--restart", "always"])

    found = becomes(docker, "web", lambda each: each.facts.get("status") == "restarting")
    assert found.level is Level.BAD
    assert isinstance(found.facts["restarts"], int)


@ENGINE
def test_a_container_whose_own_health_check_fails_is_bad(docker: DockerEngine) -> None:
    check = ["--health-cmd", "exit 1", "--health-interval", "1s", "--health-retries", "1"]
    docker.run("web", "sleep", "1000", options=check)

    found = becomes(docker, "web", lambda each: each.facts.get("health") == "unhealthy")
    assert found.level is Level.BAD
    assert "health check fails" in found.what


@ENGINE
def test_a_container_that_was_killed_for_lack_of_memory_says_so(docker: DockerEngine) -> None:
    docker.run("web", "sh", "-c", "x=a; while true; do x=$x$x; done", options=["--memory", "16m"])
    docker("wait", "web")

    (found,) = looked_at(docker.host, "web")
    assert (found.level, found.facts["oom_killed"]) == (Level.BAD, True)
    assert "lack of memory" in found.what


@ENGINE
def test_a_container_that_is_paused_is_bad(docker: DockerEngine) -> None:
    docker.run("web", "sleep", "1000")
    docker("pause", "web")
    try:
        (found,) = looked_at(docker.host, "web")
    finally:
        docker("unpause", "web")
    assert (found.level, found.what) == (Level.BAD, "is paused")


@ENGINE
def test_a_container_that_is_not_there_is_bad_and_the_others_are_told(docker: DockerEngine) -> None:
    docker.run("web", "sleep", "1000")

    found = looked_at(docker.host, "web", "queue")
    assert [each.level for each in found] == [Level.GOOD, Level.BAD]
    assert "no container of this name" in found[1].what


@ENGINE
@pytest.mark.needs("unprivileged-user")
def test_e09_who_may_not_open_the_socket_knows_nothing_and_reads_what_membership_grants(docker: DockerEngine) -> None:
    docker.run("web", "sleep", "1000")
    docker.root.chmod(0o755)
    with as_nobody():
        (found,) = looked_at(docker.host, "web")

    assert found.level is Level.UNKNOWN
    assert "may not ask" in found.what
    assert "root on this host" in found.mend
    assert "proxy" in found.mend


@pytest.mark.parametrize("kind", ["absent", "deaf"])
def test_e09_an_engine_that_is_not_there_is_unknown_and_not_down(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "docker.sock"
    if kind == "deaf":  # the file of a socket on which nobody listens any more
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(path))

    (found,) = looked_at(f"unix://{path}", "web")
    assert found.level is Level.UNKNOWN
    assert ("nothing listens" if kind == "deaf" else "no Docker engine") in found.what


def test_e09_an_engine_that_never_answers_is_unknown(tmp_path: Path) -> None:
    with listening(tmp_path) as docker_host, pytest.raises(EngineError) as error:
        inspect_container(docker_host, "web", 0.2)

    assert error.value.trouble is EngineTrouble.SILENT


def test_an_engine_that_hangs_is_told_once_for_all_containers(tmp_path: Path) -> None:
    with listening(tmp_path) as docker_host:
        probes = container_probes(HealthConfig(("web", "queue"), docker_host))
        found = probed(probes, 0.1)

    (told,) = report("web-1", datetime.now(UTC), found).findings
    assert (told.level, told.subject) == (Level.UNKNOWN, "web, queue")


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", EngineTrouble.NOT_PERMITTED),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found", EngineTrouble.ODD),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", EngineTrouble.ODD),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"State": 1}', EngineTrouble.ODD),
        (b"SSH-2.0-OpenSSH_9.2\r\n", EngineTrouble.ODD),
        (b"", EngineTrouble.ODD),
    ],
)
def test_what_answers_otherwise_than_an_engine_is_told_apart(
    tmp_path: Path, answer: bytes, trouble: EngineTrouble
) -> None:
    with listening(tmp_path, answer) as docker_host, pytest.raises(EngineError) as error:
        inspect_container(docker_host, "web", ANSWER)

    assert error.value.trouble is trouble


def test_a_proxy_on_a_port_is_asked_for_one_container_only(tmp_path: Path) -> None:
    answer = b'HTTP/1.1 404 Not Found\r\nContent-Length: 36\r\n\r\n{"message":"No such container: web"}'
    asked: list[bytes] = []
    with listening(tmp_path, answer, tcp=True, asked=asked) as docker_host:
        assert inspect_container(docker_host, "web", ANSWER) is None

    assert asked[0].startswith(b"GET /containers/web/json HTTP/1.1\r\n")


@contextmanager
def listening(
    root: Path, answer: bytes | None = None, *, tcp: bool = False, asked: list[bytes] | None = None
) -> Iterator[str]:
    """What looks like an engine and answers with `answer`, or with None accepts and says nothing; its address."""
    with socket.socket(socket.AF_INET if tcp else socket.AF_UNIX) as server:
        server.bind(("127.0.0.1", 0) if tcp else str(root / "docker.sock"))
        server.listen(8)

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                said = connection.recv(65536)
                if asked is not None:
                    asked.append(said)
                connection.sendall(answer or b"")

        if answer is not None:
            threading.Thread(target=serve, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}" if tcp else f"unix://{root / 'docker.sock'}"


@contextmanager
def as_nobody() -> Iterator[None]:
    """Be another user for the kernel's checks, in every thread that is started meanwhile."""
    os.setegid(65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
