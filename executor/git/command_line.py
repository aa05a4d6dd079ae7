"""Takes the words of a git command apart as git would, given which options it has. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from executor.errors import Refused
from executor.git import refusals
from executor.git.command_specs import NUMBER_OPTION, CommandSpec, OptionSpec, Takes
from executor.git.remote_operands import Effect
from executor.git.table import Table


@dataclass(frozen=True, slots=True)
class Item:
    """One option with its value, or one operand, in canonical words."""

    words: tuple[str, ...]
    operand: bool = False


@dataclass(slots=True)
class Line:
    """A command taken apart, in the order in which it was written."""

    items: list[Item] = field(default_factory=list)
    options: list[tuple[str, str | None]] = field(default_factory=list)  # (exact name, value); -20 is ("-#", "20")
    effects: list[Effect] = field(default_factory=list)  # of option values
    after: tuple[str, ...] | None = None  # the words after `--`; None: there was no `--`

    @property
    def given(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.options)

    @property
    def operands(self) -> list[str]:
        return [item.words[0] for item in self.items if item.operand]


def read(table: Table, spec: CommandSpec, words: tuple[str, ...]) -> Line:
    """Return the words after the sub-command taken apart. Raises Refused for every option that `spec` does not have.

    Every word before `--` is looked at as an option, wherever it stands: most commands let options follow operands.
    """
    line = Line()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            line.after = tuple(rest)
            break
        if word.startswith("--"):
            _long_option(table, spec, line, word, rest)
        elif word.startswith("-") and word != "-":
            _short_options(table, spec, line, word, rest)
        else:
            line.items.append(Item((word,), operand=True))
    return line


def _long_option(table: Table, spec: CommandSpec, line: Line, word: str, rest: list[str]) -> None:
    name, equals, value = word.partition("=")
    option = spec.options.get(name)
    if option is None:
        raise refusals.option(table, spec, name)
    if equals and option.takes is Takes.NOTHING:
        raise Refused("option_value", f"{name} takes no value", f"write it alone: {name}")
    given = value if equals else _next_value(option, rest)
    # Joined in any case: git must not see the value as a word of its own, which could be an option to it.
    _add(table, line, option, given, (name,) if given is None else (f"{name}={given}",))


def _short_options(table: Table, spec: CommandSpec, line: Line, word: str, rest: list[str]) -> None:
    """Take a bundle apart: each letter is an option, the first that takes a value takes what is left of the word."""
    if NUMBER_OPTION in spec.options and re.fullmatch(r"-\d{1,9}", word, re.ASCII):
        _add(table, line, spec.options[NUMBER_OPTION], None, (word,))
        line.options[-1] = (NUMBER_OPTION, word[1:])
        return
    letters = word[1:]
    while letters:
        option = spec.options.get(f"-{letters[0]}")
        if option is None:
            raise refusals.option(table, spec, f"-{letters[0]}", word)
        name, letters = option.name, letters[1:]
        if option.takes is Takes.NOTHING:
            _add(table, line, option, None, (name,))
        elif letters:
            _add(table, line, option, letters, (name + letters,))
            return
        else:
            given = _next_value(option, rest)
            _add(table, line, option, given, (name,) if given is None else (name, given))


def _next_value(option: OptionSpec, rest: list[str]) -> str | None:
    """Take the value of `option` from the next word, if it has one there."""
    if option.takes in {Takes.NOTHING, Takes.JOINED} or (option.takes is Takes.NEXT and not rest):
        return None
    if not rest or rest[0] == "--":
        raise Refused("missing_value", f"{option.name} needs a value", f"write it after {option.name}")
    if rest[0].startswith("-") and option.kind != "message":
        raise Refused(
            "missing_value", f"{option.name} needs a value, and {rest[0]!r} looks like an option", "write the value"
        )
    return rest.pop(0)


def _add(table: Table, line: Line, option: OptionSpec, value: str | None, words: tuple[str, ...]) -> None:
    effect = table.check(option.kind, value) if value is not None else None
    if effect is not None:
        line.effects.append(effect)
    line.options.append((option.name, value))
    line.items.append(Item(words))
