"""What a container may see and do, and what of it an agent's container must not (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

# capabilities(7): each of these is a way out of the container, or around what keeps it in
_WAYS_OUT = frozenset({"ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "SYS_RAWIO", "DAC_READ_SEARCH", "BPF"})


@dataclass(frozen=True, slots=True)
class Bound:
    """A path of the host that a container sees, and whether it can write there."""

    source: PurePath
    writable: bool


@dataclass(frozen=True, slots=True)
class Container:
    """What the engine says of one container, as far as it counts here."""

    name: str
    bounds: tuple[Bound, ...]
    privileged: bool = False
    host_namespaces: tuple[str, ...] = ()  # pid, network, ipc
    capabilities: tuple[str, ...] = ()  # added, without CAP_


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with one container."""

    container: str
    what: str
    mend: str


def container_of(said: Mapping[str, Any]) -> Container:
    """Given the engine's answer to `GET /containers/ID/json`, return what counts; what is missing counts as no."""
    host = said.get("HostConfig") or {}
    modes = {"pid": host.get("PidMode"), "network": host.get("NetworkMode"), "ipc": host.get("IpcMode")}
    mounts = [each for each in said.get("Mounts") or [] if each.get("Source")]
    return Container(
        name=str(said.get("Name", "")).lstrip("/"),
        bounds=tuple(Bound(PurePath(each["Source"]), bool(each.get("RW"))) for each in mounts),
        privileged=bool(host.get("Privileged")),
        host_namespaces=tuple(name for name, mode in modes.items() if mode == "host"),
        capabilities=tuple(str(each).upper().removeprefix("CAP_") for each in host.get("CapAdd") or []),
    )


def judge(
    containers: Sequence[Container],
    *,
    state: PurePath,
    shared: PurePath,
    git_directories: Sequence[PurePath],
    docker_socket: PurePath,
) -> list[Finding]:
    """Given the containers and where things lie on the host (real paths), return what must not be so.

    No container may see the state directory; a git directory in it may be shown read-only. One that sees the
    shared directory is the agent's, and must have no way out: no Docker socket, no privileges, none of the host's
    namespaces.
    """
    found: list[Finding] = []
    for container in containers:
        found += _state_seen(container, state, git_directories)
        if any(_overlap(bound.source, shared) for bound in container.bounds):
            found += _ways_out(container, docker_socket)
    return found


def _state_seen(container: Container, state: PurePath, git_directories: Sequence[PurePath]) -> Iterator[Finding]:
    for bound in container.bounds:
        if not _overlap(bound.source, state):
            continue
        shown = any(bound.source == directory or directory in bound.source.parents for directory in git_directories)
        if not shown:
            what = f"it sees {bound.source}, and so the gateway's state"
            yield Finding(container.name, what, f"take the mount of {bound.source} out of its definition")
        elif bound.writable:
            what = f"it can write the git directory {bound.source}: that is code execution on this host"
            mend = f"mount {bound.source} read-only (:ro), then see that nobody tampered with it"
            yield Finding(container.name, what, mend)


def _ways_out(container: Container, docker_socket: PurePath) -> Iterator[Finding]:
    agents = "it sees the shared directory, so it is the agent's"
    for bound in container.bounds:
        if bound.source == docker_socket or (bound.source in docker_socket.parents and bound.writable):
            what = f"{agents}, and it has the Docker socket: that is root on this host"
            yield Finding(container.name, what, f"take the mount of {bound.source} out of its definition")
    if container.privileged:
        yield Finding(container.name, f"{agents}, and it is privileged: that is root on this host", "take that away")
    for name in container.host_namespaces:
        what = f"{agents}, and it is in the host's {name} namespace"
        yield Finding(container.name, what, f"take {name}: host away")
    for name in sorted(_WAYS_OUT.intersection(container.capabilities)):
        yield Finding(container.name, f"{agents}, and it has the capability {name}", f"take cap_add: {name} away")


def _overlap(one: PurePath, other: PurePath) -> bool:
    return one == other or one in other.parents or other in one.parents
