"""The card of one request through its life: one message, made anew from the record and edited in place (pure).

A card reads the same whenever it is made from the same values, whatever the time: it is edited only when something
has changed. The first two lines say what it is, where, and how risky or how it ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from executor.outcome import State
from executor.policy.model import Operation, RiskClass
from executor.record.approvals import Approval, ApprovalState
from executor.record.audit import Event
from executor.record.requests import RequestRow
from executor.spans import span
from gateway.telegram import endings, words
from gateway.telegram.approval_card import Asked, approval_card
from gateway.telegram.card_model import Action, Button, Card, Keyboard, Place, card_of
from gateway.telegram.html import EMPTY, Markup, join, say
from gateway.telegram.text_budget import Block

_ENDED_RUNNING = frozenset({State.SUCCEEDED, State.FAILED, State.TIMED_OUT, State.INTERRUPTED})
# An undo brings back what is local; what was published is taken back only by asking for another push.
_UNDOABLE = frozenset({RiskClass.CHANGE, RiskClass.REWRITE})

_WITH_REASON = frozenset(
    {ApprovalState.APPROVED, ApprovalState.DENIED, ApprovalState.WITHDRAWN, ApprovalState.UNDELIVERABLE}
)

_DATED = frozenset({State.DENIED, State.WITHDRAWN})  # the line about the decision tells when

# What else the second line says, for states in which that is always the same.
_SAID: Mapping[State, str] = {
    State.RECEIVED: "looked at now",
    State.QUEUED: "its turn comes after those before it",
    State.FAILED: "it did not reach its end",
    State.TIMED_OUT: "it was ended",
    State.INTERRUPTED: "the gateway stopped while it ran; look whether it took effect",
    State.REFUSED: "nothing was run",
    State.DENIED: "nothing was run; the agent is told not to retry",
    State.EXPIRED: "nobody answered; nothing was run, and the agent may ask again",
    State.UNDELIVERABLE: "nothing was run, and the agent may ask again",
    State.WITHDRAWN: "nothing was run",
}


@dataclass(frozen=True, slots=True)
class Story:
    """What is known of a request: its last round of asking, who has said yes in it, its events, oldest first.

    `undoable` says whether what was there before it is still kept.
    """

    request: RequestRow
    approval: Approval | None = None
    approvers: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    undoable: bool = False

    @property
    def asked(self) -> Asked | None:
        """The round of asking that waits for an answer, or None."""
        if self.approval is None or self.approval.state is not ApprovalState.PENDING:
            return None
        return Asked(self.request, self.approval, self.approvers) if self._waits else None

    @property
    def _waits(self) -> bool:
        return self.request.state is State.AWAITING_APPROVAL

    @property
    def argv(self) -> tuple[str, ...]:
        shown = self.approval.shown.get("argv", ()) if self.approval is not None else ()
        return tuple(shown) or self.request.argv


def request_card(place: Place, story: Story) -> Card:
    """Return the card of a request as it stands now."""
    if story.asked is not None:
        return approval_card(place, story.asked)
    return card_of(list(_blocks(place, story)), _buttons(story))


def _blocks(place: Place, story: Story) -> Iterator[Block]:
    pen, request, result = place.pen, story.request, story.request.result or {}
    yield Block((_heading(place, story), *_decision(place, story)))
    yield endings.problem(pen, result)
    if request.operation is Operation.GIT_RECOVER:
        plan = story.approval.shown.get("plan", ()) if story.approval is not None else ()
        yield endings.steps(place, list(plan), story.events)
    yield endings.verification(pen, result)
    yield from _whole_command(place, story)
    if request.operation is not Operation.GIT_RECOVER or not story.events:
        yield endings.output(pen, request)
    yield endings.undone(place, story.events)
    yield Block((join((_request_line(place, request), *endings.seal(pen, story.events))),))


def _heading(place: Place, story: Story) -> Markup:
    request = story.request
    state, result = request.state, request.result or {}
    said = _SAID.get(state, "")
    mark, word = words.STATE_MARK[state], words.STATE_WORD[state]
    if state is State.RUNNING and request.started_at:
        said = f"since {words.moment(place, request.started_at)}"
    effect = (result.get("verified") or {}).get("effect")
    if state is State.INTERRUPTED and effect is not None:
        said = f"the gateway stopped while it ran; {'it took effect' if effect else 'no effect of it was found'}"
    if state is State.SUCCEEDED and effect is not None:
        mark, said = (mark, "verified") if effect else ("⚠️", "but its effect was not seen")
    second = join((words.where(place, request.repo), place.pen.text(said) if said else EMPTY), " · ")
    return words.heading(mark, word, words.title(place, request, story.argv), second)


def _decision(place: Place, story: Story) -> Iterator[Markup]:
    """Yield who decided, when, and in which words."""
    approval = story.approval
    if approval is None or approval.decided_at is None:
        return
    at = place.pen.text(words.moment(place, approval.decided_at))
    who = words.people(place, approval.decided_by)
    if approval.state is ApprovalState.APPROVED:
        yield say("Approved by {} · {}", who, at)
    elif approval.state is ApprovalState.DENIED:
        yield say("Denied by {} · {}", who, at)
    elif approval.state is ApprovalState.WITHDRAWN and approval.decided_by:
        yield say("Taken back by {} · {}", who, at)
    elif approval.state is ApprovalState.SUPERSEDED:
        yield say("What operators were asked about had changed · {}", at)
    if approval.decision_reason and approval.state in _WITH_REASON:
        yield say("“{}”", place.pen.prose(approval.decision_reason, endings.MESSAGE_UNITS))


def _whole_command(place: Place, story: Story) -> Iterator[Block]:
    """Yield the command, unless the first line shows all of it."""
    if story.argv and not words.title_is_whole(place, story.argv):
        lines = place.pen.command_lines(story.argv, endings.LINE_UNITS)
        yield Block(lines, title=say("<b>Command</b>"), least=0, frame="pre", rank=2)


def _request_line(place: Place, request: RequestRow) -> Markup:
    told = [say("Request {}", place.pen.value(request.id, words.NAME_UNITS))]
    if request.started_at and request.finished_at:
        seconds = words.seconds_between(request.started_at, request.finished_at)
        told += [say("took {}", place.pen.text(span(seconds)))] if seconds >= 1 else []
    if request.finished_at and (request.started_at or request.state not in _DATED):
        told.append(place.pen.text(words.moment(place, request.finished_at)))
    return join(told, " · ")


def _buttons(story: Story) -> Keyboard:
    request = story.request
    can_undo = story.undoable and request.risk in _UNDOABLE and request.state in _ENDED_RUNNING
    if can_undo and not endings.is_undone(story.events):
        return ((Button("↩️ Undo", Action.UNDO, request.id),),)
    return ()


def reminder(place: Place, asked: Asked, seconds_left: float) -> Card:
    """Return what is sent, as a reply to the card, when a request is about to expire unanswered."""
    left = place.pen.text(span(seconds_left))
    mark = words.RISK_MARK[asked.approval.risk]
    first = say(f"⏰ {mark} <b>{{}} left</b> for {{}}", left, words.title(place, asked.request, asked.argv))
    needed = asked.approval.quorum - len(asked.approvers)
    must = (
        "one more yes, or a no" if asked.approvers else ("a yes or a no" if needed == 1 else f"{needed} yes, or a no")
    )
    second = say("{} · needs {}, on the card above", words.where(place, asked.request.repo), place.pen.text(must))
    show = Button("Show the card here", Action.SHOW, asked.request.id)
    return card_of([Block((join((first, second)),))], ((show,),))
