"""From the shared directory into the record: claim, read, decide, record, release. One sweep or some named flags.

Nothing is run here, so that no running program delays a claim. A flag that cannot be recorded (disk full) is kept
claimed and recorded later; a flag that cannot be taken away is refused once and then passed over.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from itertools import islice

from executor.answers import Answers
from executor.arrival import Arrival, read_arrival
from executor.config import ExecutorConfig
from executor.decided import decision_data, error_data, first_state
from executor.disk_space import require_record_space
from executor.errors import Failed, Problem, Refused, Unavailable
from executor.facts import FactFinder
from executor.host_operations import lane
from executor.outcome import State
from executor.policy.decide import decide
from executor.policy.model import Ask, Decision, Refuse, RiskClass
from executor.protocol.bodies import looks_cut_off
from executor.protocol.claims import Claim
from executor.protocol.names import FlagName, parse_name
from executor.protocol.shared_dir import LEFTOVER_LIMIT, SharedDir
from executor.protocol.sightings import Sighting, may_still_grow, settled
from executor.record import requests
from executor.record.forms import Form
from executor.record.requests import NewRequest, RequestRow
from executor.record.store import Store
from executor.repositories import Repositories

log = logging.getLogger(__name__)

_BATCH = 100  # flags recorded in one transaction: bounds memory, and how long the first of them waits
_ID_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that is misread aloud
_ID_LENGTH = 8
_BUG = Refused(
    "internal_error",
    "the gateway met an error of its own when it read this flag; nothing was run",
    "ask in another way; an operator finds the error in the gateway's log",
)


class Intake:
    """Takes flags. Used by one thread at a time."""

    def __init__(
        self,
        config: ExecutorConfig,
        shared: SharedDir,
        store: Store,
        repositories: Repositories,
        facts: FactFinder,
        answers: Answers,
    ) -> None:
        self._config = config
        self._shared = shared
        self._store = store
        self._repositories = repositories
        self._facts = facts
        self._answers = answers
        self.queued: Callable[[Set[str]], None] = lambda _repositories: None  # told what has something to run
        self._unrecorded: list[Claim] = []
        self._known_room = 0  # requests
        self._look_for_leftovers = True
        self._stuck: set[str] = set()  # identities of flags that cannot be removed
        self._seen: dict[bytes, Sighting] = {}
        self.more_waiting = False

    def take_named(self, names: Iterable[bytes]) -> int:
        """Take the flags of these names, which their writers have closed; return how many became requests."""
        return self._take(name for name in names if (flag := parse_name(name)) and not self._unfinished(name, flag))

    def sweep(self, *, settle: bool) -> int:
        """Take every flag that has settled (without `settle`: every flag); return how many became requests."""
        leftovers = self.take_leftovers()
        seen = self._shared.scan(self._stuck)
        now = time.time()
        ready = [s for s in seen if not settle or settled(s, now, self._seen.get(s.name))]
        ready = [
            s for s in ready if not (s.flag.typed and may_still_grow(s, now) and self._unfinished(s.name, s.flag))
        ]
        self._seen = {s.name: self._seen.get(s.name, s) if _same(s, self._seen.get(s.name)) else s for s in seen}
        limit = self._config.limits.claims_per_sweep
        self.more_waiting = len(ready) > limit or self._look_for_leftovers
        return leftovers + self._take(s.name for s in ready[:limit])

    def take_leftovers(self) -> int:
        """Take up what an earlier process had claimed and not released; return how many were new.

        Done at start, and by sweeps until a listing holds no more: a bounded number each time, for files of such
        names can be made by anyone, and one that is not in the record is a flag like any other.
        """
        if not self._look_for_leftovers:
            return 0
        taken = self._record_claimed()
        require_record_space(self._config.state_dir)
        room = min(self._room(), LEFTOVER_LIMIT)
        if room > 0:
            self._unrecorded, self._look_for_leftovers = self._shared.leftovers(room)
            taken += self._record_claimed()
        return taken

    def _unfinished(self, name: bytes, flag: FlagName) -> bool:
        """Whether a typed request looks cut off, so that a young one is left for its writer to go on with (D02)."""
        claim = self._shared.peek(name) if flag.typed else None
        return claim is not None and claim.content is not None and looks_cut_off(claim.content)

    def _take(self, names: Iterable[bytes]) -> int:
        taken = self._record_claimed()
        require_record_space(self._config.state_dir)
        iterator = iter(names)
        while (room := self._room()) > 0 and (batch := list(islice(iterator, min(_BATCH, room)))):
            for claim in self._claims(batch):
                self._unrecorded.append(claim)  # one by one: the next may fail, and this one is in our hands alone
            taken += self._record_claimed()
        if room <= 0:
            self.more_waiting = True
        return taken

    def _room(self) -> int:
        """Return how many more requests may be open: at least so many, for those that ended are not looked at."""
        if self._known_room < _BATCH:
            with self._store.reading() as view:
                self._known_room = self._config.limits.open_requests - requests.count_open(view)
        return self._known_room

    def _claims(self, names: Iterable[bytes]) -> Iterator[Claim]:
        for name in names:
            claim = self._shared.claim(name)
            if claim is None:
                continue
            if not claim.private:
                if claim.identity in self._stuck:
                    continue
                self._stuck.add(claim.identity)
            yield claim

    def _record_claimed(self) -> int:
        """Record what was claimed; where that cannot be, it is kept for the next time. Raises Unavailable then."""
        taken = self._record(self._unrecorded) if self._unrecorded else 0
        self._unrecorded = []
        return taken

    def _record(self, claims: list[Claim]) -> int:
        """Record what was claimed, remove the flags, answer, let it run. Raises Unavailable with nothing recorded."""
        finder = self._facts.for_batch()
        new = [self._judged(claim, finder) for claim in claims]
        with self._store.transaction() as tx:
            inserted = requests.insert_many(tx, new)
            reused = [
                requests.insert_one(tx, _reused(request)).row
                for request, done in zip(new, inserted, strict=True)
                if done.arrival is requests.Arrival.CONFLICT
            ]
        self._known_room -= len(claims)
        for claim in claims:
            self._shared.release(claim)
        for done in inserted:
            self._answer(done)
        for row in reused:
            self._answers.publish_row(row)
        self.queued({done.row.repo for done in inserted if done.row.state in requests.DUE})
        return sum(done.arrival is requests.Arrival.NEW for done in inserted)

    def _answer(self, done: requests.Inserted) -> None:
        if done.arrival is requests.Arrival.NEW:
            if not _answered_soon(done.row):
                self._answers.publish_row(done.row)
        elif done.arrival is requests.Arrival.REPEAT:
            self._answers.publish(done.row.id)
        elif done.arrival is requests.Arrival.CONFLICT:
            self._answers.publish(done.row.id, conflict=_id_reused(done.row))

    def _judged(self, claim: Claim, finder: FactFinder) -> NewRequest:
        flag = parse_name(claim.name)
        assert flag is not None  # a claim's name is a flag's
        try:
            arrival = read_arrival(flag, claim.content, claim.problem)
            decision = self._decided(arrival, finder)
        except Problem:
            raise
        except Exception:  # no flag may stand in the way of all the others, now and at each start
            log.exception("the flag %r met a bug", claim.name)
            arrival = read_arrival(flag, None, _BUG)
            decision = Refuse.of(_BUG)
        generated = not arrival.request_id
        error = error_data(decision.problem()) if isinstance(decision, Refuse) else None
        return NewRequest(
            id=arrival.request_id or _fresh_id(),
            operation=arrival.operation,
            repo=self._lane(arrival),
            form=Form.TYPED if arrival.typed else Form.FLAG,
            text=arrival.text,
            identity=claim.identity,
            state=first_state(decision, dry_run=arrival.dry_run),
            generated=generated,
            reason=arrival.reason,
            dry_run=arrival.dry_run,
            risk=decision.risk,
            argv=decision.argv,
            decision=decision_data(decision),
            result={"error": error} if error else None,
        )

    def _decided(self, arrival: Arrival, finder: FactFinder) -> Decision:
        if arrival.request is None:
            refusal = arrival.refusal or Refused("unreadable", "the request cannot be read")
            return Refuse.of(refusal)
        try:
            facts = finder.facts(arrival.request)
        except Refused as refusal:
            return Refuse.of(refusal)
        except (Failed, Unavailable):  # the repository cannot be looked at now; that is told when its turn comes
            facts = finder.facts_of_record()
        decision = decide(arrival.request, self._config.policy, facts)
        if isinstance(decision, Ask) and not arrival.dry_run:
            return finder.room_to_ask(self._lane(arrival)) or decision
        return decision

    def _lane(self, arrival: Arrival) -> str:
        return lane(arrival.operation, self._repositories.full_name(arrival.repo))


def _answered_soon(row: RequestRow) -> bool:
    """Whether its own result is likely to follow at once; if not, `Answers.catch_up` tells that it waits."""
    return row.state is State.QUEUED and row.risk is RiskClass.READ


def _fresh_id() -> str:
    return "".join(secrets.choice(_ID_ALPHABET) for _ in range(_ID_LENGTH))


def _id_reused(row: RequestRow) -> Refused:
    return Refused(
        "id_reused",
        f"the request id {row.id} came again with other content; the second request was refused",
        "use a new id for each request",
    )


def _reused(request: NewRequest) -> NewRequest:
    """The record of a request that was refused because its id belongs to another one."""
    problem = Refused(
        "id_reused",
        f"the request id {request.id} belongs to an earlier request with other content",
        "use a new id for each request; the earlier one's result is unchanged",
    )
    return replace(
        request,
        id=_fresh_id(),
        state=State.REFUSED,
        generated=True,
        decision=decision_data(Refuse.of(problem)),
        result={"error": error_data(problem)},
    )


def _same(sighting: Sighting, previous: Sighting | None) -> bool:
    return previous is not None and previous.identity == sighting.identity and previous.size == sighting.size
