"""What the host's owner wants to be looked at besides what every host has. Frozen values."""

from __future__ import annotations

from dataclasses import dataclass

DOCKER_HOST = "unix:///var/run/docker.sock"


@dataclass(frozen=True, slots=True)
class HealthConfig:
    """`containers` by name; `docker_host` is where the engine answers: `unix:///PATH` or `tcp://HOST:PORT`."""

    containers: tuple[str, ...] = ()
    docker_host: str = DOCKER_HOST
