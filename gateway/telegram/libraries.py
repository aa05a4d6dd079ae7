"""Loads the libraries of the chat without what they would bring along for uses that it has none of.

Both load whatever else they find installed: the Bot library a cryptography package for passport documents, the HTTP
client the parts of a command line of its own. That is 10 MB in a process that stays, for nothing. And the HTTP client
looks for one package anew with each request, several times, which is a quarter of what a poll costs where it is not.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from types import ModuleType

_NEEDLESS = frozenset({"cryptography", "click", "pygments", "rich"})  # both libraries work without them
_LOOKED_FOR = "sniffio"  # by httpcore, in each lock and event that it makes


class _Absent(MetaPathFinder):
    """Says of some packages that they are not installed, in the thread that made it alone: others may want them."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names, self._thread = names, threading.get_ident()

    def find_spec(self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> None:
        if fullname in self._names and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{fullname} is not wanted here", name=fullname)


@contextmanager
def without(names: frozenset[str]) -> Iterator[None]:
    """For as long as the block lasts, let importing `names` fail in this thread, where they are not loaded yet."""
    finder = _Absent(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def load() -> None:
    """Load them, before anything else imports them. What is loaded already stays as it is."""
    with without(_NEEDLESS):
        import telegram  # noqa: F401 (and the HTTP client under it)
    if _LOOKED_FOR not in sys.modules and find_spec(_LOOKED_FOR) is None:
        sys.modules[_LOOKED_FOR] = None  # type: ignore[assignment]  # so the import system is told: it is not there
