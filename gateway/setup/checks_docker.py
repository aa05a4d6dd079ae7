"""Checks of Docker: who may use its socket is root on the host, and no container may see the gateway's state."""

from __future__ import annotations

import grp
import http.client
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from executor.health import engine
from executor.health.config import DOCKER_HOST
from gateway.settings_model import Settings
from gateway.setup import mends
from gateway.setup.check import Check, fail, ok, warn
from gateway.setup.container_facts import Container, container_of, judge

_DEFAULT_SOCKET = Path(DOCKER_HOST.removeprefix("unix://"))
_SECONDS = 5.0
_ANSWER_BYTES = 8 << 20  # the list of all containers, too


def docker(settings: Settings) -> Iterator[Check]:
    """Whether this user holds the host through Docker, and whether a container is let in where it must not be."""
    path = socket_path()
    if path is None or not path.exists():
        yield ok("docker", "there is no Docker socket on this host")
        return
    if not os.access(path, os.R_OK | os.W_OK):
        what = f"{mends.account()} cannot use {path}, which is as it should be"
        yield ok("docker", what, "as root, `ops-gateway doctor` also looks at what containers may see")
    elif os.geteuid() != 0:
        yield _holds_the_host(path)
    try:
        containers = [container_of(each) for each in ask(path)] if os.access(path, os.R_OK | os.W_OK) else []
    except (OSError, ValueError, http.client.HTTPException) as error:
        what = f"{path} does not answer: {str(error) or type(error).__name__}"
        yield warn("containers", what, "see that Docker runs")
        return
    yield from _containers(settings, path, containers)


def _containers(settings: Settings, path: Path, containers: Sequence[Container]) -> Iterator[Check]:
    roots = [settings.state_dir / "repos" / each.name for each in settings.served]
    findings = judge(
        containers,
        state=Path(os.path.realpath(settings.state_dir)),
        shared=Path(os.path.realpath(settings.shared_dir)),
        git_directories=[Path(os.path.realpath(root)) / "local.git" for root in roots],
        docker_socket=Path(os.path.realpath(path)),
    )
    for finding in findings:
        yield fail(f"container {finding.container}", finding.what, finding.mend)
    if containers and not findings:
        yield ok("containers", f"{len(containers)} run, and none sees the state or is the agent's and has a way out")


def _holds_the_host(path: Path) -> Check:
    name = mends.account()
    what = f"{name} may use {path}: whoever can is root on the host, so a mistake of the gateway's would be root's"
    groups = [group.gr_name for group in grp.getgrall() if name in group.gr_mem]
    group = grp.getgrgid(path.stat().st_gid).gr_name if _known(path.stat().st_gid) else ""
    mend = "look at containers through a proxy that can only read, or leave them out of queues and health checks"
    if group in groups:
        command = mends.as_root("gpasswd", "-d", name, group)
        return warn("docker", what, f"{mend}; and take it out of the group", command)
    return warn("docker", what, mend)


def _known(gid: int) -> bool:
    try:
        grp.getgrgid(gid)
    except KeyError:
        return False
    return True


def socket_path() -> Path | None:
    """Return the socket that Docker's own client would use; None for a Docker that is reached over the network."""
    named = os.environ.get("DOCKER_HOST", "")
    if named:
        return Path(named.removeprefix("unix://")) if named.startswith("unix:///") else None
    rootless = Path(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent")) / "docker.sock"
    return rootless if rootless.exists() else _DEFAULT_SOCKET


def ask(path: Path) -> list[dict[str, Any]]:
    """Return what the engine says of each running container (Engine API, `GET /containers/ID/json`).

    Raise OSError or HTTPException where it cannot be asked, ValueError where it answers something else.
    """
    running = _told(path, "/containers/json")
    return [_told(path, f"/containers/{each['Id']}/json") for each in running]


def _told(path: Path, target: str) -> Any:
    status, body = engine.get(f"unix://{path}", target, _SECONDS, _ANSWER_BYTES)
    if status != http.client.OK:
        raise ValueError(f"{target} is answered with {status}")
    return json.loads(body)
