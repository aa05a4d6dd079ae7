"""Where settings come from besides the environment: an env file, systemd credentials, and which files to trust."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

from dotenv.parser import parse_stream
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from executor.errors import ConfigError

PREFIX = "GATEWAY_"
LOCATIONS = ("GATEWAY_ENV_FILE", "GATEWAY_CONFIG_FILE")  # where to look; read from the environment alone


class NamedValues(PydanticBaseSettingsSource):
    """Settings out of a mapping of variable names to text; empty ones count as not set (compose passes those)."""

    def __init__(self, settings_cls: type[BaseSettings], values: Mapping[str, str]) -> None:
        super().__init__(settings_cls)
        self._values = values

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._values.get(variable(field_name)) or None, field_name, False

    def __call__(self) -> dict[str, Any]:
        found = {name: self.get_field_value(field, name)[0] for name, field in self.settings_cls.model_fields.items()}
        return {name: value for name, value in found.items() if value is not None}


def variable(field_name: str) -> str:
    """Given the name of a settings field, return its environment variable."""
    return PREFIX + field_name.upper()


def env_file(environ: Mapping[str, str]) -> Path | None:
    """Given the environment, return the env file to read, if any: `GATEWAY_ENV_FILE`, else `./.env`.

    A `.env` inside a git work tree is passed over unless it is named: an agent can write there, and a Laravel
    application keeps its own one there. Raise ConfigError for a named file that is not there, and for any file that
    another user could have written.
    """
    named = environ.get("GATEWAY_ENV_FILE", "")
    path = Path(named).expanduser() if named else Path.cwd() / ".env"
    if not named and (not path.exists() or in_work_tree(path)):
        return None
    return _trusted(path, "GATEWAY_ENV_FILE")


def skipped_env_file(environ: Mapping[str, str]) -> Path | None:
    """Return the `.env` that lies here and is not read because it lies in a git work tree, if there is one."""
    path = Path.cwd() / ".env"
    return path if not environ.get("GATEWAY_ENV_FILE") and path.exists() and in_work_tree(path) else None


def config_file(environ: Mapping[str, str]) -> Path | None:
    """Given the environment, return the `gateway.toml` that `GATEWAY_CONFIG_FILE` names, on the same conditions."""
    named = environ.get("GATEWAY_CONFIG_FILE", "")
    return _trusted(Path(named).expanduser(), "GATEWAY_CONFIG_FILE") if named else None


def in_work_tree(path: Path) -> bool:
    """Return whether a file lies in a git work tree, where an agent can write."""
    return any((parent / ".git").exists() for parent in path.resolve().parents)


def _trusted(path: Path, name: str) -> Path:
    try:
        facts = path.stat()
    except OSError as error:
        what = f"{name}: {path} cannot be read ({error.strerror})"
        raise ConfigError("config_file", what, f"put it there, or correct {name}") from None
    foreign = facts.st_uid not in (0, os.geteuid())
    shared_group = bool(facts.st_mode & stat.S_IWGRP) and facts.st_gid != os.getegid()
    if foreign or shared_group or facts.st_mode & stat.S_IWOTH:
        raise ConfigError(
            "config_file_writable",
            f"{name}: {path} could have been written by somebody else, so it is not read",
            f"chown {os.geteuid()} {path} && chmod 600 {path}",
        )
    return path


def read_env_file(path: Path | None) -> dict[str, str]:
    """Given an env file, return its variables as written, without `$` expansion (systemd and docker do none).

    Raise ConfigError naming the line that is no `NAME=value`.
    """
    if path is None:
        return {}
    try:
        with path.open(encoding="utf-8-sig") as stream:
            bindings = list(parse_stream(stream))
    except PermissionError:
        what = f"{path} cannot be read by uid {os.geteuid()}, which the gateway runs as"
        raise ConfigError("env_file", what, f"sudo chown {os.geteuid()} {path} && sudo chmod 600 {path}") from None
    except (OSError, UnicodeDecodeError):
        raise ConfigError("env_file", f"{path} cannot be read as UTF-8 text", "write it anew as UTF-8") from None
    for binding in bindings:
        if binding.error or (binding.key and binding.value is None):
            text = binding.original.string
            line = binding.original.line + text[: len(text) - len(text.lstrip())].count("\n")
            raise ConfigError(
                "env_file", f"{path}: line {line} is no NAME=value", "put comments on lines of their own"
            )
    return {binding.key: binding.value or "" for binding in bindings if binding.key}


def read_credentials(environ: Mapping[str, str], fields: Mapping[str, FieldInfo]) -> dict[str, str]:
    """Given the environment, return the settings that systemd credentials carry (files named like the variables).

    A setting that names a file becomes the credential's own path, so that a key never has to lie elsewhere.
    """
    directory = environ.get("CREDENTIALS_DIRECTORY", "")
    if not directory:
        return {}
    found: dict[str, str] = {}
    for name, field in fields.items():
        path = Path(directory) / variable(name)
        if not path.is_file():
            continue
        named = _names_a_file(field.annotation)
        found[variable(name)] = str(path) if named else path.read_text(encoding="utf-8").strip()
    return found


def _names_a_file(annotation: object) -> bool:
    return annotation is Path or any(_names_a_file(part) for part in get_args(annotation))


def unknown_variables(names: Iterable[str], fields: Iterable[str]) -> dict[str, str]:
    """Given variable names and the known fields, return the `GATEWAY_*` ones that mean nothing, and what was meant.

    A mistyped `GATEWAY_APROVE` would otherwise silently leave an operation without its approval.
    """
    known = {variable(field) for field in fields} | set(LOCATIONS)
    unknown = sorted(name for name in names if name.startswith(PREFIX) and name not in known)
    return {name: next(iter(difflib.get_close_matches(name, known, n=1)), "") for name in unknown}
