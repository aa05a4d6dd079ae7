"""Judges a git command: what it is, what it touches, how much can go wrong; or refuses it. Pure.

The rules are data (commands.toml). A command is written anew from what was understood: long options with their exact
name and `=value`, bundles of short ones taken apart, paths after `--`. What runs is this canonical form, so that a
difference between git's parser and ours cannot be used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from executor.errors import Refused
from executor.git import refusals
from executor.git.command_line import Line, read
from executor.git.command_specs import CommandSpec, Form
from executor.git.lexer import LINE_LIMIT, WORD_LIMIT
from executor.git.remote_operands import Effect
from executor.git.revisions import ends_of, is_clear_revision
from executor.git.scripts import refuse_scripts
from executor.git.table import Table, load
from executor.git.text import require_visible
from executor.policy.model import Command, Contact

# Said before the sub-command by people and tools, and true of every run here anyway.
_IDLE_GLOBALS = frozenset({"--no-pager", "-P", "--no-optional-locks"})
_PATH_KINDS = frozenset({"path", "file", "likely-path"})
_REVISION_KINDS = frozenset({"rev", "commit"})
_EITHER = "rev-or-path"
_PLACEHOLDER = re.compile(r"\{(operands|paths)\}")


@dataclass(frozen=True, slots=True)
class _Fit:
    """A form that a line has, with the kind that each word before `--` turned out to be."""

    form: Form
    words: tuple[tuple[str, str], ...]  # (kind, word)
    effects: tuple[Effect, ...]


class _Unfit(Exception):
    """A form does not fit; a later `stage` (and then a later word) came nearer to fitting."""

    def __init__(self, stage: tuple[int, int], refused: Refused) -> None:
        super().__init__(stage)
        self.stage = stage
        self.refused = refused


def judge(words: tuple[str, ...]) -> Command:
    """Return what the grammar understands of a command, given its words without the leading `git`.

    Raises Refused, with a hint to what would be allowed, and nothing else.
    """
    if len(words) > WORD_LIMIT or sum(len(word) for word in words) > LINE_LIMIT:
        raise Refused("command_too_long", "the command is too long", "split it in several")
    for word in words:
        require_visible(word, "the command", lines=True)
    table = load()
    spec, rest = _find(table, words)
    line = read(table, spec, rest)
    command = _command(spec, line, _choose(table, spec, line))
    refuse_scripts(command)
    return command


def _find(table: Table, words: tuple[str, ...]) -> tuple[CommandSpec, tuple[str, ...]]:
    """Return the command that `words` begin with, and the words after it."""
    while words and words[0] in _IDLE_GLOBALS:
        words = words[1:]
    if not words:
        raise Refused("empty_command", "the command is empty", "write one git command, such as: git status")
    first, second = words[0], words[1] if len(words) > 1 else ""
    if first == "--version":
        first = "version"
    if first.startswith("-"):
        raise refusals.global_option(table, first)
    pair = f"{first} {second}"
    if pair in table.commands:
        return table.commands[pair], words[2:]
    if pair in table.command_hints or first in table.command_hints:
        raise refusals.command(table, first, second)
    if first in table.commands:
        return table.commands[first], words[1:]
    full = table.short_forms.get(first, "")
    if full and (full.endswith(" …") or not second or second.startswith("-")):
        return table.commands[full.removesuffix(" …")], words[1:]
    raise refusals.command(table, first, second)


def _choose(table: Table, spec: CommandSpec, line: Line) -> _Fit:
    """Return the first form of the command that fits; raises the refusal of the one that came nearest."""
    nearest: _Unfit | None = None
    for form in spec.forms:
        try:
            return _fit(table, spec, form, line)
        except _Unfit as unfit:
            if nearest is None or unfit.stage >= nearest.stage:
                nearest = unfit
    assert nearest is not None, "the table gives every command a form"
    raise nearest.refused


def _fit(table: Table, spec: CommandSpec, form: Form, line: Line) -> _Fit:
    if foreign := line.given - form.options:
        raise _Unfit((0, 0), refusals.combination(spec, form, foreign))
    if form.needs and not form.needs & line.given:
        raise _Unfit((1, 0), refusals.needs(spec, form))
    kinds = _kinds(form, len(line.operands), line.after)
    if kinds is None:
        raise _Unfit((2, 0), refusals.operands(spec, form))
    before = tuple(zip(kinds, line.operands, strict=False))
    behind = zip(kinds[len(before) :], line.after or (), strict=True)
    effects = []
    for index, (kind, word) in enumerate((*before, *behind)):
        try:
            effects.append(table.check(kind, word))
        except Refused as refused:
            raise _Unfit((3, index), refused) from None
    return _Fit(form, before, tuple(effect for effect in effects if effect is not None))


def _kinds(form: Form, before: int, after: tuple[str, ...] | None) -> list[str] | None:
    """Return the kinds of the words before and after `--`, or None if there are too many or too few for the form.

    Operands are taken from the words before `--`, left to right, and what is left are paths. If the form has operands
    then a `--` is where they end.
    """
    total = before + len(after or ())
    least = form.paths.least if form.paths is not None else 0
    spare = total - least - sum(operand.least for operand in form.operands)
    kinds: list[str] = []
    for operand in form.operands:
        taken = max(0, min(spare, operand.spare, before - len(kinds) - operand.least))
        spare -= taken
        # Once `--` was said, what stands before it is no path.
        kind = "rev" if operand.kind == _EITHER and after is not None else operand.kind
        kinds += [kind] * (operand.least + taken)
    ended = before if form.behind_dashes or (after is not None and form.operands) else len(kinds)
    if spare < 0 or len(kinds) > before or len(kinds) != ended:
        return None
    rest = total - len(kinds)
    if form.paths is None:
        return None if rest else kinds
    return kinds + [form.paths.kind] * rest if rest <= form.paths.least + form.paths.spare else None


def _command(spec: CommandSpec, line: Line, fit: _Fit) -> Command:
    form = fit.form
    behind = (*(word for kind, word in fit.words if kind in _PATH_KINDS), *(line.after or ()))
    operands = tuple(word for kind, word in fit.words if kind not in _PATH_KINDS)
    effects = (*line.effects, *fit.effects, *(form.raises[name] for name in form.raises if name in line.given))
    dashes = form.dashes or behind or (line.after is not None and form.paths is not None)
    return Command(
        subcommand=spec.name,
        argv=("git", *spec.name.split(), *_canonical(line, fit), *(("--",) if dashes else ()), *behind),
        risk=max((form.risk, *(effect.risk for effect in effects)), key=lambda risk: risk.severity),
        contact=_contact(fit),
        runner=form.runner,
        options=tuple(line.options),
        operands=operands,
        paths=behind,
        inject=form.inject,
        reasons=_reasons((form.why, *(effect.reason for effect in effects)), operands, behind),
    )


def _canonical(line: Line, fit: _Fit) -> list[str]:
    """Return options and operands in their order, or options first; paths are left out, they follow `--`."""
    kinds = iter(kind for kind, _ in fit.words)
    kept = [item for item in line.items if not item.operand or next(kinds) not in _PATH_KINDS]
    if fit.form.options_first:
        kept.sort(key=lambda item: item.operand)
    return [word for item in kept for word in item.words]


def _contact(fit: _Fit) -> Contact:
    """Return what the command touches: no work tree if its revisions suffice and no word can be a path."""
    if fit.form.treeless_from is None:
        return fit.form.contact
    revisions = [word for kind, word in fit.words if kind in _REVISION_KINDS or kind == _EITHER]
    if any(kind == _EITHER and not is_clear_revision(word) for kind, word in fit.words):
        return fit.form.contact
    enough = sum(map(ends_of, revisions)) >= fit.form.treeless_from
    return Contact.NONE if enough else fit.form.contact


def _reasons(texts: tuple[str, ...], operands: tuple[str, ...], paths: tuple[str, ...]) -> tuple[str, ...]:
    """Fill in what the reasons are about, and say each once."""
    what = {"operands": ", ".join(operands) or "HEAD", "paths": ", ".join(paths) or "the whole work tree"}
    filled = (_PLACEHOLDER.sub(lambda found: what[found[1]], text) for text in texts)
    return tuple(dict.fromkeys(filled))
