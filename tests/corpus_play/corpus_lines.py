"""The corpus: requests with their right answers, one a line of `tests/corpus/requests.jsonl`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "corpus" / "requests.jsonl"
# Set-ups that write git metadata: what they achieve depends on whose git directory `.git` is at that moment.
_METADATA = re.compile(r"\.git\b|\bgit config\b|\bgit init\b|\bgit add sub\b")
_MOVES_REFS = frozenset(
    {"bisect", "branch", "checkout", "cherry-pick", "commit", "merge", "rebase", "reset", "revert", "stash", "tag"}
)
_BACKGROUND = re.compile(r"&\s*$")


class Order(StrEnum):
    """When the set-up of a line runs, as seen from the adoption of the repository."""

    AFTER = "after"  # on the adopted repository, by somebody whom the host lets write its git directory
    BEFORE = "before"  # the agent has its own git directory, and an operator adopts what came of it
    BESIDE = "beside"  # after it, with the gitfile replaced by a git directory of the agent's own


@dataclass(frozen=True)
class Line:
    """One line. `content` is None where the set-up itself raises the flag."""

    id: str
    flag: str
    content: str | None
    setup: str
    expect: str
    also_ok: tuple[str, ...]
    malicious: bool
    category: str
    repeat: int
    do_not_run: bool

    @property
    def operation(self) -> str:
        return self.flag.removesuffix(".flag")

    @property
    def answers(self) -> frozenset[str]:
        """Every right answer. The typed operations run by default where the corpus would also have them asked for."""
        also = {"auto-ok"} if self.expect == "needs-approval" and self.operation != "git_cmd" else set()
        return frozenset((self.expect, *self.also_ok, *also))

    @property
    def goes_on(self) -> bool:
        """Whether the set-up leaves something running in the background."""
        return bool(_BACKGROUND.search(self.setup))

    @property
    def hangs(self) -> bool:
        """Whether the set-up puts something into the work tree that a reader waits for."""
        return "mkfifo" in self.setup and "$SHARED" not in self.setup

    @property
    def moves_refs(self) -> bool:
        """Whether the line is everyday work that writes refs."""
        words = (self.content or "").split()
        return not self.malicious and self.expect == "needs-approval" and bool(_MOVES_REFS.intersection(words[1:2]))

    @property
    def slow(self) -> bool:
        return "100000" in self.setup or self.repeat > 1

    @property
    def needs_root(self) -> bool:
        return "chattr" in self.setup or "mknod" in self.setup

    def orders(self) -> tuple[Order, ...]:
        """Return the orders in which the line is worth playing."""
        return tuple(Order) if _METADATA.search(self.setup) else (Order.AFTER,)


def lines() -> tuple[Line, ...]:
    """Return the whole corpus."""
    return tuple(_line(json.loads(text)) for text in CORPUS.read_text().splitlines())


def _line(given: dict[str, object]) -> Line:
    return Line(
        id=str(given["id"]),
        flag=str(given["flag"]),
        content=str(given["content"]) if "content" in given else None,
        setup=str(given.get("setup", "")),
        expect=str(given["expect"]),
        also_ok=tuple(given.get("also_ok", ())),  # type: ignore[arg-type]
        malicious=bool(given["malicious"]),
        category=str(given["category"]),
        repeat=int(str(given.get("repeat", 1))),
        do_not_run=bool(given.get("do_not_run", False)),
    )
