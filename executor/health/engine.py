"""Asks a Docker engine how a container is, over its own HTTP interface: one GET, no client program, no library.

The engine's socket gives whoever can open it root on the host, and read-only is no setting of it. So nothing here
needs the socket itself: a proxy that lets only `GET /containers/NAME/json` through serves as well.
"""

from __future__ import annotations

import http.client
import json
import socket
from datetime import datetime
from enum import StrEnum
from urllib.parse import quote, urlsplit

from executor.health.containers import Container

_ANSWER_MAX = 4 << 20  # bytes; a container with a long health log and many mounts has some 100 kB
_UNIX, _TCP_PORT = "unix://", 2375


class EngineTrouble(StrEnum):
    """Why an engine did not say how a container is."""

    NOT_THERE = "not there"  # no socket at that path, no such host
    NOT_PERMITTED = "not permitted"  # by the socket's mode, or by a proxy
    REFUSED = "refused"  # nothing listens
    SILENT = "silent"  # no answer within the deadline
    ODD = "odd"  # an answer that is not an engine's


class EngineError(Exception):
    """The engine did not say; `trouble` is why, the text how the system said it."""

    def __init__(self, trouble: EngineTrouble, detail: str) -> None:
        super().__init__(detail)
        self.trouble = trouble


def inspect_container(docker_host: str, name: str, seconds: float) -> Container | None:
    """Return how a container is, None where there is none of that name. Each step may take `seconds`.

    Raises EngineError.
    """
    try:
        status, body = get(docker_host, f"/containers/{quote(name, safe='')}/json", seconds)
    except TimeoutError as error:
        raise EngineError(EngineTrouble.SILENT, f"no answer within {seconds:.0f} s") from error
    except PermissionError as error:
        raise EngineError(EngineTrouble.NOT_PERMITTED, _said(error)) from error
    except (FileNotFoundError, socket.gaierror) as error:
        raise EngineError(EngineTrouble.NOT_THERE, _said(error)) from error
    except ConnectionRefusedError as error:
        raise EngineError(EngineTrouble.REFUSED, _said(error)) from error
    except (OSError, http.client.HTTPException) as error:
        raise EngineError(EngineTrouble.ODD, _said(error)) from error
    if status in (401, 403):
        raise EngineError(EngineTrouble.NOT_PERMITTED, f"HTTP {status}: {_text(body)}")
    if status == 404 and "no such container" in _text(body).lower():
        return None
    if status != 200:
        raise EngineError(EngineTrouble.ODD, f"HTTP {status}: {_text(body)}")
    return _container(body)


def get(docker_host: str, path: str, seconds: float, most: int = _ANSWER_MAX) -> tuple[int, bytes]:
    """Return the status and the first `most` bytes with which the engine answers. Each step may take `seconds`.

    Raises OSError and HTTPException.
    """
    connection = _connection(docker_host, seconds)
    try:
        connection.request("GET", path, headers={"Host": "docker", "Accept": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read(most)
    finally:
        connection.close()


def _connection(docker_host: str, seconds: float) -> http.client.HTTPConnection:
    if docker_host.startswith(_UNIX):
        return _UnixConnection(docker_host.removeprefix(_UNIX), seconds)
    address = urlsplit(docker_host)
    return http.client.HTTPConnection(address.hostname or "", address.port or _TCP_PORT, timeout=seconds)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, seconds: float) -> None:
        super().__init__("docker", timeout=seconds)
        self._path, self._seconds = path, seconds

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._seconds)
        self.sock.connect(self._path)


def _container(body: bytes) -> Container:
    try:
        told = json.loads(body)
        state = told["State"]
        health = state.get("Health") or {}
        return Container(
            status=str(state["Status"]),
            exit_code=int(state["ExitCode"]),
            restarts=int(told["RestartCount"]),
            oom_killed=bool(state["OOMKilled"]),
            started_at=datetime.fromisoformat(state["StartedAt"]),
            finished_at=datetime.fromisoformat(state["FinishedAt"]),
            health=str(health.get("Status", "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EngineError(EngineTrouble.ODD, f"an answer of another form ({type(error).__name__})") from error


def _said(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__


def _text(body: bytes) -> str:
    return body[:300].decode("utf-8", "replace").strip()
