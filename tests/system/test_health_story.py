"""A container ends: operators are told unasked, see it in /health, and the agent reads it; then it is well again."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from docker_engine import DockerEngine, running_engine
from served_host import ServedHost, until
from telegram_chat import OpsChat, ops_chat

pytestmark = pytest.mark.needs("git", "landlock", "http-backend", "docker-engine")


@pytest.fixture
def docker() -> Iterator[DockerEngine]:
    with running_engine() as engine:
        yield engine


def test_a_container_that_ended_is_told_of_until_it_runs_again(host: ServedHost, docker: DockerEngine) -> None:
    docker.run("shop-app", "sleep", "1000")
    docker("kill", "shop-app")
    docker("wait", "shop-app")
    host.settings |= {"GATEWAY_HEALTH_CONTAINERS": "shop-app", "GATEWAY_HEALTH_DOCKER_HOST": docker.host}
    with ops_chat(host) as chat, host.running():
        chat.shows("container shop-app", "with exit code 137")  # the watch; nobody had asked
        _health(chat, "Not well", "container shop-app: ended", "docker start shop-app")
        seen = host.ask("health_check.h1.flag")
        assert "container shop-app" in seen["verified"]["bad"]
        assert host.cli("health").returncode == 1

        docker("start", "shop-app")
        _health(chat, "container shop-app: runs for", "telegram: last poll")
        data = json.loads(host.cli("health", "--json").stdout)
        levels = {each["probe"]: each["level"] for each in data["findings"]}
        assert (levels["container"], levels["remote"], levels["gateway"]) == ("good", "good", "good")


def _health(chat: OpsChat, *parts: str) -> None:
    """Ask once, and wait for an answer that says all of this."""
    before = len(chat.messages("on test-host · ", "good"))
    chat.ann.says(chat.group, "/health")
    until(lambda: len(chat.messages("on test-host · ", "good")) > before, "an answer to /health")
    chat.shows(*parts)
