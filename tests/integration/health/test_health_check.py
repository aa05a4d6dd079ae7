"""The health check as the agent asks for it by a flag, and as the host's user asks for it on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from docker_engine import DockerEngine
from repos import adopted_repository

from executor.config import ExecutorConfig, RepositoryConfig
from executor.dispatch import Dispatcher
from executor.git.access import RemoteAccess
from executor.health import checks
from executor.health.checks import FILE
from executor.health.config import HealthConfig
from executor.health.gateway import Said
from executor.host_operations import HOST_LANE
from gateway.schedule.heartbeat import write_health

NOBODY = HealthConfig(("web",), "unix:///nonexistent/docker.sock")


@contextmanager
def executor(root: Path, health: HealthConfig = NOBODY) -> Iterator[Dispatcher]:
    """An executor that serves one adopted repository."""
    adopted_repository(root)
    (root / "shared").mkdir()
    config = ExecutorConfig(
        shared_dir=root / "shared",
        state_dir=root / "state",
        repositories=(RepositoryConfig("project", root / "tree", RemoteAccess(allow_local_remote=True)),),
        host="web-1",
        health=health,
    )
    with closing(Dispatcher(config)) as dispatcher:
        dispatcher.recover()
        yield dispatcher


def asked(dispatcher: Dispatcher, root: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Raise the flag; return the result, and what the file beside it says."""
    (root / "shared" / "health_check.h1.flag").touch()
    dispatcher.take(settle=False)
    while dispatcher.run_next(HOST_LANE):
        pass
    result = json.loads((root / "shared/results/h1.json").read_text())
    return result, json.loads((root / "shared" / FILE).read_text())


def of(data: dict[str, Any], probe: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in data["findings"] if each["probe"] == probe)
    return found


def test_a_flag_is_answered_with_text_levels_and_a_file_of_data(tmp_path: Path) -> None:
    with executor(tmp_path) as dispatcher:
        write_health(tmp_path / "state", {"heartbeat": {"completed": {}, "late": []}})
        result, data = asked(dispatcher, tmp_path)

    assert (result["state"], result["class"], result["exit_code"]) == ("succeeded", "read", None)
    assert result["verified"]["health"] == data["level"]
    assert "container web" in result["verified"]["unknown"]
    assert result["output"].startswith(f"web-1 is {data['level']}: ")
    assert {each["probe"] for each in data["findings"]} >= {"container", "disk", "memory", "remote", "gateway"}
    assert of(data, "gateway")["level"] == "good"


def test_the_agent_learns_how_things_are_and_not_where_they_lie(tmp_path: Path) -> None:
    with executor(tmp_path) as dispatcher:
        (tmp_path / "remotes" / "project.git").rename(tmp_path / "elsewhere.git")
        result, data = asked(dispatcher, tmp_path)
        full = dispatcher.health_checks.look()

    published = result["output"] + json.dumps([result["verified"], data])
    assert "cannot be reached" in published
    for hidden in (str(tmp_path), "nonexistent", "docker.sock", "docker group"):
        assert hidden not in published
    assert any("nonexistent" in each.detail for each in full.findings)


@pytest.mark.needs("docker-engine")
def test_a_container_that_ended_makes_the_check_bad_and_the_request_succeed(
    tmp_path: Path, docker: DockerEngine
) -> None:
    docker.run("web", "sh", "-c", "exit 7")
    docker("wait", "web")
    with executor(tmp_path, HealthConfig(("web",), docker.host)) as dispatcher:
        result, data = asked(dispatcher, tmp_path)

    assert (result["state"], data["level"]) == ("succeeded", "bad")
    assert "container web" in result["verified"]["bad"]
    assert of(data, "container")["facts"]["exit_code"] == 7


def ops_gateway(root: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "GATEWAY_SHARED_DIR": str(root / "shared"),
        "GATEWAY_STATE_DIR": str(root / "state"),
        "GATEWAY_REPO_DIR": str(root / "project"),
        "GATEWAY_HOST_NAME": "web-1",
        **settings,
    }
    (root / "shared").mkdir(exist_ok=True)
    (root / "project").mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "gateway", *words],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=160,
    )


def test_without_a_gateway_the_command_says_so_and_exits_with_1(tmp_path: Path) -> None:
    done = ops_gateway(tmp_path, "health", "--json")

    data = json.loads(done.stdout)
    assert (done.returncode, data["level"]) == (1, "bad")
    assert of(data, "gateway")["what"] == "no gateway runs: flags wait"
    assert of(data, "disk")["facts"]["total_bytes"] > 0


def test_a_person_reads_each_finding_with_its_mend_worst_first(tmp_path: Path) -> None:
    done = ops_gateway(tmp_path, "health", GATEWAY_HEALTH_CONTAINERS="web", GATEWAY_HEALTH_DOCKER_HOST="unix:///none")

    lines = done.stdout.splitlines()
    assert lines[0].startswith("web-1 is bad: ")
    assert lines.index("BAD     gateway") < lines.index("UNKNOWN container web")
    assert any(line.startswith("  mend:") for line in lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("GATEWAY_HEALTH_CONTAINERS", "web,../x"),
        ("GATEWAY_HEALTH_CONTAINERS", "web, --all"),
        ("GATEWAY_HEALTH_DOCKER_HOST", "http://docker"),
        ("GATEWAY_HEALTH_DOCKER_HOST", "unix://relative"),
    ],
)
def test_a_setting_that_cannot_be_is_named_and_its_value_is_not(tmp_path: Path, setting: str, value: str) -> None:
    done = ops_gateway(tmp_path, "health", **{setting: value})

    assert done.returncode == 78
    assert setting in done.stderr
    assert value not in done.stderr


def test_a_flood_of_checks_is_one_look_in_some_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "KEPT_SECONDS", 3600.0)
    with executor(tmp_path) as dispatcher:
        for number in range(20):
            (tmp_path / "shared" / f"health_check.h{number}.flag").touch()
        dispatcher.take(settle=False)
        while dispatcher.run_next(HOST_LANE):
            pass
    outputs = [
        json.loads((tmp_path / f"shared/results/h{number}.json").read_text())["output"] for number in range(20)
    ]

    assert len(set(outputs)) == 1
    assert outputs[0]


def test_what_a_watch_finds_bad_is_a_trouble_until_it_is_well_and_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "AGAIN_SECONDS", 0.0)
    with executor(tmp_path) as dispatcher:
        (tmp_path / "shared").rename(tmp_path / "away")
        dispatcher.watch_health()
        assert dispatcher.troubles()["disk shared directory"] == "is not there"
        told = dispatcher.health_checks.look(Said(dispatcher.health()))
        assert [each.probe for each in told.findings if "shared directory" in each.subject] == ["disk"]

        (tmp_path / "away").rename(tmp_path / "shared")
        dispatcher.watch_health()
        assert "disk shared directory" not in dispatcher.troubles()


class Moment(threading.Event):
    """The pause before the second look, in which something happens."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__()
        self._happens = happens

    def wait(self, timeout: float | None = None) -> bool:
        self._happens()
        return False


def test_what_is_well_again_a_moment_later_is_no_trouble(tmp_path: Path) -> None:
    shared, away = tmp_path / "shared", tmp_path / "away"
    with executor(tmp_path) as dispatcher:
        shared.rename(away)
        dispatcher.health_checks.watch(Moment(lambda: away.rename(shared)))

    assert dispatcher.health_checks.troubles() == {}


def test_a_watch_that_is_cut_short_by_the_end_tells_nothing_new(tmp_path: Path) -> None:
    stopping = threading.Event()
    stopping.set()
    with executor(tmp_path) as dispatcher:
        (tmp_path / "shared").rename(tmp_path / "away")
        dispatcher.health_checks.watch(stopping)

    assert dispatcher.health_checks.troubles() == {}
