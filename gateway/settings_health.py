"""The settings about the health of the host: what to look at besides what every host has."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator
from pydantic_settings import NoDecode

from executor.health.config import DOCKER_HOST, HealthConfig
from gateway.settings_fields import setting
from gateway.settings_values import words_like

_CONTAINER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{1,127}")  # as the engine takes it
_CONTAINERS_MOST = 50  # each is asked for side by side
_DOCKER_HOST = re.compile(r"unix:///\S+|tcp://[A-Za-z0-9.-]+(:[0-9]{1,5})?")


def _container_names(value: object) -> tuple[str, ...]:
    names = words_like(value, _CONTAINER, "a container's name")
    if len(names) > _CONTAINERS_MOST:
        raise ValueError(f"are more than {_CONTAINERS_MOST}")
    return tuple(dict.fromkeys(names))


def _docker_host(text: str) -> str:
    if not _DOCKER_HOST.fullmatch(text):
        raise ValueError("must be unix:// and an absolute path, or tcp://HOST:PORT")
    return text


class HealthSettings(BaseModel):
    """What GATEWAY_HEALTH_* says; a base of the settings as a whole."""

    health_containers: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_container_names)] = setting(
        "Containers that are expected to run, by name: the health check says how they are. Without any Docker is not "
        "asked.",
        "shop-app,shop-redis",
        default=(),
    )
    health_docker_host: Annotated[str, AfterValidator(_docker_host)] = setting(
        "Where Docker is asked. Whoever can open Docker's own socket is root on this host; a proxy that lets only "
        "GET /containers/NAME/json through is enough. Default: unix:///var/run/docker.sock.",
        "tcp://127.0.0.1:2375",
        default=DOCKER_HOST,
    )

    @property
    def health(self) -> HealthConfig:
        """What the executor is told to look at."""
        return HealthConfig(self.health_containers, self.health_docker_host)
