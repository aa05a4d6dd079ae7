"""What is said when a git command is refused: why, and how to say the same safely. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from executor.errors import Refused
from executor.git.command_specs import CommandSpec, Form, OperandSpec
from executor.git.table import Table
from executor.git.text import describe_character

_SHOWN = 60  # characters of a foreign word in a message


def _quoted(word: str) -> str:
    return repr(word if len(word) <= _SHOWN else word[:_SHOWN] + "…")


def _known(table: Table) -> str:
    return f"the commands that are known here: {', '.join(sorted({name.split()[0] for name in table.commands}))}"


def global_option(table: Table, word: str) -> Refused:
    """An option before the sub-command: they change which repository, configuration or program git uses."""
    hint = "begin with the command, such as: git log"
    if word in {"-h", "--help"}:
        hint = "read git's own manual; " + _known(table)
    elif word in {"-p", "--paginate"}:
        hint = "there is no pager here; for patches write: git log -p"
    return Refused("global_option", f"git {_quoted(word)} before a command is not allowed", hint)


def command(table: Table, first: str, second: str) -> Refused:
    """A sub-command that is not in the table."""
    name = f"{first} {second}" if f"{first} {second}" in table.command_hints else first
    if hint := table.command_hints.get(name):
        return Refused("not_allowed", f"git {name} is not allowed here", hint)
    if odd := next((c for c in first if not c.isascii()), None):
        return Refused(
            "hidden_characters",
            f"{_quoted(first)} is no git command: it holds {describe_character(odd)}",
            "write the command with plain letters",
        )
    names = {known.split()[0] for known in table.commands}
    if first in names:
        seconds = sorted(known.split()[1] for known in table.commands if known.startswith(f"{first} "))
        return Refused(
            "unknown_command",
            f"git {first} {_quoted(second)} is not known here" if second else f"git {first} needs a sub-command",
            f"git {first} can be followed by: {', '.join(seconds)}",
        )
    near = get_close_matches(first.lower(), sorted(names), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else _known(table)
    return Refused("unknown_command", f"git {_quoted(first)} is not a command that is known here", hint)


def option(table: Table, spec: CommandSpec, name: str, word: str | None = None) -> Refused:
    """An option that the table does not hold for this command. `word` is the bundle in which it stood."""
    inside = f" (in {_quoted(word)})" if word is not None and word != name else ""
    message = f"git {spec.name} {_quoted(name)}{inside} is not allowed here"
    hint = table.option_hints.get((spec.name.split()[0], name)) or table.option_hints.get(("", name))
    if not hint and name.startswith("--"):
        full = sorted(known for known in spec.options if known.startswith(name)) if len(name) > 2 else []
        near = full or get_close_matches(name, sorted(o for o in spec.options if o.startswith("--")), n=3, cutoff=0.7)
        hint = (
            f"write options in full: {', '.join(near[:5])}" if full else f"perhaps: {', '.join(near)}" if near else ""
        )
    return Refused(
        "unknown_option", message, hint or "leave it out; only options from the gateway's table are passed on"
    )


def combination(spec: CommandSpec, form: Form, foreign: Iterable[str]) -> Refused:
    """Options that exist, but not together with what else was given."""
    options = ", ".join(sorted(foreign))
    return Refused("options_conflict", f"git {spec.name} does not take {options} in this combination", "leave it out")


def needs(spec: CommandSpec, form: Form) -> Refused:
    """A form that is only allowed with one of some options (a message, a dry run, …)."""
    wanted = ", ".join(sorted(form.needs, key=lambda name: (name.startswith("--"), name)))
    return Refused("missing_option", f"git {spec.name} in this form needs one of: {wanted}", "add one of them")


def operands(spec: CommandSpec, form: Form) -> Refused:
    """Too few or too many words."""
    wanted = [_placeholder(operand) for operand in form.operands]
    if form.paths is not None:
        wanted += ["--", _placeholder(form.paths)]
    usage = " ".join(wanted) or "nothing"
    return Refused("operands", f"git {spec.name} takes {usage} in this form", "give it that many words; quote blanks")


def _placeholder(operand: OperandSpec) -> str:
    name = operand.kind.upper()
    return {"": name, "?": f"[{name}]", "*": f"[{name}…]", "+": f"{name}…"}[operand.many]
