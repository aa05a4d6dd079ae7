"""What is shown and asked on a terminal: 80 columns, colour only for a person, nothing hidden in foreign text."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Sequence

from executor.git.lexer import quote
from executor.record.display import visible

WIDTH = 80
_LABEL = 10  # columns for a paragraph's label
_COLOURS = {"good": "32", "bad": "31", "warn": "33", "bold": "1"}


def heading(text: str, mood: str = "bold") -> str:
    """Given a line, return it emphasised where a person reads it; moods are good, warn, bad, bold."""
    shown = visible(text)
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return shown
    return f"\x1b[{_COLOURS[mood]}m{shown}\x1b[0m"


def paragraph(label: str, text: str) -> str:
    """Given a label and foreign or own text, return it wrapped beside the label, everything visible that hides."""
    lines = []
    for line in visible(text, multiline=True).expandtabs().split("\n"):
        hanging = " " * (len(line) - len(line.lstrip()))
        lines.extend(textwrap.wrap(line, WIDTH - _LABEL, break_on_hyphens=False, subsequent_indent=hanging) or [""])
    indent = " " * _LABEL
    return "\n".join(f"{indent}{line}".rstrip() for line in lines).replace(indent, f"{label:<{_LABEL}}", 1)


def exactly(label: str, argv: Sequence[str]) -> str:
    """Given a command, return it in full on one line, quoted so that no two commands look the same."""
    return f"{label:<{_LABEL}}{visible(quote(tuple(argv)))}"


def agreed(question: str, *, otherwise: bool = False) -> bool:
    """Ask a person, and return whether the answer is a yes; an empty one is `otherwise`.

    Where no answer comes any more (Ctrl-D) it is a no.
    """
    try:
        typed = input(f"{question} [{'Y/n' if otherwise else 'y/N'}] ").strip().lower()
    except EOFError:
        print()  # the line of the question is left open
        return False
    return typed in ("y", "yes") or (otherwise and not typed)
