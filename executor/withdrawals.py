"""What the agent takes back: a file `ID.withdraw` names a request that it no longer wants.

The name says all there is to say: the file is never opened, only removed once the record has it. To be told twice
changes nothing, so a crash in between, or a file that cannot be removed, does no harm.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice

from executor.answers import Answers
from executor.errors import Unavailable
from executor.protocol.names import withdrawn_id
from executor.protocol.shared_dir import SharedDir
from executor.record.store import Store
from executor.record.withdrawal import count_withdrawn, withdraw

BY = "agent"
HOURLY = 30  # a question that comes and goes costs an operator's attention, however often it is taken back
_AT_ONCE = 200  # names looked at in one sweep


class Withdrawals:
    """Takes requests back on behalf of the agent. Used by one thread at a time."""

    def __init__(self, shared: SharedDir, store: Store, answers: Answers) -> None:
        self._shared = shared
        self._store = store
        self._answers = answers

    def take(self, names: Iterable[bytes] | None = None) -> int:
        """Take back what files of these names say (None: all that are there); return how many requests ended so.

        When the agent took back `HOURLY` requests within an hour, further files lie until later. Raises Unavailable
        when it cannot be recorded.
        """
        taken = 0
        for name in self._named() if names is None else names:
            request_id = withdrawn_id(name)
            if request_id is None:
                continue
            with self._store.transaction() as tx:
                if count_withdrawn(tx, since=datetime.fromisoformat(tx.at) - timedelta(hours=1)) >= HOURLY:
                    break
                done = withdraw(tx, request_id, BY, "")
            with contextlib.suppress(OSError, Unavailable):
                os.unlink(name, dir_fd=self._shared.root().fd)
            if done:
                self._answers.publish(request_id)
                taken += 1
        return taken

    def _named(self) -> list[bytes]:
        names = (name for name in self._shared.root().names() if withdrawn_id(name) is not None)
        return list(islice(names, _AT_ONCE))
