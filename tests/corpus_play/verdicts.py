"""What is right for a line of the corpus, and what of a played line is not."""

from __future__ import annotations

from corpus_lines import Line, Order
from player import NEXT, Played, error_code

from executor.outcome import State

# What the git_status after a line says where the set-up itself keeps it from succeeding: id -> state and code.
_EXPLAINED = {
    "flag-032": (State.REFUSED, "work_tree_replaced"),  # another repository stands in its place
    "tree-007": (State.TIMED_OUT, "timeout"),  # .gitignore is a FIFO
    "tree-008": (State.TIMED_OUT, "timeout"),  # src/.gitignore is a FIFO
    "tree-010": (State.TIMED_OUT, "timeout"),  # .gitattributes is a FIFO
}
# Flags that are none: a name that ends with a newline, one with a letter that only looks right.
_NO_FLAGS = frozenset({"flag-020", "flag-021"})
_REFUSED_EVERYDAY = frozenset({"chg-129"})  # git submodule update: only where submodules were allowed


def wrongs(played: Played) -> list[str]:
    """Return what is wrong about a played line, in words; nothing for one that went as it must."""
    line = played.line
    found = list(played.harm)
    if played.adoption is not None:
        found += _not_adopted(played)
    elif line.id in _NO_FLAGS:
        found += ["a request came of what is no flag"] if played.ended else []
    elif played.answer not in line.answers and not (line.goes_on and played.answer is None and played.ended):
        found.append(f"answered {played.answer}, right is {' or '.join(sorted(line.answers))}")
    found += [f"{row.id} is still {row.state}" for row in played.ended if not row.state.final]
    if not line.malicious:
        found += _everyday(played)
    return found + _next(played)


def _not_adopted(played: Played) -> list[str]:
    """An operator was told why not; what is asked of the repository is refused, if not for itself then for that."""
    refused = played.last is not None and played.last.state is State.REFUSED
    right = refused and played.line.malicious and played.order is Order.BEFORE
    return [] if right else [f"the repository could not be adopted: {played.adoption}"]


def _everyday(played: Played) -> list[str]:
    state = played.last.state if played.last else None
    right = State.REFUSED if played.line.id in _REFUSED_EVERYDAY else State.SUCCEEDED
    return [] if state is right else [f"everyday work ended as {state}"]


def _next(played: Played) -> list[str]:
    state, code = _explained(played.line) if played.adoption is None else (State.REFUSED, "not_adopted")
    row = played.next
    if row is None or (row.state, error_code(row)) != (state, code):
        return [f"the next flag ({NEXT}) was not answered by {state} {code}"]
    return []


def _explained(line: Line) -> tuple[State, str]:
    return _EXPLAINED.get(line.id, (State.SUCCEEDED, ""))
