"""Read the settings, and say what is wrong with them without repeating a value."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from pydantic import ValidationError

from executor.errors import ConfigError
from gateway import settings_queues
from gateway import settings_sources as sources
from gateway import settings_values as values
from gateway.settings_model import Settings
from gateway.settings_paths import overlaps


def load() -> Settings:
    """Read the settings from everywhere they may stand.

    Raise ConfigError naming each variable that cannot be used, with an example, and never with its value.
    """
    try:
        settings = Settings()
    except ValidationError as error:
        raise ConfigError("settings", _explained(error), _hint()) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("settings", f"GATEWAY_CONFIG_FILE: not TOML: {error}") from None
    problems = _contradictions(settings)
    if problems:
        raise ConfigError("settings", "; ".join(problems), _hint())
    return settings


def configured() -> bool:
    """Return whether anything is configured here at all, rightly or wrongly."""
    named = any(name.startswith(sources.PREFIX) for name in os.environ)
    return named or bool(sources.read_env_file(sources.env_file(os.environ)))


def unsafe_choices(settings: Settings) -> list[str]:
    """Given settings, return what was chosen that weakens a promise, one sentence each."""
    said = []
    if settings.unsafe_run_without_confinement:
        said.append("GATEWAY_UNSAFE_RUN_WITHOUT_CONFINEMENT: git runs even where the kernel cannot confine it")
    if settings.unsafe_allow_local_remotes:
        said.append("GATEWAY_UNSAFE_ALLOW_LOCAL_REMOTES: a remote may be a directory of this host")
    said.extend(
        f"submodules in {repository.name}: git starts inside nested repositories that the agent writes; "
        "only the kernel keeps that harmless"
        for repository in settings.served
        if repository.allow_submodules
    )
    said.extend(
        f"Git LFS in {repository.name}: a second program reads what the agent writes; only the kernel confines it"
        for repository in settings.served
        if repository.allow_lfs
    )
    return said


def stray_names() -> list[str]:
    """Return one sentence for each `GATEWAY_*` variable of the environment that means nothing here."""
    unknown = sources.unknown_variables(os.environ, Settings.model_fields)
    return [f"{name} is no setting{f'; {near} is' if near else ''}" for name, near in unknown.items()]


def _hint() -> str:
    skipped = sources.skipped_env_file(os.environ)
    if skipped is not None:
        return f"{skipped} lies in a git work tree and was not read; move it out, or name it in GATEWAY_ENV_FILE"
    return "docs/settings.md describes every setting"


def _explained(error: ValidationError) -> str:
    """Given a validation error, return it as text made of location and message alone: the input may be a secret."""
    said = []
    for entry in error.errors(include_url=False, include_context=False, include_input=False):
        field, *deeper = entry["loc"] or ("settings",)
        name = sources.variable(str(field)) if not deeper else ".".join(map(str, entry["loc"]))
        message = "is not set" if entry["type"] == "missing" else entry["msg"].removeprefix("Value error, ")
        known = Settings.model_fields.get(str(field))
        example = f" (example: {name}={known.examples[0]})" if known and known.examples and not deeper else ""
        said.append(f"{name}: {message}{example}")
    return "; ".join(said)


def _contradictions(settings: Settings) -> list[str]:
    """Given settings that are each right, return what cannot stand together, one sentence each."""
    said = _unknown_in_files()
    names = [repository.name for repository in settings.served]
    if not names:
        said.append("GATEWAY_REPO_DIR: is not set (example: GATEWAY_REPO_DIR=/srv/agent/shop)")
    said.extend(
        f"repositories: the name {name} is given twice" for name in sorted({n for n in names if names.count(n) > 1})
    )
    return said + _half_a_chat(settings) + settings_queues.contradictions(settings) + _misplaced(settings)


def _half_a_chat(settings: Settings) -> list[str]:
    """A bot without a chat has nobody to tell, and a chat without a bot nobody to do it."""
    token, chat = settings.telegram_bot_token.get_secret_value(), settings.telegram_chat_id
    if token and chat is None:
        return ["GATEWAY_TELEGRAM_CHAT_ID: is not set (example: GATEWAY_TELEGRAM_CHAT_ID=-1001234567890)"]
    if not token and (chat is not None or settings.telegram_operator_ids):
        return ["GATEWAY_TELEGRAM_BOT_TOKEN: is not set, and the other GATEWAY_TELEGRAM_ settings are"]
    return []


def _unknown_in_files() -> list[str]:
    said = []
    env_file = sources.env_file(os.environ)
    for name, near in sources.unknown_variables(sources.read_env_file(env_file), Settings.model_fields).items():
        said.append(f"{env_file}: {name} is no setting{f'; did you mean {near}?' if near else ''}")
    config_file = sources.config_file(os.environ)
    given = tomllib.loads(config_file.read_text(encoding="utf-8")) if config_file else {}
    for name in sorted(set(given) - set(Settings.model_fields)):
        said.append(f"{config_file}: {name} is no setting")
    return said


def _misplaced(settings: Settings) -> list[str]:
    trusted: dict[str, Path | None] = {
        "GATEWAY_ENV_FILE": sources.env_file(os.environ),
        "GATEWAY_CONFIG_FILE": sources.config_file(os.environ),
        "GATEWAY_QUEUE_SUPERVISOR_CONFIG": settings.queue_supervisor_config,
        "GATEWAY_DATABASE_URL": values.sqlite_file(settings.database_url.get_secret_value()),
    }
    trees = {}
    for repository in settings.served:
        own = repository.path == settings.repo_dir
        trees["GATEWAY_REPO_DIR" if own else f"repositories.{repository.name}"] = repository.path
        for file in ("ssh_key", "known_hosts", "credential_file", "ca_file", "ssh_agent"):
            name = sources.variable(file) if own else f"repositories.{repository.name}.{file}"
            trusted[name] = getattr(repository, file)
    return overlaps(shared=settings.shared_dir, state=settings.state_dir, work_trees=trees, trusted=trusted)
