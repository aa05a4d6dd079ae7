"""What the table says of a command: its options, its forms, and what each form does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from executor.git.lexer import WORD_LIMIT
from executor.git.remote_operands import Effect
from executor.policy.model import Contact, RiskClass

NUMBER_OPTION = "-#"  # how the table writes -1, -20, …


class Takes(Enum):
    """Whether and where an option takes a value."""

    NOTHING = "nothing"
    JOINED = "joined"  # perhaps, in the same word
    VALUE = "value"  # always, in the same word or the next
    NEXT = "next"  # the next word, if there is one


@dataclass(frozen=True, slots=True)
class OptionSpec:
    name: str
    takes: Takes
    kind: str = ""


@dataclass(frozen=True, slots=True)
class OperandSpec:
    kind: str
    many: str = ""  # "" one, "?" at most one, "*" any number, "+" at least one

    @property
    def least(self) -> int:
        return int(self.many in {"", "+"})

    @property
    def spare(self) -> int:
        """How many more than `least` it can take."""
        return {"": 0, "?": 1}.get(self.many, WORD_LIMIT)


@dataclass(frozen=True, slots=True)
class Form:
    """One way to use a command: with these options, this and not another is what it does."""

    options: frozenset[str]
    needs: frozenset[str]  # one of these must be given; empty: none needed
    operands: tuple[OperandSpec, ...]
    paths: OperandSpec | None  # what follows the operands or `--`; None: nothing
    behind_dashes: bool  # paths must stand after `--`
    dashes: bool  # `--` ends the command even without paths, so that git takes no name for a path
    options_first: bool  # git reads no options after the first operand
    risk: RiskClass
    raises: Mapping[str, Effect]  # by option
    contact: Contact
    treeless_from: int | None  # needs no work tree from so many revisions on, if no word can be a path
    runner: str
    inject: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class CommandSpec:
    name: str
    options: Mapping[str, OptionSpec]  # of all forms together: what git's one parser of this command reads
    forms: tuple[Form, ...]
