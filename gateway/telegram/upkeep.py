"""What is due by the clock and not by an event: reminders, alerts, the audit anchor, requests nobody can answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from loguru import logger

from executor.errors import Problem
from executor.record import approvals, audit, cards
from executor.record.schema import timestamp
from gateway.telegram import notices
from gateway.telegram.alerts import Alert, Alerts
from gateway.telegram.approval_card import Asked
from gateway.telegram.batches import Notice
from gateway.telegram.card_model import Card
from gateway.telegram.cards import reminder
from gateway.telegram.clock import Clock
from gateway.telegram.desk import Desk
from gateway.telegram.notifier import Notifier
from gateway.telegram.outgoing import Delivered, Priority
from gateway.telegram.stories import waiting
from gateway.telegram.stuck import newly_stuck
from gateway.telegram.unreachable import Reach, Waiting, hopeless

ROUND_SECONDS = 15.0
LOOK_SECONDS = 60.0  # between two looks at the record without news, while anything waits for operators
QUIET_SECONDS = 600.0  # the same while nothing does: what other processes write is news, found once a minute
REMIND_SHARE = 0.2  # of the time there was to answer
REMIND_MOST = 600.0  # s before the end, at the most
_DAY = "day"  # on which the end of the log was posted last


class Upkeep:
    """The rounds. `reach` tells since when the chat is gone or silent."""

    def __init__(self, desk: Desk, notifier: Notifier, clock: Clock, reach: Callable[[], Reach]) -> None:
        self._desk, self._notifier, self._clock, self._reach = desk, notifier, clock, reach
        self._alerts = Alerts()
        self._looked_at: dict[str, str] = {}  # repository -> the request that was last looked at
        self._number = 0
        self._end = -1  # number of the last event at the last look
        self._news = True
        self._waits = False  # something did at the last look
        self._look_at = 0.0  # monotonic; when the record is looked at also without news
        self._day = ""

    def nudge(self) -> None:
        """Say that something was written into the record, here or by another process."""
        self._news = True

    async def run(self) -> None:
        """Make rounds until cancelled; what fails in one is logged and done in the next."""
        while True:
            try:
                await self.round()
            except Problem as problem:
                logger.warning("the chat's upkeep waits: {}", problem)
                self._news = True  # what was not done is done in the next round
            await self._clock.sleep(ROUND_SECONDS)

    async def round(self) -> None:
        """Do all that is due now. The record is left alone for a while where nothing was written into it."""
        now, today = self._clock.monotonic(), timestamp(datetime.now(UTC))[:10]
        for alert in self._alerts.observe(self._desk.troubles(), now):
            self._tell(alert)
        if self._news or now >= self._look_at or today != self._day:
            self._news = False
            await self._look(today)
            self._look_at = now + (LOOK_SECONDS if self._waits else QUIET_SECONDS)

    async def _look(self, today: str) -> None:
        end, self._waits = await self._desk.call(glance, self._desk)
        if self._waits:
            await self._desk.call(end_hopeless, self._desk, self._reach())
            await self._remind()
        if end != self._end:
            self._end = end
            self._notifier.nudge()
            for repo, findings in await self._desk.call(newly_stuck, self._desk, self._looked_at):
                self._number += 1
                key = f"_stuck:{self._number}:{timestamp(datetime.now(UTC))}"
                self._say(Notice(key, notices.recover_offer(self._desk.place, repo, findings)))
        if today != self._day:
            self._day = today
            if anchor := await self._desk.call(daily, self._desk, today):
                self._say(Notice(f"_anchor:{today}", anchor, silent=True), Priority.ROUTINE)

    async def _remind(self) -> None:
        for asked, message_id in await self._desk.call(due_reminders, self._desk):
            card = reminder(self._desk.place, asked, _seconds_left(asked, datetime.now(UTC)))
            self._say(Notice(f"_reminder:{asked.approval.id}", card), Priority.APPROVAL, message_id)

    def _say(self, notice: Notice, priority: Priority = Priority.CARD, reply_to: int | None = None) -> None:
        """Put it into the queue, and do not wait for Telegram."""
        self._notifier.start(notice.key, self._notifier.say(notice, priority, reply_to))

    def _tell(self, alert: Alert) -> None:
        place = self._desk.place
        card = (
            notices.trouble(place, {alert.key: alert.words})
            if alert.begins
            else notices.trouble_over(place, alert.key)
        )
        self._number += 1
        notice = Notice(f"_alert:{self._number}", card, important=False)  # an alert is not told nine times (A10)
        self._notifier.start(notice.key, self._told(alert, notice))

    async def _told(self, alert: Alert, notice: Notice) -> None:
        if not isinstance(await self._notifier.say(notice), Delivered):
            self._alerts.undelivered(alert)


def due_reminders(desk: Desk) -> list[tuple[Asked, int]]:
    """Return what is about to expire unanswered and was not reminded of, with the message of its card; note that."""
    with desk.store.reading() as view:
        found = [(asked, cards.card_of(view, asked.request.id)) for asked in waiting(view)]
        now = datetime.fromisoformat(view.at)
    due = []
    for asked, card in found:
        name = asked.approval.id
        if card is None or card.message_id is None or card.asked != name or card.reminded == name:
            continue
        given = _seconds_left(asked, datetime.fromisoformat(asked.approval.created_at))
        if _seconds_left(asked, now) <= min(REMIND_MOST, REMIND_SHARE * given):
            due.append((asked, card.message_id))
    for asked, _ in due:
        with desk.store.transaction() as tx:
            cards.remind(tx, asked.request.id, asked.approval.id)
    return due


def end_hopeless(desk: Desk, reach: Reach) -> None:
    """End the requests about which nobody can be asked, as undeliverable."""
    if reach == Reach():
        return
    with desk.store.reading() as view:
        pending = approvals.pending(view)
        shown = cards.cards_of(view, [each.request_id for each in pending])
        now = datetime.fromisoformat(view.at)
    waits = (
        Waiting(
            each.request_id,
            datetime.fromisoformat(each.created_at),
            datetime.fromisoformat(each.expires_at),
            each.request_id in shown and shown[each.request_id].asked == each.id,
        )
        for each in pending
    )
    for request_id, why in hopeless(waits, reach, now):
        with desk.store.transaction() as tx:
            approvals.undeliverable(tx, request_id, why)
        desk.dispatcher.answer(request_id)


def glance(desk: Desk) -> tuple[int, bool]:
    """Return the number of the last event, and whether anything waits for operators."""
    with desk.store.reading() as view:
        return audit.head(view).seq, bool(approvals.pending(view))


def daily(desk: Desk, today: str) -> Card | None:
    """Once a day return the end of the audit log, to be posted, and forget what is too old to be pressed."""
    with desk.store.transaction() as tx:
        if cards.state(tx, _DAY) == today:
            return None
        cards.note(tx, _DAY, today)
        moment = datetime.fromisoformat(tx.at) - timedelta(days=desk.settings.retention_days)
        cards.forget_before(tx, timestamp(moment))
    with desk.store.reading() as view:
        return notices.anchor(desk.place, audit.head(view))


def _seconds_left(asked: Asked, now: datetime) -> float:
    return (datetime.fromisoformat(asked.approval.expires_at) - now).total_seconds()
