"""One service of a compose file as the words of `docker run`, strictly: what is not known here is an error.

The engine is what the tests have; Compose itself need not be installed. Only the long forms are understood that
deploy/docker-compose.yml uses, so a key that does nothing here cannot be mistaken for one that protects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

_VARIABLE = re.compile(r"\$\{([A-Z_]+)(?::\?([^}]*))?\}")


class ComposeError(AssertionError):
    """The file says something that is not understood, or leaves something open."""


def interpolated(value: Any, variables: Mapping[str, str]) -> Any:
    """Put variables in their places, everywhere in a value; one that is missing or empty is an error."""

    def filled(match: re.Match[str]) -> str:
        if not variables.get(match[1]):
            raise ComposeError(f"{match[1]}: {match[2] or 'is not set'}")
        return variables[match[1]]

    if isinstance(value, str):
        return _VARIABLE.sub(filled, value)
    if isinstance(value, list):
        return [interpolated(item, variables) for item in value]
    if isinstance(value, dict):
        return {key: interpolated(item, variables) for key, item in value.items()}
    return value


def _repeated(option: str) -> Callable[[Any], list[str]]:
    return lambda values: [word for value in values for word in (option, str(value))]


def _single(option: str) -> Callable[[Any], list[str]]:
    return lambda value: [option, str(value)]


def _switch(option: str) -> Callable[[Any], list[str]]:
    return lambda value: [option] if value is True else _unknown(f"{option} {value!r}")


def _volumes(volumes: list[dict[str, Any]]) -> list[str]:
    words: list[str] = []
    for volume in volumes:
        known = {"type", "source", "target", "read_only", "bind"}
        if set(volume) - known or volume["type"] != "bind" or volume["bind"] != {"create_host_path": False}:
            _unknown(f"volume {volume}")
        mount = f"type=bind,source={volume['source']},target={volume['target']}"
        words += ["--mount", mount + (",readonly" if volume.get("read_only") else "")]
    return words


def _unknown(what: str) -> list[str]:
    raise ComposeError(f"not understood: {what}")


_KEYS: dict[str, Callable[[Any], list[str]]] = {
    "user": _single("--user"),
    "working_dir": _single("--workdir"),
    "init": _switch("--init"),
    "restart": _single("--restart"),
    "network_mode": _single("--network"),
    "cap_drop": _repeated("--cap-drop"),
    "security_opt": _repeated("--security-opt"),
    "read_only": _switch("--read-only"),
    "ipc": _single("--ipc"),
    "tmpfs": _repeated("--tmpfs"),
    "pids_limit": _single("--pids-limit"),
    "mem_limit": _single("--memory"),
    "memswap_limit": _single("--memory-swap"),
    "environment": lambda values: [word for name, value in values.items() for word in ("--env", f"{name}={value}")],
    "volumes": _volumes,
}


def docker_run(file: Path, service: str, variables: Mapping[str, str], more: list[str] | None = None) -> list[str]:
    """Return the words after `docker` that run this service in the background; `more` options come last."""
    whole = yaml.safe_load(file.read_text())
    if set(whole) - {"name", "services"}:
        _unknown(f"top-level keys {sorted(whole)}")
    keys = interpolated(whole["services"][service], variables)
    image, command = keys.pop("image"), keys.pop("command")
    words = ["run", "--detach", "--name", f"{whole['name']}-{service}"]
    for key, value in keys.items():
        words += _KEYS[key](value) if key in _KEYS else _unknown(f"key {key}")
    return [*words, *(more or []), image, *command]
