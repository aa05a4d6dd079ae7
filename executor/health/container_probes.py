"""The probes of containers: each asks the engine, and says what is so where the engine does not tell."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

from executor.health import containers
from executor.health.config import HealthConfig
from executor.health.engine import EngineError, EngineTrouble, inspect_container
from executor.health.report import Finding, Level
from executor.health.run import Probe

ANSWER_SECONDS = 5.0  # for each step of asking; the probe as a whole gets twice as long

_WHAT = {
    EngineTrouble.NOT_THERE: "not known: there is no Docker engine where one is configured",
    EngineTrouble.NOT_PERMITTED: "not known: the gateway may not ask the Docker engine",
    EngineTrouble.REFUSED: "not known: nothing listens on the Docker engine's socket",
    EngineTrouble.SILENT: "not known: the Docker engine does not answer",
    EngineTrouble.ODD: "not known: what answered was no Docker engine's answer",
}
_MEND = {
    EngineTrouble.NOT_THERE: "start it, or correct GATEWAY_HEALTH_DOCKER_HOST",
    EngineTrouble.NOT_PERMITTED: (
        "the docker group would let it, and makes its user root on this host. Better a proxy that lets only "
        "GET /containers/NAME/json through (GATEWAY_HEALTH_DOCKER_HOST), or no GATEWAY_HEALTH_CONTAINERS at all"
    ),
    EngineTrouble.REFUSED: "systemctl status docker",
    EngineTrouble.SILENT: "systemctl status docker; an engine that hangs needs a restart",
    EngineTrouble.ODD: "correct GATEWAY_HEALTH_DOCKER_HOST",
}


def container_probes(config: HealthConfig) -> Iterator[Probe]:
    """Yield a probe for each container that is to be looked at."""
    for name in config.containers:
        yield Probe(containers.PROBE, name, partial(_look, config, name), 2 * ANSWER_SECONDS)


def _look(config: HealthConfig, name: str) -> Finding:
    try:
        found = inspect_container(config.docker_host, name, ANSWER_SECONDS)
    except EngineError as error:
        return trouble_of(config.docker_host, name, error)
    if found is None:
        return containers.missing(name)
    return containers.judge(name, found, datetime.now(UTC))


def trouble_of(docker_host: str, name: str, error: EngineError) -> Finding:
    """Return what is so of a container of which the engine at `docker_host` did not say how it is."""
    what, mend = _WHAT[error.trouble], _MEND[error.trouble]
    return Finding(containers.PROBE, name, Level.UNKNOWN, what, mend, f"{docker_host}: {error}")
