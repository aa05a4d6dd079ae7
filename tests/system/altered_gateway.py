"""The real program but for one thing that a test needs: `altered_gateway.py CHANGE VERB...`; see `CHANGES`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from executor import asking, facts, intake
from executor.dispatch import Dispatcher
from executor.errors import Failed
from executor.operations import Operations
from gateway.cli import main
from gateway.schedule import heartbeat, jobs
from gateway.schedule.pickup import Pickup


def hurried() -> None:
    """What happens every minute happens twice a second."""
    for job in ("sweep", "expire", "publish"):
        heartbeat.PERIODS[job] = 0.5


def forgetful() -> None:
    """It never looks for approvals that have expired."""
    hurried()

    def none_expired(self: Dispatcher) -> int:
        return 0

    Dispatcher.expire = none_expired  # type: ignore[method-assign]


def _fails(owner: Any, name: str, error: Exception, when: Callable[..., bool]) -> None:
    real = getattr(owner, name)

    def failing(*args: Any, **named: Any) -> Any:
        if when(*args):
            raise error
        return real(*args, **named)

    setattr(owner, name, failing)


def buggy() -> None:
    """A bug is met in reading one flag, and in looking into one request that has to be asked about."""
    hurried()
    bug = RuntimeError("a bug")
    _fails(
        intake, "read_arrival", bug, lambda _flag, content, *_: content is not None and b"bug-in-reading" in content
    )
    _fails(asking, "bind", bug, lambda _git, request, _decision: request.request_id == "bug-in-binding")


def blind() -> None:
    """The branches of a repository cannot be looked at."""
    hurried()
    _fails(facts, "local_branches", Failed("git_failed", "git fails here", "mend it"), lambda _git: True)


def deliberate() -> None:
    """Each step of a recovery takes so long that a person could follow it."""
    real = Operations._step

    def slowly(self: Operations, request_id: str, step: str, state: str, detail: str) -> None:
        real(self, request_id, step, state, detail)
        time.sleep(1.5)

    Operations._step = slowly  # type: ignore[method-assign]


def chatless() -> None:
    """A bug ends the chat whenever it begins."""
    hurried()
    from gateway.telegram.parts import Parts

    _fails(Parts, "run", RuntimeError("a bug"), lambda _parts: True)


def unscheduled() -> None:
    """The scheduler cannot be started."""
    _fails(jobs, "schedule", RuntimeError("no scheduler"), lambda _duties: True)


def short_lived() -> None:
    """Taking flags ends for good with the first one that is told of: everything else is at work by then."""
    _fails(Pickup, "_round", RuntimeError("no pick-up any more"), lambda pickup: bool(pickup._names))


CHANGES = {
    "hurried": hurried,
    "forgetful": forgetful,
    "buggy": buggy,
    "blind": blind,
    "chatless": chatless,
    "deliberate": deliberate,
    "unscheduled": unscheduled,
    "short-lived": short_lived,
}

if __name__ == "__main__":
    CHANGES[sys.argv[1]]()
    sys.exit(main(sys.argv[2:]))
