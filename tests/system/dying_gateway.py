"""The real program but for one function, which kills its own process with SIGKILL before or after it is called.

    dying_gateway.py POINT REQUEST_ID VERB...

`POINT` is a key of `POINTS`. Nothing else differs, and nothing gets a chance to clean up.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from executor import operations
from executor.operations import Operations
from executor.protocol import claims, shared_dir
from executor.protocol.shared_dir import SharedDir
from executor.sandbox.process import ProcessRunner
from gateway.cli import main
from gateway.schedule import word

# Which git of several is the one that does what a request asks for.
DOES_IT = frozenset({"status", "commit-tree", "update-ref", "push", "tag"})


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before(owner: Any, name: str, when: Callable[..., bool] = lambda *_: True) -> None:
    """Let the first call of a function for which `when` holds never begin."""
    real = getattr(owner, name)

    def dying(*args: Any, **named: Any) -> Any:
        if when(*args):
            die()
        return real(*args, **named)

    setattr(owner, name, dying)


def after(owner: Any, name: str, when: Callable[..., bool] = lambda *_: True) -> None:
    """Let the first call of a function for which `when` holds be the last thing that happened."""
    real = getattr(owner, name)

    def dying(*args: Any, **named: Any) -> Any:
        result = real(*args, **named)
        if when(*args):
            die()
        return result

    setattr(owner, name, dying)


def _does_it(_runner: object, argv: tuple[str, ...], *_: object) -> bool:
    return not DOES_IT.isdisjoint(argv)


def _is_answer(request_id: str) -> Callable[..., bool]:
    def when(_shared: object, name: str, text: str, *_: object) -> bool:
        return name == f"results/{request_id}.json" and '"state": "succeeded"' in text

    return when


POINTS: dict[str, Callable[[str], None]] = {
    "renamed": lambda _: before(shared_dir, "look"),
    "read": lambda _: after(claims, "_read_bounded"),
    "recorded": lambda _: before(SharedDir, "release"),
    "unlinked": lambda _: after(SharedDir, "release"),
    "started": lambda _: before(Operations, "run"),
    "kept": lambda _: before(operations, "run_operation"),
    "git begun": lambda _: after(ProcessRunner, "_spawn", _does_it),
    "git ended": lambda _: after(Operations, "run"),
    "ended": lambda request_id: before(SharedDir, "publish", _is_answer(request_id)),
    "answered": lambda request_id: after(SharedDir, "publish", _is_answer(request_id)),
    "voted": lambda _: before(word, "send"),
}

if __name__ == "__main__":
    POINTS[sys.argv[1]](sys.argv[2])
    sys.exit(main(sys.argv[3:]))
