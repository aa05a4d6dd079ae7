"""What the agent takes back: a file `ID.withdraw` names a request that it no longer wants.

The name says all there is to say: the file is never opened, only removed once the record has it. To be told twice
changes nothing, so a crash in between, or a file that cannot be removed, does no harm.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice

from executor.answers import Answers
from executor.errors import Unavailable
from executor.protocol.directory import unavailable
from executor.protocol.names import parse_name, parse_private, withdrawn_id
from executor.protocol.placing import discard
from executor.protocol.shared_dir import SharedDir
from executor.record.store import Store
from executor.record.withdrawal import agent_may_withdraw, count_withdrawn, withdraw

BY = "agent"
HOURLY = 30  # a question that comes and goes costs an operator's attention, however often it is taken back
_AT_ONCE = 5_000  # names looked at in one go; the rest waits for the next sweep


class Withdrawals:
    """Takes requests back on behalf of the agent. Used by one thread at a time, after the flags were taken."""

    def __init__(self, shared: SharedDir, store: Store, answers: Answers) -> None:
        self._shared = shared
        self._store = store
        self._answers = answers
        self._early: set[bytes] = set()  # whose requests lay there and were not taken yet

    def take(self, names: Iterable[bytes] | None = None) -> int:
        """Take back what files of these names say (None: all that are there); return how many requests ended so.

        What the agent may not take back, or no longer, is passed over and its file removed. A file lies until later
        if its request lies there too and was not taken yet, and when the agent took back `HOURLY` requests within an
        hour. Raises Unavailable when it cannot be recorded, or the directory not be read.
        """
        named = self._all() if names is None else [*names, *self._early]
        ids = {name: request_id for name in named[:_AT_ONCE] if (request_id := withdrawn_id(name)) is not None}
        if not ids:
            return 0
        with self._store.reading() as view:
            may = agent_may_withdraw(view, list(ids.values()))
            lately = count_withdrawn(view, since=datetime.fromisoformat(view.at) - timedelta(hours=1))
        untaken = self._untaken() if len(may) < len(ids) else frozenset()
        self._early = {name for name, request_id in ids.items() if request_id not in may and request_id in untaken}
        taken = 0
        for name, request_id in ids.items():
            if may.get(request_id):
                taken += lately + taken < HOURLY and self._take_back(name, request_id)
            elif name not in self._early:
                self._remove(name)
        return taken

    def _take_back(self, name: bytes, request_id: str) -> bool:
        with self._store.transaction() as tx:
            done = withdraw(tx, request_id, BY, "")
        self._remove(name)
        if done:
            self._answers.publish(request_id)
        return done

    def _remove(self, name: bytes) -> None:
        """Have it out of the way, whatever it is; what cannot be removed is looked at again, and changes nothing."""
        with contextlib.suppress(OSError, Unavailable):
            discard(self._shared.root(), name)

    def _all(self) -> list[bytes]:
        return list(islice((name for name in self._names() if withdrawn_id(name) is not None), _AT_ONCE))

    def _untaken(self) -> frozenset[str]:
        """Return the ids of requests that lie there, or are claimed and could not be recorded yet."""
        flags = (parse_name(parse_private(name) or name) for name in self._names())
        return frozenset(flag.request_id for flag in flags if flag is not None)

    def _names(self) -> Iterable[bytes]:
        try:
            yield from self._shared.root().names()
        except OSError as error:
            raise unavailable("listing the shared directory", error) from error
