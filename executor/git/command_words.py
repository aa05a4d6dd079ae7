"""What a judged command says, option by option. Pure."""

from __future__ import annotations

from executor.policy.model import Command


def given(command: Command) -> frozenset[str]:
    """Return the names of the options of a command."""
    return frozenset(name for name, _ in command.options)


def spelled(name: str, value: str | None) -> str:
    """Return one option as one word."""
    if value is None:
        return name
    return f"{name}={value}" if name.startswith("--") else f"{name}{value}"
