"""Queues in the chat: a congestion is one message that follows what happens, and only a cry makes a second sound."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from bot_api import BotApi, SwiftClock
from notifier_scene import Scene
from scenes import PATIENT

from executor.outcome import State
from executor.policy.model import Operation, RiskClass
from executor.record import cards, queue_samples, requests
from executor.record.forms import Form
from executor.record.requests import NewRequest
from executor.record.transitions import transition
from gateway.telegram import commands
from gateway.telegram.authorise import Operator
from gateway.telegram.batches import Notice
from gateway.telegram.outgoing import Priority
from gateway.telegram.standing import CURSOR

LIMITS = {"max_pending": 50, "max_age_seconds": 600.0}
STORY = "_queue-1"


def follow(world: Scene, clock: SwiftClock, *plays: Callable[[], object]) -> None:
    """Let the notifier follow the record: after each part of the play it is nudged, and the chat catches up."""

    async def whole() -> None:
        async with world.following(clock, PATIENT):
            for play in plays:
                await asyncio.to_thread(play)
                await world.caught_up()

    asyncio.run(whole())


def tell(world: Scene, kind: str, pending: int, **data: object) -> None:
    with world.desk.store.transaction() as tx:
        tx.append(f"queue.{kind}", STORY, {"queue": "emails", "loud": False, "pending": pending, **data})


def restart(state: State, answer: str, digest: str | None = None) -> NewRequest:
    """The request that the monitor raises for a restart, as policy answered it."""
    return NewRequest(
        id="monitor-1",
        operation=Operation.RESTART_QUEUE,
        repo="",
        form=Form.MONITOR,
        text="emails",
        identity="monitor:1",
        state=state,
        risk=RiskClass.CHANGE,
        argv=("restart_queue",),
        decision={"answer": answer},
        digest=digest,
    )


def restart_begins(world: Scene) -> None:
    """The monitor asks for a restart, as the record has it then."""
    new = restart(State.QUEUED, "run")
    noted = {"state": {"queues": {"emails": {"story": STORY, "restarts": 1}}}, "request": new.id}
    with world.desk.store.transaction() as tx:
        requests.insert_one(tx, new)
        tx.append("queue.congested", STORY, {"queue": "emails", "loud": True, "pending": 84, "hold": "", **LIMITS})
        tx.append("queue.restart_asked", STORY, {"queue": "emails", "loud": False, "pending": 84, "request": new.id})
        queue_samples.remember(tx, noted)
    with world.desk.store.transaction() as tx:
        transition(tx, new.id, State.QUEUED, State.RUNNING)


def restart_ends(world: Scene) -> None:
    verified = {"effect": True, "seen": ["2 new workers"]}
    with world.desk.store.transaction() as tx:
        transition(tx, "monitor-1", State.RUNNING, State.SUCCEEDED, result={"verified": verified}, output="")


def about_queues(world: Scene) -> list[str]:
    return [text for text in world.texts() if "emails" in text]


def test_a_whole_congestion_is_one_message_that_is_edited_and_makes_one_sound(
    world: Scene, clock: SwiftClock, api: BotApi
) -> None:
    headings: list[str] = []

    def seen() -> None:
        headings.append(about_queues(world)[0].split(":")[0])

    follow(
        world,
        clock,
        lambda: restart_begins(world),
        seen,
        lambda: restart_ends(world),
        seen,
        lambda: tell(world, "draining", 40, before=84),
        seen,
        lambda: tell(world, "all_clear", 3, seconds=300.0, worst=84, restarts=1),
        seen,
    )
    assert headings == ["🔁 Restarting workers", "🔁 Workers restarted", "📉 Draining", "✅ All clear"]
    (card,) = about_queues(world)
    assert "after 1 restart, within 5 min; at worst 84 pending" in card
    assert "2 new workers" in card
    assert not any("monitor-1" in text for text in world.texts())  # no card of its own, no line among the routine


def test_a_restart_that_did_not_help_calls_somebody_aloud_and_so_does_the_relief(
    world: Scene, clock: SwiftClock
) -> None:
    follow(
        world,
        clock,
        lambda: tell(world, "congested", 84, loud=True, hold="", **LIMITS),
        lambda: tell(world, "still_congested", 131, loud=True, before=84, why="restart", reserved=0),
        lambda: tell(world, "all_clear", 3, seconds=3000.0, worst=131, restarts=1),
    )
    story, *others = about_queues(world)
    assert story.startswith("✅ All clear: emails")
    assert [text.split("\n")[0] for text in others] == ["🆘 Still congested: emails", "✅ All clear: emails"]
    with world.api.lock:
        told = [message for message in world.group.from_bot() if "emails" in message.text]
    assert not any(message.silent for message in told)


def test_a_story_that_was_told_before_a_restart_of_the_gateway_is_edited_after_it(
    world: Scene, clock: SwiftClock
) -> None:
    follow(world, clock, lambda: tell(world, "congested", 84, loud=True, hold="", **LIMITS))
    follow(world, clock, lambda: tell(world, "all_clear", 3, seconds=60.0, worst=84, restarts=0))

    (card,) = about_queues(world)
    assert card.startswith("✅ All clear: emails")


def test_an_old_story_is_not_told_anew_when_another_restart_is_asked_for(world: Scene, clock: SwiftClock) -> None:
    def play() -> None:
        old = "_queue-0"
        with world.desk.store.transaction() as tx:
            tx.append("queue.congested", old, {"queue": "reports", "pending": 60, "hold": "", **LIMITS})
            cards.note(
                tx, CURSOR, str(tx.append("queue.restart_asked", old, {"queue": "reports", "request": "gone"}))
            )
        restart_begins(world)
        with world.desk.store.transaction() as tx:
            noted = queue_samples.remembered(tx)
            noted["state"]["queues"]["reports"] = {"story": old, "restarts": 1}
            queue_samples.remember(tx, noted)
        restart_ends(world)

    play()
    follow(world, clock, lambda: None)
    assert any("Workers restarted" in text for text in about_queues(world))
    assert not any("reports" in text for text in world.texts())


def test_a_restart_that_needs_a_yes_has_its_own_card_to_say_it_on(world: Scene, clock: SwiftClock) -> None:
    def play() -> None:
        with world.desk.store.transaction() as tx:
            requests.insert_one(tx, restart(State.AWAITING_APPROVAL, "ask", digest="d" * 64))
        world.ask_again("monitor-1", "d" * 64)

    follow(world, clock, play)
    assert any("Approve?" in text and "Request monitor-1" in text for text in world.texts())


def test_queue_answers_with_the_numbers_now_and_a_picture_below_them(
    world: Scene, clock: SwiftClock, tmp_path: Path
) -> None:
    database = tmp_path / "app.db"
    with closing(sqlite3.connect(database)) as app, app:
        app.execute(
            "CREATE TABLE jobs (id INTEGER PRIMARY KEY, queue TEXT, payload TEXT, attempts INTEGER,"
            " reserved_at INTEGER, available_at INTEGER, created_at INTEGER)"
        )
        app.executemany("INSERT INTO jobs VALUES (NULL, 'emails', '{}', 0, NULL, 0, 0)", [()] * 7)
    settings = {"queue_names": ("emails",), "queue_source": f"sqlite:///{database}", "queue_app_dir": "/srv/shop"}
    chosen = type(world.desk.settings)(
        shared_dir=world.desk.settings.shared_dir,
        repo_dir=world.desk.settings.repo_dir,
        state_dir=world.desk.settings.state_dir,
        **settings,  # type: ignore[arg-type]
    )
    card = commands._queue(replace(world.desk, settings=chosen), commands.Said("queue", "", Operator(11, "@ann"), 1))
    assert card.picture is not None

    async def answer() -> None:
        async with world.following(clock, PATIENT) as notifier:
            await notifier.say(Notice("_answer:1", card, important=False), Priority.APPROVAL)
            await asyncio.to_thread(
                world.api.wait_until, lambda: any(message.photo for message in world.group.from_bot())
            )

    asyncio.run(answer())
    with world.api.lock:
        shown = world.group.from_bot()
    (picture,) = (message for message in shown if message.photo is not None)
    (text,) = (message for message in shown if message.message_id == picture.reply_to)
    assert "emails: 7 pending" in text.text
    assert picture.silent
