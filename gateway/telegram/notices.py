"""What the gateway says of itself, and of what nobody asked for: starts, troubles, tampering, strangers (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from executor.record.chain import Head
from executor.record.controls import Freeze
from executor.record.requests import RequestRow
from executor.spans import plural
from gateway.telegram import words
from gateway.telegram.card_model import Action, Button, Card, Place, card_of
from gateway.telegram.html import EMPTY, Markup, join, say
from gateway.telegram.text_budget import Block

SENTENCE_UNITS = 300
_LISTED = 8  # refusals, troubles or repositories in one message; the rest are counted

# Refusals that no honest agent meets by a mistake in a command: worth a message of their own.
_TAMPERING = frozenset({"hidden_characters", "id_reused", "request_duplicate_key", "embedded_repository"})
_TAMPERING_PREFIX = "flag_"  # the flag itself is a link, a device, a hard link, not removable …


def is_tampering(code: str) -> bool:
    """Return whether a refusal of this code may be somebody trying something."""
    return code in _TAMPERING or code.startswith(_TAMPERING_PREFIX)


def tampering(place: Place, refused: Sequence[RequestRow], total: int | None = None) -> Card:
    """Return the notice of suspicious refusals that came together; `total` where there were more than are given.

    One message, however many there were: those of a kind are one line, and at most `_LISTED` kinds are named.
    """
    number = max(total or 0, len(refused))
    what = place.pen.text(plural(number, "flag"))
    second = say("{} · nothing was run; look at who can write the shared directory", words.where(place, ""))
    kinds: dict[tuple[str, str, str], list[str]] = {}
    for row in refused:
        error = (row.result or {}).get("error") or {}
        said = str(error.get("message", "it was refused")), str(error.get("code", ""))
        kinds.setdefault((str(row.operation or "request"), *said), []).append(row.id)
    lines = [_refusals(place, *kind, ids) for kind, ids in list(kinds.items())[:_LISTED]]
    named = sum(len(ids) for ids in list(kinds.values())[:_LISTED])
    if number > named:
        lines.append(say("… and {} more", number - named))
    return card_of([Block((words.heading("⛔", "Refused, suspicious", what, second),)), Block(tuple(lines))])


def _refusals(place: Place, operation: str, message: str, code: str, ids: Sequence[str]) -> Markup:
    pen = place.pen
    what = say("{} × {}", len(ids), pen.value(operation)) if len(ids) > 1 else pen.value(operation)
    told = pen.prose(message, SENTENCE_UNITS // 2)
    return say("• {}: {} ({}), request {}", what, told, pen.value(code, 60), pen.value(ids[0], words.NAME_UNITS))


def frozen(place: Place, freeze: Freeze) -> Card:
    """Return the notice that operators froze the gateway, with the button that ends it."""
    pen = place.pen
    second = say("{} · only reading is possible, everything else is refused", words.where(place, ""))
    by = say("By {} · {}", words.person(place, freeze.by), pen.text(words.moment(place, freeze.at)))
    why = say("“{}”", pen.prose(freeze.reason, SENTENCE_UNITS)) if freeze.reason else EMPTY
    blocks = [Block((words.heading("🧊", "Frozen", EMPTY, second),)), Block((join((by, why)),))]
    return card_of(blocks, ((Button("Unfreeze", Action.UNFREEZE, freeze.at),),))


def unfrozen(place: Place, by: str) -> Card:
    """Return the notice that the gateway works again."""
    who = words.person(place, by)
    second = say("{} · by {}; what was refused meanwhile is not repeated", words.where(place, ""), who)
    return card_of([Block((words.heading("✅", "Unfrozen", EMPTY, second),))])


def started(
    place: Place,
    report: Mapping[str, Any],
    *,
    unsafe: Sequence[str] = (),
    troubles: Mapping[str, str] | None = None,
    waiting: int = 0,
) -> Card:
    """Return the notice that the gateway runs. `report` is the data of the event `gateway.started`.

    `unsafe` are the choices that weaken a promise, `troubles` what does not work now, `waiting` how many requests
    wait for operators.
    """
    pen, wrong = place.pen, dict(troubles or {})
    mark = "⚠️" if unsafe or wrong else "✅"
    waits = f"{plural(waiting, 'request')} waiting for operators" if waiting else "nothing waits for operators"
    second = say("{} · {}", words.where(place, ""), pen.text(waits))
    names = [str(name) for name in report.get("repositories", ())]
    shown = join((pen.value(name, words.NAME_UNITS) for name in names[:_LISTED]), ", ")
    more = say(" and {} more", len(names) - _LISTED) if len(names) > _LISTED else EMPTY
    serves = join((say("Serves {}", shown), more), "") if names else EMPTY
    return card_of(
        [
            Block((words.heading(mark, "Started", EMPTY, second),)),
            Block(
                tuple(say("⚠️ Unsafe by choice: {}", pen.prose(choice, SENTENCE_UNITS)) for choice in unsafe[:_LISTED])
            ),
            Block(_troubles(place, wrong)),
            Block((join((serves, pen.prose(str(report.get("confinement", "")), SENTENCE_UNITS))),)),
        ]
    )


def trouble(place: Place, troubles: Mapping[str, str]) -> Card:
    """Return the notice of what does not work, by key, each in a sentence."""
    second = say("{} · flags that need nobody go on where they can", words.where(place, ""))
    return card_of([Block((words.heading("⚠️", "Trouble", EMPTY, second),)), Block(_troubles(place, troubles))])


def trouble_over(place: Place, what: str) -> Card:
    """Return the notice that a trouble is gone."""
    gone = place.pen.value(what, words.NAME_UNITS)
    return card_of([Block((words.heading("✅", "Works again", gone, words.where(place, "")),))])


def _troubles(place: Place, troubles: Mapping[str, str]) -> tuple[Markup, ...]:
    pen = place.pen
    listed = list(troubles.items())
    lines = [
        say("• {}: {}", pen.value(what, words.NAME_UNITS), pen.prose(why, SENTENCE_UNITS))
        for what, why in listed[:_LISTED]
    ]
    if len(listed) > _LISTED:
        lines.append(say("… and {} more", len(listed) - _LISTED))
    return tuple(lines)


def recover_offer(place: Place, repo: str, findings: Sequence[str]) -> Card:
    """Return the offer to recover a repository that was seen on no branch, or on one that follows nothing."""
    second = say("{} · nothing is done until you say so", words.where(place, repo))
    found = tuple(say("• {}", place.pen.prose(finding, SENTENCE_UNITS)) for finding in findings[:_LISTED])
    plan = say("Recover makes a plan that keeps everything, shows it, and waits for a yes.")
    blocks = [Block((words.heading("🩹", "Needs a hand?", EMPTY, second),)), Block(found), Block((plan,))]
    return card_of(blocks, ((Button("Recover", Action.RECOVER, repo),),))


def stranger(place: Place, name: str, user_id: int | None, tried: str, times: int = 1) -> Card:
    """Return the notice that somebody who is no operator tried something. All but `times` is foreign text."""
    pen = place.pen
    who = join(
        (pen.value(name, words.NAME_UNITS), say("(id {})", pen.value(user_id)) if user_id is not None else EMPTY), " "
    )
    often = f"{times} times" if times > 1 else "once"
    second = say("{} · was told no, {}; nothing was decided", words.where(place, ""), pen.text(often))
    blocks = [
        Block((words.heading("👤", "Not an operator", who, second),)),
        Block((say("Tried: {}", pen.value(tried, 200)),)),
    ]
    return card_of(blocks)


def anchor(place: Place, head: Head) -> Card:
    """Return the end of the audit log, to be posted where this host cannot change it."""
    second = say("{} · kept here, a cut or rewritten log will show", words.where(place, ""))
    end = place.pen.value(f"{head.seq}:{head.hash}")
    first = words.heading("⚓", "Audit log", say("{} events", head.seq), second)
    check = place.pen.value("ops-gateway audit verify --anchor SEQ:HASH")
    return card_of([Block((first,)), Block((end, say("Check it on the host: {}", check)))])
