"""How the gateway is, judged by what its process last said of itself, and how long operators are waited for. Pure.

What counts is work that was completed, never that a process is there (P1, P6, B14).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from executor.health.report import Finding, Level
from executor.spans import span

GATEWAY, TELEGRAM, APPROVALS = "gateway", "telegram", "approvals"

LATE_SECONDS = 180.0  # three periods of what is done every minute
DEAF_SECONDS = 300.0  # without a poll that succeeded; each one waits for news for up to a minute
_APPROVAL_WARNS, _APPROVAL_BAD = 0.25, 0.75  # share of the time for an answer that has gone by
_APPROVAL_GRACE = 300.0  # s in which nobody is expected to have answered
_TROUBLES = 10  # told one by one


@dataclass(frozen=True, slots=True)
class Said:
    """What a serving process says of itself (as the host process writes it down), and how old that is (s).

    `health` None: no process serves. {}: one serves, and has said nothing, as where cron runs it.
    """

    health: Mapping[str, Any] | None
    age: float = 0.0


def judge_gateway(said: Said, now: datetime) -> Iterator[Finding]:
    """Yield how the process gets on, and each thing that it says does not work."""
    if said.health is None:
        mend = "systemctl start ops-gateway, or: ops-gateway run"
        yield Finding(GATEWAY, "", Level.BAD, "no gateway runs: flags wait", mend)
        return
    if not said.health:
        yield Finding(GATEWAY, "", Level.UNKNOWN, "no gateway that stays has said how it is")
        return
    yield _getting_on(said, now)
    degraded = said.health.get("degraded")
    troubles = sorted(degraded.items()) if isinstance(degraded, Mapping) else []
    for what, why in troubles[:_TROUBLES]:
        yield Finding(GATEWAY, str(what), Level.WARNING, "does not work as it should", "ops-gateway doctor", str(why))
    if len(troubles) > _TROUBLES:
        yield Finding(GATEWAY, "", Level.WARNING, f"{len(troubles) - _TROUBLES} more troubles", "ops-gateway status")


def _getting_on(said: Said, now: datetime) -> Finding:
    beat = _mapping(_mapping(said.health).get("heartbeat"))
    sweep = _moment(_mapping(beat.get("completed")).get("sweep"))
    told = beat.get("late")
    late = [str(job) for job in told] if isinstance(told, list) else []
    since = max((now - sweep).total_seconds(), 0.0) if sweep else None
    facts = {"last_sweep_seconds": since, "late": ", ".join(late)}
    look = "see its log, then restart it"
    if said.age > LATE_SECONDS:
        what = f"it has not written how it is for {span(said.age)}: it hangs, or has ended"
        return Finding(GATEWAY, "", Level.BAD, what, look, facts=facts)
    if late or (since is not None and since > LATE_SECONDS):
        what = f"not completed for too long: {', '.join(late) or 'sweep'}"
        return Finding(GATEWAY, "", Level.BAD, what, look, facts=facts)
    what = f"flags were last looked for {span(since)} ago" if since is not None else "has just begun"
    return Finding(GATEWAY, "", Level.GOOD, what, facts=facts)


def judge_telegram(said: Said) -> Iterator[Finding]:
    """Yield how hearing operators goes; nothing where no chat is configured or no process serves."""
    chat = _mapping(said.health).get("telegram")
    if not isinstance(chat, Mapping):
        return
    polls, problem = str(chat.get("polls", "")), str(chat.get("problem") or "")
    heard = chat.get("last_poll_seconds_ago")
    since = float(heard) + said.age if isinstance(heard, int | float) else None
    facts = {"polls": polls, "last_poll_seconds": since, "waiting_messages": chat.get("waiting_messages")}
    ago = f"last poll {span(since)} ago" if since is not None else "not one poll has succeeded"
    by_hand = "decide meanwhile on the host: ops-gateway pending, approve, deny"
    if polls in ("conflict", "unauthorised"):
        what = "the bot token is used elsewhere" if polls == "conflict" else "the bot token is not accepted"
        yield Finding(TELEGRAM, "", Level.BAD, f"operators cannot be heard: {what}; {ago}", by_hand, problem, facts)
    elif since is not None and since > DEAF_SECONDS:
        yield Finding(TELEGRAM, "", Level.BAD, f"operators cannot be heard: {ago}", by_hand, problem, facts)
    elif since is None and _first_word(said):
        yield Finding(TELEGRAM, "", Level.UNKNOWN, "not known: the gateway has just begun to connect", facts=facts)
    elif since is None or polls != "ok":
        yield Finding(TELEGRAM, "", Level.WARNING, f"not connected; {ago}", by_hand, problem, facts)
    elif problem:
        yield Finding(TELEGRAM, "", Level.WARNING, f"messages wait to be sent; {ago}", by_hand, problem, facts)
    else:
        yield Finding(TELEGRAM, "", Level.GOOD, ago, facts=facts)


def _first_word(said: Said) -> bool:
    """Whether this was written down at the start, before anything could be heard; the next word comes in a minute."""
    return "publish" not in _mapping(_mapping(_mapping(said.health).get("heartbeat")).get("completed"))


@dataclass(frozen=True, slots=True)
class Waiting:
    """An approval that waits: since when, and until when it can be given."""

    created_at: datetime
    expires_at: datetime


def judge_approvals(waiting: tuple[Waiting, ...], now: datetime) -> Finding:
    """Return how long the oldest approval has waited, measured by the time there is for an answer."""
    if not waiting:
        return Finding(APPROVALS, "", Level.GOOD, "none waits", facts={"waiting": 0})
    oldest = min(waiting, key=lambda each: each.created_at)
    waited = (now - oldest.created_at).total_seconds()
    share = waited / max((oldest.expires_at - oldest.created_at).total_seconds(), 1.0)
    number = "1 waits" if len(waiting) == 1 else f"{len(waiting)} wait"
    what = f"{number} for an operator, the oldest for {span(waited)}"
    facts = {"waiting": len(waiting), "oldest_seconds": waited}
    if waited < _APPROVAL_GRACE or share < _APPROVAL_WARNS:
        return Finding(APPROVALS, "", Level.GOOD, what, facts=facts)
    left = (oldest.expires_at - now).total_seconds()
    what += f"; it expires in {span(left)}" if left > 0 else "; it expires now"
    level = Level.BAD if share >= _APPROVAL_BAD else Level.WARNING
    return Finding(APPROVALS, "", level, what, "ops-gateway pending, or /pending in the chat", facts=facts)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _moment(text: object) -> datetime | None:
    """Return a moment as it was written down, None where it cannot be read."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
