"""Reads the lists of command lines that the grammar is tested with."""

from __future__ import annotations

import re
from pathlib import Path

from executor.errors import Refused
from executor.policy.decide import decide
from executor.policy.model import Decision, Facts, Operation, Policy, Refuse, Request
from executor.policy.parameters import from_body

HERE = Path(__file__).parent
_ESCAPE = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[nr\\])")


def lines_of(name: str) -> list[str]:
    """Return the lines of a list, without its comments."""
    text = (HERE / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def unescaped(line: str) -> str:
    """Return the line with its Python escapes for invisible characters put in."""
    return _ESCAPE.sub(lambda found: found[0].encode().decode("unicode_escape"), line)


def decided(line: str) -> Decision:
    """Return what becomes of `line` as the body of a git_cmd flag."""
    try:
        params = from_body(Operation.GIT_CMD, line)
    except Refused as refused:
        return Refuse(refused.code, refused.message, refused.hint)
    return decide(Request(Operation.GIT_CMD, params), Policy(), Facts())
