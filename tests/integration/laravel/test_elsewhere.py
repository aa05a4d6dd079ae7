"""Workers in a container, and workers of supervisor: restarted there, and seen from the host."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from app_on_host import counted, told
from docker_engine import DockerEngine
from laravel_app import DEADLINE, LaravelApplication, until

from executor.laravel.config import ArtisanSource, LaravelApp, LaravelConfig, RestartBy
from executor.laravel.restart import restart
from executor.laravel.workers import list_workers
from executor.outcome import State
from executor.sandbox.process import ProcessRunner

pytestmark = pytest.mark.needs("laravel")

# The host's PHP, as the container sees it.
PHP = [option for place in ("/usr", "/lib", "/lib64", "/etc/php", "/etc/alternatives")
       for option in ("--volume", f"{place}:{place}:ro")]  # fmt: skip
LOOP = "while true; do php artisan queue:work --queue=emails --sleep=0.2; sleep 0.1; done"


def in_container(app: LaravelApplication, docker: DockerEngine, loop: str) -> LaravelConfig:
    """Start a container in which `loop` runs where the application lies, and return how it is told to the product."""
    place = str(app.directory)
    docker.run("shop", "sh", "-c", loop, options=[*PHP, "--volume", f"{place}:{place}", "--workdir", place])
    agents = (app.directory,)  # inside a container it does not matter whose PHP it is
    inside = LaravelApp(app.directory, container="shop", php="php", docker_host=docker.host, agent_dirs=agents)
    return replace(told(app), app=inside)


@pytest.mark.needs("docker-engine")
def test_e08_without_a_terminal_workers_in_a_container_are_restarted_there_and_the_new_ones_are_seen(
    app: LaravelApplication, docker: DockerEngine, runner: ProcessRunner
) -> None:
    config = in_container(app, docker, LOOP)
    until(lambda: len(list((app.directory / "storage/looping").iterdir())) == 1, "a worker has begun")
    (before,) = list_workers(config.app, runner)
    outcome = restart(config, runner)

    assert (before.container, before.queues) == ("shop", ("emails",))
    assert (outcome.state, outcome.verified["effect"]) == (State.SUCCEEDED, True)
    assert "docker exec" in outcome.output
    assert before.pid not in {worker.pid for worker in list_workers(config.app, runner)}


@pytest.mark.needs("docker-engine")
def test_artisan_in_a_container_counts_although_the_agent_can_write_the_application(
    app: LaravelApplication, docker: DockerEngine, runner: ProcessRunner
) -> None:
    config = replace(in_container(app, docker, "sleep 1000"), source=ArtisanSource())
    app.push("emails", count=3)
    assert counted(config, runner)["emails"].pending == 3


@pytest.mark.needs("docker-engine")
def test_a_container_that_does_not_run_is_said_to_be_so_everywhere(
    app: LaravelApplication, docker: DockerEngine, runner: ProcessRunner
) -> None:
    config = replace(in_container(app, docker, "sleep 1000"), source=ArtisanSource())
    docker("stop", "--time", "0", "shop")
    outcome = restart(config, runner)

    assert not counted(config, runner)["emails"].known
    assert outcome.error is not None
    assert (outcome.state, outcome.error.code) == (State.FAILED, "restart_failed")
    assert "not running" in outcome.error.message


@contextmanager
def supervisor(root: Path, app: LaravelApplication) -> Iterator[Path]:
    """A supervisord with the group `shop` of two workers; yield its configuration file."""
    config = root / "supervisord.conf"
    environment = ",".join(f'{key}="{value}"' for key, value in app.environment.items())
    config.write_text(
        f"[unix_http_server]\nfile={root}/s\n"
        f"[supervisord]\nnodaemon=true\nlogfile=/dev/null\nlogfile_maxbytes=0\npidfile={root}/pid\n"
        "[rpcinterface:supervisor]\n"
        "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n"
        f"[supervisorctl]\nserverurl=unix://{root}/s\n"
        f"[program:shop]\ncommand=/usr/bin/php artisan queue:work --queue=emails --sleep=0.2\n"
        f"directory={app.directory}\nnumprocs=2\nprocess_name=%(program_name)s_%(process_num)02d\n"
        f"environment={environment}\nstartsecs=0\nautorestart=true\nstopwaitsecs=30\n"
    )
    daemon = subprocess.Popen(["/usr/bin/supervisord", "-c", str(config)], stdout=subprocess.DEVNULL)
    try:
        until(lambda: len(list((app.directory / "storage/looping").iterdir())) == 2, "both workers have begun")
        yield config
    finally:
        daemon.terminate()
        daemon.wait(DEADLINE)


@pytest.fixture
def short() -> Iterator[Path]:
    """A directory whose sockets have short names."""
    made = Path(subprocess.check_output(["mktemp", "-d", "/tmp/ogw-s.XXXXXX"], text=True).strip())
    yield made
    for left in made.iterdir():
        left.unlink()
    made.rmdir()


@pytest.mark.needs("supervisor")
def test_a_group_of_supervisor_is_restarted_and_its_new_workers_are_seen(
    short: Path, app: LaravelApplication, runner: ProcessRunner
) -> None:
    with supervisor(short, app) as config:
        asked = told(app, restart_by=RestartBy.SUPERVISORCTL, restart_target="shop", supervisor_config=config)
        before = {worker.pid for worker in list_workers(asked.app, runner)}
        outcome = restart(asked, runner)
        now = {worker.pid for worker in list_workers(asked.app, runner)}

    assert (outcome.state, outcome.verified["effect"]) == (State.SUCCEEDED, True)
    assert (len(before), len(now), before & now) == (2, 2, set())
    assert "restart signal" not in outcome.output  # it does not go through the cache


@pytest.mark.needs("supervisor")
def test_a_group_that_is_not_there_fails_with_supervisors_own_words(
    short: Path, app: LaravelApplication, runner: ProcessRunner
) -> None:
    with supervisor(short, app) as config:
        asked = told(app, restart_by=RestartBy.SUPERVISORCTL, restart_target="shopp", supervisor_config=config)
        outcome = restart(asked, runner)
    assert outcome.error is not None
    assert outcome.error.code == "restart_failed"
    assert "no such group" in outcome.error.message
