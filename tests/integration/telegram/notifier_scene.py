"""A record with requests in it, and a notifier that follows it into the chat of the test server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot_api import BotApi, SwiftClock
from scenes import delivery, until

from executor.outcome import State
from executor.policy.model import Operation, RiskClass
from executor.record import approvals, cards, requests
from executor.record.approvals import Verdict
from executor.record.audit import head
from executor.record.forms import Form
from executor.record.requests import NewRequest
from executor.record.schema import timestamp
from executor.record.store import Transaction
from executor.record.transitions import transition
from gateway.settings_model import Settings
from gateway.telegram.authorise import ChatPolicy
from gateway.telegram.card_model import Place
from gateway.telegram.desk import Desk
from gateway.telegram.notifier import Notifier
from gateway.telegram.place_in_chat import PlaceInChat
from gateway.telegram.send import Delivery
from gateway.telegram.standing import CURSOR
from gateway.telegram.transport import Timeouts
from gateway.wiring import dispatcher

CHAT = -1001
DIGEST = "d" * 64


class Scene:
    """What happens on the host, as the record has it, and the chat that follows."""

    def __init__(self, desk: Desk, api: BotApi) -> None:
        self.desk, self.api = desk, api
        self.group = api.group(CHAT)
        self.place = PlaceInChat(ChatPolicy(CHAT, None, frozenset({11})))
        self.delivery: Delivery | None = None
        self.notifier: Notifier | None = None

    def ask(self, name: str, *, minutes: float = 60.0, argv: tuple[str, ...] = (), quorum: int = 1) -> None:
        """A request comes in that operators must be asked about."""
        argv = argv or ("git", "tag", name)
        with self.desk.store.transaction() as tx:
            requests.insert_one(tx, replace(self._new(name, State.AWAITING_APPROVAL), argv=argv))
            self._round(tx, name, DIGEST, minutes, argv, quorum)

    def ask_again(self, name: str, digest: str) -> None:
        """The next round of asking about a request."""
        with self.desk.store.transaction() as tx:
            self._round(tx, name, digest, 60.0, ("git", "tag", name), 1)

    def _round(
        self, tx: Transaction, name: str, digest: str, minutes: float, argv: tuple[str, ...], quorum: int
    ) -> None:
        shown = {"argv": list(argv), "depends_on": ["HEAD: " + "a" * 40]}
        approvals.create(
            tx,
            name,
            digest=digest,
            risk=RiskClass.CHANGE,
            reasons=["creates a tag"],
            quorum=quorum,
            shown=tx.redactor.redact_data(shown),
            expires_at=timestamp(datetime.now(UTC) + timedelta(minutes=minutes)),
        )

    def approve(self, name: str) -> None:
        with self.desk.store.transaction() as tx:
            approvals.vote(tx, f"{name}.1", "cli:root", Verdict.APPROVE, "", DIGEST)

    def work(self, name: str) -> None:
        """What was approved runs, and goes well."""
        with self.desk.store.transaction() as tx:
            transition(tx, name, State.QUEUED, State.RUNNING)
        with self.desk.store.transaction() as tx:
            transition(tx, name, State.RUNNING, State.SUCCEEDED, result={"verified": {"effect": True}}, output="")

    def refuse(self, name: str, code: str = "never") -> None:
        """A request comes in that is refused at once."""
        error = {"code": code, "message": "this is never run here", "hint": "ask for something else"}
        with self.desk.store.transaction() as tx:
            requests.insert_one(tx, self._new(name, State.REFUSED, {"error": error}))

    def routine(self, name: str) -> None:
        """A request runs that needs nobody."""
        with self.desk.store.transaction() as tx:
            requests.insert_one(tx, self._new(name, State.QUEUED))
        self.work(name)

    def _new(self, name: str, state: State, result: dict[str, object] | None = None) -> NewRequest:
        asked = state is State.AWAITING_APPROVAL
        return NewRequest(
            id=name,
            operation=Operation.GIT_CMD,
            repo="shop",
            form=Form.FLAG,
            text=f"git tag {name}",
            identity=f"flag {name}",
            state=state,
            risk=RiskClass.CHANGE,
            argv=("git", "tag", name),
            decision={"answer": "ask" if asked else "run"},
            digest=DIGEST if asked else None,
            result=result,
        )

    @asynccontextmanager
    async def following(self, clock: SwiftClock, timeouts: Timeouts) -> AsyncIterator[Notifier]:
        """The notifier at work, as one process would have it."""
        async with delivery(self.api, clock, timeouts, moved=self.place.moved) as delivering:
            self.delivery = delivering
            self.notifier = notifier = Notifier(self.desk, delivering, self.place, clock)
            task = asyncio.create_task(notifier.run())
            try:
                yield notifier
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def caught_up(self, clock: SwiftClock | None = None) -> None:
        """Wait until everything in the record is reflected in the chat; with `clock` time passes meanwhile."""

        def done() -> bool:
            assert self.notifier is not None
            if clock is not None:
                clock.now += 10.0
            self.notifier.nudge()
            with self.desk.store.reading() as view:
                return cards.state(view, CURSOR) == str(head(view).seq)

        await until(done)

    def cards_of(self, name: str) -> list[str]:
        """Return the texts of all messages that are cards of this request."""
        with self.api.lock:
            texts = [message.text for message in self.group.from_bot()]
        return [text for text in texts if f"Request {name} " in text or f"Request {name}\n" in text]

    def texts(self) -> list[str]:
        with self.api.lock:
            return [message.text for message in self.group.from_bot()]


@contextmanager
def scene(root: Path, api: BotApi, *, quiet: bool = False) -> Iterator[Scene]:
    """A host's record, and a chat with nothing in it."""
    settings = Settings(
        shared_dir=root / "shared",
        repo_dir=root / "shop",
        state_dir=root / "state",
        host_name="web-1",
        telegram_quiet=quiet,
    )
    (root / "shared").mkdir()
    executor = dispatcher(settings)
    with executor.store.transaction() as tx:
        tx.append("gateway.started", data={"repositories": ["shop"], "confinement": "confined"})
    desk = Desk(
        settings,
        executor,
        Place("web-1", executor.store.redactor),
        {},
        decided=lambda: None,
        troubles=dict,
        health=dict,
    )
    try:
        yield Scene(desk, api)
    finally:
        desk.threads.shutdown()
        executor.close()
