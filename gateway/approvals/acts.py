"""What an operator does besides deciding: told to the audit log before it is done, and with how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from executor.errors import Problem
from executor.record.store import Store


@contextmanager
def audited(
    store: Store, verb: str, *, repo: str, by: str, request_id: str = "", plan: Iterable[str] = ()
) -> Iterator[list[str]]:
    """Given what an operator does where, and what they were shown, audit it; yield the list for its outcome in lines.

    Raises Unavailable where the audit log cannot be written: the block is not entered then, so nothing is done. A
    Problem of the block is recorded as the outcome, and goes on.
    """
    who = {"repo": repo, "by": by}
    with store.transaction() as tx:
        tx.append(f"operator.{verb}", request_id, {**who, "plan": list(plan)})
    told: list[str] = []
    try:
        yield told
    except Problem as problem:
        with store.transaction() as tx:
            tx.append(f"operator.{verb}.failed", request_id, {**who, "error": str(problem)})
        raise
    with store.transaction() as tx:
        tx.append(f"operator.{verb}.done", request_id, {**who, "told": told})
