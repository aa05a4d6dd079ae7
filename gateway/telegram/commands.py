"""What operators can say: each command read, done and answered by one short function. None of them decides anything.

All of it blocks, so it is called in a thread. What is wrong is raised as a Problem, and told to who said it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from executor.errors import Refused
from executor.health.gateway import Said as GatewaySaid
from executor.policy.model import Operation
from executor.record.approvals import Verdict
from gateway.condition import gather
from gateway.telegram import health_card, notices, operator_acts, queue_reply, replies, toasts, votes
from gateway.telegram.authorise import Operator
from gateway.telegram.card_model import Card
from gateway.telegram.desk import Desk
from gateway.telegram.stories import story_of, waiting

_COMMAND = re.compile(r"/([A-Za-z_]{1,32})(?:@([A-Za-z0-9_]{1,64}))?(?:\s+(.*))?", re.S)


@dataclass(frozen=True, slots=True)
class Said:
    """A command as it was said: its name, what follows it, who said it, and which update brought it."""

    name: str
    rest: str
    operator: Operator
    update_id: int

    @property
    def first(self) -> str:
        """The first word that follows."""
        return self.rest.split(maxsplit=1)[0] if self.rest else ""

    @property
    def others(self) -> str:
        """What follows the first word."""
        return self.rest.removeprefix(self.first).strip()


def read(text: str, bot: str) -> tuple[str, str] | None:
    """Given a message, return the name of the command in it and what follows; None if it is no command to this bot.

    In a group `/status@other_bot` is for the other one. `bot` is this bot's name, "" while it is not known.
    """
    match = _COMMAND.fullmatch(text.strip())
    if match is None or (match[2] and bot and match[2].lower() != bot.lower()):
        return None
    return match[1].lower(), (match[3] or "").strip()


def answer(desk: Desk, said: Said) -> Card | None:
    """Do what was said and return what to answer; None where a notice to everybody says it. Raises Problem."""
    does = _DO.get(said.name)
    return does(desk, said) if does is not None else replies.usage(desk.place, said.name)


def _status(desk: Desk, _said: Said) -> Card:
    health = desk.health()
    found = gather(
        desk.settings,
        desk.store,
        served_by=f"run {health['pid']}",
        health=health,
        confinement=str(health["confinement"]),
    )
    return replies.status(desk.place, found)


def _health(desk: Desk, _said: Said) -> Card:
    """Looked at here and now, in full: the result of a request would lie where the agent reads it."""
    return health_card.health(desk.place, desk.dispatcher.health_checks.look(GatewaySaid(desk.health())))


def _queue(desk: Desk, _said: Said) -> Card:
    if desk.settings.laravel is None:
        return replies.not_configured(desk.place, "queue", "It needs a Laravel application with queue workers.")
    return queue_reply.answer(desk)


def _pending(desk: Desk, _said: Said) -> Card:
    with desk.store.reading() as view:
        return replies.pending(desk.place, waiting(view), datetime.fromisoformat(view.at))


def _why(desk: Desk, said: Said) -> Card:
    if not said.first:
        return replies.usage(desk.place, said.name)
    with desk.store.reading() as view:
        story = story_of(view, said.first, desk.settings.rescue_days)
    if story is None:
        return replies.unknown_request(desk.place, said.first)
    return replies.why(desk.place, story, story.events)


def _approve(desk: Desk, said: Said) -> Card:
    if not said.first:
        return replies.usage(desk.place, said.name)
    result = votes.by_name(desk, said.first, said.operator.voter, Verdict.APPROVE, "", said.others)
    return replies.done(desk.place, f"{said.first}: {toasts.vote(desk.place, result)}")


def _deny(desk: Desk, said: Said) -> Card:
    if not said.others:
        return replies.usage(desk.place, said.name)
    result = votes.by_name(desk, said.first, said.operator.voter, Verdict.DENY, said.others, "")
    return replies.done(desk.place, f"{said.first}: {toasts.vote(desk.place, result)}")


def _recover(desk: Desk, said: Said) -> Card:
    made = operator_acts.ask_for(
        desk.dispatcher, Operation.GIT_RECOVER, said.first, said.operator.voter, _occasion(said)
    )
    return replies.done(desk.place, f"{made}: {toasts.RECOVERY_ASKED}")


def _freeze(desk: Desk, said: Said) -> Card | None:
    if not said.rest:
        return replies.usage(desk.place, said.name)
    held = operator_acts.freeze(desk.dispatcher, said.rest, said.operator.voter)
    return None if held.by == said.operator.voter else notices.frozen(desk.place, held)


def _unfreeze(desk: Desk, said: Said) -> Card | None:
    if not operator_acts.unfreeze(desk.dispatcher, said.operator.voter):
        raise Refused("not_frozen", "it was not frozen", "")
    return None


def _help(desk: Desk, _said: Said) -> Card:
    return replies.help_text(desk.place)


def _occasion(said: Said) -> str:
    return f"update {said.update_id}"


# These look at what may hang, and change nothing: what is said or pressed next need not wait for them.
SLOW = frozenset({"health", "queue"})
_DO: Mapping[str, Callable[[Desk, Said], Card | None]] = {
    "status": _status,
    "pending": _pending,
    "approve": _approve,
    "deny": _deny,
    "why": _why,
    "recover": _recover,
    "queue": _queue,
    "health": _health,
    "freeze": _freeze,
    "unfreeze": _unfreeze,
    "help": _help,
    "start": _help,  # what Telegram sends when somebody opens the bot
}
