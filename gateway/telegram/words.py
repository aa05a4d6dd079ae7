"""The words and marks of the chat: states, classes, moments, people. A tired person reads them at night."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from executor.outcome import State
from executor.policy.model import RiskClass
from executor.record.approvals import Approval
from executor.record.requests import RequestRow
from executor.spans import span
from gateway.telegram.card_model import Place
from gateway.telegram.html import EMPTY, Markup, join, say

NAME_UNITS = 64  # of a person's, a host's, a repository's name
TITLE_UNITS = 56  # of a command in a card's first line; the whole of it stands below
ID_SHORT = 10  # characters of an object id
DIGEST_SHORT = 12  # as `ops-gateway approve --digest` takes it at least

RISK_MARK: Mapping[RiskClass, str] = {
    RiskClass.READ: "🟢",
    RiskClass.CHANGE: "🟡",
    RiskClass.REWRITE: "🟠",
    RiskClass.PUBLISH: "🟠",
    RiskClass.FORCE: "🔴",
    RiskClass.NEVER: "⛔",
}
RISK_WORDS: Mapping[RiskClass, str] = {
    RiskClass.READ: "changes nothing",
    RiskClass.CHANGE: "local, can be undone",
    RiskClass.REWRITE: "can lose work or history",
    RiskClass.PUBLISH: "publishes commits",
    RiskClass.FORCE: "can overwrite what others have",
    RiskClass.NEVER: "is never allowed",
}
STATE_MARK: Mapping[State, str] = {
    State.RECEIVED: "📥",
    State.QUEUED: "📥",
    State.AWAITING_APPROVAL: "⏳",
    State.RUNNING: "▶️",
    State.SUCCEEDED: "✅",
    State.FAILED: "❌",
    State.TIMED_OUT: "❌",
    State.INTERRUPTED: "❓",
    State.REFUSED: "⛔",
    State.DENIED: "🚫",
    State.EXPIRED: "⌛",
    State.UNDELIVERABLE: "⌛",
    State.WITHDRAWN: "↩️",
}
STATE_WORD: Mapping[State, str] = {
    State.RECEIVED: "Received",
    State.QUEUED: "In line",
    State.AWAITING_APPROVAL: "Approve?",
    State.RUNNING: "Running",
    State.SUCCEEDED: "Done",
    State.FAILED: "Failed",
    State.TIMED_OUT: "Took too long",
    State.INTERRUPTED: "Interrupted",
    State.REFUSED: "Refused",
    State.DENIED: "Denied",
    State.EXPIRED: "Expired",
    State.UNDELIVERABLE: "Nobody could be asked",
    State.WITHDRAWN: "Taken back",
}

# What an operator can tell the agent at a tap: the button, and the reason as the agent reads it.
DENY_REASONS: tuple[tuple[str, str], ...] = (
    ("Too risky", "too risky as it is; find a way that risks less"),
    ("Wrong target", "wrong branch, remote or repository"),
    ("Review first", "a person wants to review this first"),
    ("Not needed", "this is not needed"),
)


def title(place: Place, request: RequestRow, argv: tuple[str, ...] = ()) -> Markup:
    """Return what a request is about, short: the beginning of its command, or its operation."""
    words = argv or request.argv
    if words:
        return place.pen.command_title(words, TITLE_UNITS)
    return place.pen.value(request.operation or "an unreadable request")


def title_is_whole(place: Place, argv: Sequence[str]) -> bool:
    """Return whether a title shows all of a command, so that it need not stand below once more."""
    return place.pen.command_title(argv, TITLE_UNITS).plain == place.pen.command(argv).plain


def where(place: Place, repo: str) -> Markup:
    """Return "shop on web-1"."""
    host = place.pen.value(place.host, NAME_UNITS)
    return say("{} on {}", place.pen.value(repo, NAME_UNITS), host) if repo else say("on {}", host)


def heading(mark: str, word: str, what: Markup, second: Markup) -> Markup:
    """Return the two lines that a notification shows: what it is, then where and how risky."""
    end = "" if what == EMPTY or word.endswith(("?", ":")) else ":"
    return join((join((say(f"{mark} <b>{word}{end}</b>"), what), " "), second))


def moment(place: Place, at: str) -> str:
    """Given a stored time, return it for people: "30 Nov 17:34 UTC"."""
    then = datetime.fromisoformat(at).astimezone(place.zone)
    return f"{then.day} {then:%b %H:%M %Z}"


def seconds_between(start: str, end: str) -> float:
    """Return the seconds between two stored times."""
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def person(place: Place, operator: str) -> Markup:
    """Return who an operator is: the name that is known, or the number; and the host where it was decided there."""
    door, _, who = operator.partition(":")
    known = place.names.get(operator)
    if known:
        return place.pen.value(known, NAME_UNITS)
    if door == "cli":
        return say("{} on the host", place.pen.value(who, NAME_UNITS))
    return place.pen.value(operator, NAME_UNITS)


def people(place: Place, operators: tuple[str, ...]) -> Markup:
    """Return who several operators are."""
    return join((person(place, operator) for operator in operators), ", ")


def deadline(place: Place, approval: Approval) -> Markup:
    """Return until when an approval can be given. It is told so that it stays true on a card that is not edited."""
    given = span(seconds_between(approval.created_at, approval.expires_at))
    return say("answer by {} ({})", place.pen.text(moment(place, approval.expires_at)), place.pen.text(given))
