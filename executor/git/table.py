"""Loads commands.toml, the table of the git commands that are allowed, and checks every word of it.

A mistake in the table is a ConfigError when it is loaded, never a command that slips through: unknown keys, kinds,
groups and options are errors, and an option means the same in all forms of a command, as it does to git.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from executor.errors import ConfigError, Refused
from executor.git.command_specs import CommandSpec, Form, OperandSpec, OptionSpec, Takes
from executor.git.operands import CHECKS, MULTILINE_KINDS
from executor.git.remote_operands import Effect
from executor.git.text import require_visible
from executor.policy.model import Contact, RiskClass

_Member = TypeVar("_Member", bound=Enum)

TABLE_PATH = Path(__file__).with_name("commands.toml")
# Who runs a command; commands.toml says what each does.
RUNNERS = frozenset(
    {
        *("local", "add", "commit", "set_identity", "set_upstream", "config_get"),
        *("fetch", "pull", "push", "ls_remote"),
        *("remote_list", "remote_show", "remote_update", "remote_prune", "remote_config"),
    }
)
_FORM_KEYS = frozenset(
    {
        *("why", "class", "raise", "contact", "treeless_from", "runner", "inject"),
        *("as", "options", "needs", "operands", "paths", "behind_dashes", "dashes", "options_first"),
    }
)
_OPTION = re.compile(
    r"(?P<name>--?[A-Za-z0-9#][A-Za-z0-9-]*)"
    r"(?:=(?P<required>[a-z-]+)|\[=(?P<joined>[a-z-]+)\]|=(?P<last>[a-z-]+)\?)?"
)
_OPERAND = re.compile(r"(?P<kind>[a-z-]+)(?P<many>[?*+]?)")


@dataclass(frozen=True, slots=True)
class Table:
    """The whole table. `choices` are the allowed values by kind, glob patterns. Hints are for refusals."""

    commands: Mapping[str, CommandSpec]
    choices: Mapping[str, tuple[str, ...]]
    short_forms: Mapping[str, str]
    option_hints: Mapping[tuple[str, str], str]  # by command ("" is every one) and option
    command_hints: Mapping[str, str]

    def check(self, kind: str, word: str) -> Effect | None:
        """Check `word` as a `kind`. Raises Refused; returns what it means for the risk."""
        require_visible(word, "the command", lines=kind in MULTILINE_KINDS)
        if kind in CHECKS:
            return CHECKS[kind](word)
        if not any(fnmatchcase(word, choice) for choice in self.choices[kind]):
            allowed = ", ".join(self.choices[kind])
            raise Refused("bad_value", f"{word!r} cannot stand here", f"allowed are: {allowed}")
        return None


@cache
def load() -> Table:
    """Return the table, read once in the life of the process. Raises ConfigError if it is not right."""
    return parse(TABLE_PATH.read_text(encoding="utf-8"))


def parse(text: str) -> Table:
    """Return the table that `text`, in the format of commands.toml, describes. Raises ConfigError."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        _wrong("", f"is not TOML: {error}")
    _known(data, {"groups", "choices", "profiles", "short_forms", "hints", "commands"}, "the table")
    choices = {kind: tuple(words.split()) for kind, words in data.get("choices", {}).items()}
    reader = _Reader(data.get("groups", {}), data.get("profiles", {}), frozenset(CHECKS) | frozenset(choices))
    commands = {name: reader.command(name, entry) for name, entry in data.get("commands", {}).items()}
    hints = data.get("hints", {})
    _known(hints, {"options", "commands"}, "hints")
    for short, full in data.get("short_forms", {}).items():
        if full.removesuffix(" …") not in commands:
            _wrong(short, f"is short for {full!r}, which is no command")
    if both := set(commands) & set(hints.get("commands", {})):
        _wrong(", ".join(both), "is allowed and has a hint for being refused")
    return Table(
        commands=commands,
        choices=choices,
        short_forms=data.get("short_forms", {}),
        option_hints=_option_hints(hints.get("options", {})),
        command_hints=hints.get("commands", {}),
    )


def _option_hints(entries: Mapping[str, str]) -> dict[tuple[str, str], str]:
    found = {}
    for key, hint in entries.items():
        words = key.split()
        options = [word for word in words if word.startswith("-")]
        names = [word for word in words if not word.startswith("-")] or [""]
        found.update({(name, option): hint for name in names for option in options})
    return found


class _Reader:
    """Turns entries of the TOML into specs, knowing the groups of options, the profiles and the kinds of words."""

    def __init__(
        self, groups: Mapping[str, str], profiles: Mapping[str, Mapping[str, Any]], kinds: frozenset[str]
    ) -> None:
        self._groups = groups
        self._profiles = profiles
        self._kinds = kinds

    def command(self, name: str, entry: Mapping[str, Any]) -> CommandSpec:
        """Read one command. What it says itself holds for each of its forms that does not say otherwise."""
        _known(entry, _FORM_KEYS | {"form"}, name)
        shared = {key: value for key, value in entry.items() if key != "form"}
        options: dict[str, OptionSpec] = {}
        forms = []
        for part in entry.get("form", [{}]):
            _known(part, _FORM_KEYS, name)
            own = self._options(name, f"{shared.get('options', '')} {part.get('options', '')}")
            for option in own.values():
                if options.setdefault(option.name, option) != option:
                    _wrong(name, f"{option.name} means different things")
            forms.append(self._form(name, {**shared, **part}, frozenset(own)))
        return CommandSpec(name, options, tuple(forms))

    def _form(self, name: str, said: Mapping[str, Any], options: frozenset[str]) -> Form:
        profile = said.get("as", "")
        if profile and profile not in self._profiles:
            _wrong(name, f"names no known profile: {profile!r}")
        entry = {**self._profiles.get(profile, {}), **said}
        raises = self._raises(name, entry.get("raise", {}))
        needs = frozenset(self._options(name, entry.get("needs", "")))
        if unknown := (needs | set(raises)) - options:
            _wrong(name, f"names options that it does not have: {', '.join(sorted(unknown))}")
        if entry.get("runner") not in RUNNERS or not entry.get("why"):
            _wrong(name, "needs a known runner and a reason (why)")
        paths = self._operands(name, entry.get("paths", ""))
        return Form(
            options=options,
            needs=needs,
            operands=self._operands(name, entry.get("operands", "")),
            paths=paths[0] if paths else None,
            behind_dashes=entry.get("behind_dashes", False),
            dashes=entry.get("dashes", False),
            options_first=entry.get("options_first", False),
            risk=_member(name, RiskClass, entry.get("class")),
            raises=raises,
            contact=_member(name, Contact, entry.get("contact")),
            treeless_from=entry.get("treeless_from"),
            runner=entry["runner"],
            inject=tuple(entry.get("inject", "").split()),
            why=entry["why"],
        )

    def _options(self, name: str, text: str) -> dict[str, OptionSpec]:
        found: dict[str, OptionSpec] = {}
        for word in text.split():
            group = self._options(name, self._groups[word]) if word in self._groups else {}
            for option in group.values() if group else (self._option(name, word),):
                if found.setdefault(option.name, option) != option:
                    _wrong(name, f"{option.name} means different things")
        return found

    def _option(self, name: str, word: str) -> OptionSpec:
        match = _OPTION.fullmatch(word)
        if match is None:
            _wrong(name, f"{word!r} is neither an option nor a group")
        for takes, group in ((Takes.VALUE, "required"), (Takes.JOINED, "joined"), (Takes.NEXT, "last")):
            if match[group]:
                return OptionSpec(match["name"], takes, self._kind(name, match[group]))
        return OptionSpec(match["name"], Takes.NOTHING)

    def _operands(self, name: str, text: str) -> tuple[OperandSpec, ...]:
        specs = []
        for word in text.split():
            match = _OPERAND.fullmatch(word) or _wrong(name, f"{word!r} is no operand")
            specs.append(OperandSpec(self._kind(name, match["kind"]), match["many"]))
        return tuple(specs)

    def _kind(self, name: str, kind: str) -> str:
        return kind if kind in self._kinds else _wrong(name, f"{kind!r} is no kind of word")

    def _raises(self, name: str, entry: Mapping[str, str]) -> dict[str, Effect]:
        effects = {}
        for options, text in entry.items():
            risk, _, reason = text.partition(": ")
            for option in options.split():
                effects[option] = Effect(_member(name, RiskClass, risk), reason)
        return effects


def _member(name: str, values: type[_Member], value: object) -> _Member:
    try:
        return values(value)
    except ValueError:
        _wrong(name, f"{value!r} is no {values.__name__}")


def _known(entry: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
    if unknown := set(entry) - set(keys):
        _wrong(where, f"has unknown keys: {', '.join(sorted(unknown))}")


def _wrong(where: str, what: str) -> NoReturn:
    raise ConfigError("command_table", f"commands.toml: {where} {what}", "install the package anew")
