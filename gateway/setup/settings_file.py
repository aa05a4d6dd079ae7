"""The file that `init` writes: which one it is, what is in it, whether a new text would do, and replacing it."""

from __future__ import annotations

import os
import secrets
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from executor.errors import ConfigError, Refused
from gateway import settings as configuration
from gateway import settings_sources as sources
from gateway.settings_model import Settings
from gateway.settings_paths import overlaps
from gateway.settings_values import split_list
from gateway.setup import env_text, mends, toml_text

_HEADER = "# Settings of ops-gateway, written by `ops-gateway init`. docs/settings.md describes every setting.\n"
_NUMBERS = ("telegram_chat_id", "telegram_topic_id")
_LISTS = ("approve", "protected_branches", "queue_names", "telegram_operator_ids")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """An env file, or with `toml` a gateway.toml. `path` is absolute."""

    path: Path
    toml: bool = False

    @property
    def named_in(self) -> str:
        """The variable that names such a file."""
        return "GATEWAY_CONFIG_FILE" if self.toml else "GATEWAY_ENV_FILE"

    @property
    def found_by_itself(self) -> bool:
        """Whether it is read without being named: `.env` where ops-gateway is started."""
        return not self.toml and self.path == Path.cwd() / ".env" and "GATEWAY_ENV_FILE" not in os.environ

    def text(self) -> str:
        """Return what is in it, "" if it is not there. Raise Refused where it cannot be read."""
        try:
            return self.path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            command = mends.as_root("chown", mends.account(), self.path)
            raise Refused("settings_file", f"{self.path} cannot be read: {error}", command) from error

    def values(self) -> dict[str, str]:
        """Return what it sets, by the settings' names, as text."""
        text = self.text()
        if not self.toml:
            return {
                name.removeprefix(sources.PREFIX).lower(): value for name, value in env_text.assignments(text).items()
            }
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise Refused("settings_file", f"{self.path} is no TOML: {error}", "mend or move it away first") from None
        return {key: _as_text(value) for key, value in found.items() if isinstance(value, str | int | list)}

    def with_values(self, values: Mapping[str, str]) -> str:
        """Return its text with these settings put in. Raise Refused where that cannot be done, naming the setting."""
        for name, value in values.items():
            if why := env_text.problem(value):
                said = f"{sources.variable(name)}: the value cannot be written, {why}"
                raise Refused("unreadable_value", said, "choose another value; another name for a directory, say")
        text = self.text() or _HEADER
        described = {name: (Settings.model_fields[name].description or "").partition(". ")[0] for name in values}
        try:
            if self.toml:
                typed = {name: _as_toml(name, value) for name, value in values.items()}
                return toml_text.merged(text, typed, described)
            comments = {sources.variable(name): described[name] for name in values}
            return env_text.merged(text, {sources.variable(name): values[name] for name in values}, comments)
        except (ValueError, tomllib.TOMLDecodeError) as error:
            names = ", ".join(map(sources.variable, values))
            raise Refused("settings_file", f"{self.path}: {error}", f"set these by hand there: {names}") from None

    def checked(self, text: str) -> Settings:
        """Return the settings as they would be with `text` in the file; nothing is written. Raise ConfigError."""
        with self._as_if(text) as stand_in:
            try:
                settings = configuration.load()
            except ConfigError as problem:
                said = problem.message.replace(stand_in, str(self.path))
                raise ConfigError(problem.code, said, "nothing was written; start again with other answers") from None
        trees = {f"the work tree of {each.name}": each.path for each in settings.served}
        misplaced = overlaps(
            shared=settings.shared_dir,
            state=settings.state_dir,
            work_trees=trees,
            trusted={f"the settings file {self.path}": self.path},
        )
        if misplaced:
            raise ConfigError("settings", "; ".join(misplaced), "name another place for it: --env FILE")
        return settings

    @contextmanager
    def _as_if(self, text: str) -> Iterator[str]:
        """Let the settings be read with `text` in place of this file, out of memory; yield what that is called."""
        descriptor = os.memfd_create("settings", os.MFD_CLOEXEC)
        before = os.environ.get(self.named_in)
        try:
            os.fchmod(descriptor, 0o600)
            os.write(descriptor, text.encode())
            os.environ[self.named_in] = f"/proc/self/fd/{descriptor}"
            yield os.environ[self.named_in]
        finally:
            os.close(descriptor)
            os.environ.pop(self.named_in)
            if before is not None:
                os.environ[self.named_in] = before

    def replace(self, text: str) -> None:
        """Put `text` in place of the file in one step, readable by its owner alone. Raise OSError."""
        draft = self.path.with_name(f".{self.path.name}.{secrets.token_hex(6)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with open(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(descriptor)
            draft.rename(self.path)
        finally:
            draft.unlink(missing_ok=True)
        directory = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def chosen(env: str | None, toml: str | None) -> SettingsFile:
    """Given what the command line names, return the file to write: that one, else what is read now, else `./.env`.

    Raise Refused for a place where an agent could write it, or where it would not be read.
    """
    named = toml or env or os.environ.get("GATEWAY_ENV_FILE", "")
    path = Path(named).expanduser().absolute() if named else Path.cwd() / ".env"
    file = SettingsFile(path, toml=toml is not None)
    if path.is_symlink() or not path.parent.is_dir():
        raise Refused("settings_file", f"{path} is a link, or its directory is not there", "name the file itself")
    if not named and sources.in_work_tree(path):
        raise Refused(
            "settings_file",
            f"{path} lies in a git work tree, where it is not read",
            "start init in the home of the gateway's user, or name a file: --env /etc/ops-gateway/gateway.env",
        )
    if not os.access(path.parent, os.W_OK | os.X_OK):
        command = mends.make_directory(path.parent, "700")
        raise Refused("settings_file", f"{mends.account()} may not write in {path.parent}", command)
    return file


def _as_text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _as_toml(name: str, text: str) -> toml_text.TomlValue | None:
    if not text:
        return None
    if name in _NUMBERS:
        return int(text)
    if name in _LISTS:
        entries = list(split_list(text))
        return [int(entry) for entry in entries] if name == "telegram_operator_ids" else entries
    return text
