"""The card that asks operators: everything that a yes depends on, what is risky first, nothing hidden (A31).

It reads the same whenever it is made anew, so that it is only edited when something has changed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from executor.record.approvals import Approval
from executor.record.display import visible
from executor.record.forms import Form
from executor.record.lookalikes import suspicions
from executor.record.requests import RequestRow
from gateway.telegram import words
from gateway.telegram.card_model import Action, Attachment, Button, Card, Keyboard, Place, finished
from gateway.telegram.findings import bound, consequences, full_lines
from gateway.telegram.html import Markup, join, say
from gateway.telegram.text_budget import Block, Fitted, fit

_PATHS = (6, 3, 1)  # paths named of one risk: as many as there is room for


@dataclass(frozen=True, slots=True)
class Asked:
    """One round of asking: the request, the approval, and who has said yes so far."""

    request: RequestRow
    approval: Approval
    approvers: tuple[str, ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        """The command as it was bound, which is what runs. What the approval holds of it is masked already."""
        return self.request.argv or tuple(self.approval.shown.get("argv", ()))

    @property
    def moved(self) -> tuple[str, ...]:
        """What has changed since it was asked before."""
        return tuple(self.approval.shown.get("moved", ()))


def approval_card(place: Place, asked: Asked) -> Card:
    """Return the card of a pending approval; see `Card.too_long` for what cannot be shown in one message."""
    masked = place.pen.masks(asked.argv)
    fitted = _fitted(place, asked, masked=masked)
    if fitted is None:
        return _too_long(place, asked)
    files = attachments(place, asked)
    return finished(fitted.text, deny_only(asked.approval) if masked else keyboard(asked.approval), files)


def fits(place: Place, request: RequestRow, approval: Approval) -> bool:
    """Return whether all that a yes depends on has room in one card, also when all but one have said yes (A31)."""
    longest = tuple("w" * words.NAME_UNITS for _ in range(approval.quorum - 1))
    return not approval_card(place, Asked(request, approval, longest)).too_long


def keyboard(approval: Approval) -> Keyboard:
    """Return the buttons under an approval card."""
    approve = Button("✅ Approve", Action.APPROVE, approval.id, approval.digest)
    deny = Button("🚫 Deny", Action.DENY, approval.id, approval.digest)
    return ((approve, deny), (Button("Details", Action.DETAILS, approval.request_id),))


def deny_only(approval: Approval) -> Keyboard:
    """Return the buttons under a card that does not show enough for a yes."""
    return (keyboard(approval)[0][1:], *keyboard(approval)[1:])


def deny_keyboard(approval: Approval) -> Keyboard:
    """Return the buttons that ask for the reason of a no; it reaches the agent."""

    def because(label: str, reason: str) -> Button:
        return Button(label, Action.DENY_BECAUSE, approval.id, approval.digest, reason)

    presets = [because(label, reason) for label, reason in words.DENY_REASONS]
    own = Button("In my words…", Action.DENY_IN_WORDS, approval.id, approval.digest)
    back = Button("← Back", Action.BACK, approval.id, approval.digest)
    return (tuple(presets[:2]), tuple(presets[2:]), (own, because("No reason", "")), (back,))


def attachments(place: Place, asked: Asked) -> tuple[Attachment, ...]:
    """Return the files that go with the card: the diff of what would be pushed."""
    diff = asked.approval.shown.get("diff")
    if not diff:
        return ()
    return (Attachment(f"{asked.approval.id}.diff", place.pen.document(str(diff))),)


def details(place: Place, asked: Asked) -> Card:
    """Return what the card shortens, in full: complete ids as text, and all that is known in a file."""
    pen, approval = place.pen, asked.approval
    depends = [str(line) for line in approval.shown.get("depends_on", ())]
    blocks = [
        Block(
            (
                join(
                    (say("<b>Details of</b> {}", pen.value(asked.request.id)), words.where(place, asked.request.repo))
                ),
            )
        ),
        _command(place, asked.argv, least=0),
        Block(tuple(pen.text(line) for line in depends), title=say("Bound to"), least=0, frame="folded code"),
        Block((), title=say("Digest of all of it: {}", pen.value(approval.digest))),
    ]
    everything = [*_story(asked), *depends, "", f"digest: {approval.digest}", "", *full_lines(approval.shown)]
    file = Attachment(f"{approval.id}.txt", place.pen.document("\n".join([*everything, ""])))
    fitted = fit(blocks)
    return finished(fitted.text if fitted else blocks[0].lines[0], (), (file,))


def _story(asked: Asked) -> Iterator[str]:
    where = f" in {asked.request.repo}" if asked.request.repo else ""
    yield f"{asked.request.id}: {asked.request.operation}{where}"
    yield from asked.argv
    yield f"class: {asked.approval.risk}"
    yield from (f"asked because: {reason}" for reason in asked.approval.reasons)
    who = "the agent says:" if asked.request.form.of_the_agent else "it was"
    yield f"{who} {asked.request.reason or '(nothing)'}"
    yield ""


def _fitted(place: Place, asked: Asked, *, masked: bool) -> Fitted | None:
    for paths in _PATHS:
        fitted = fit(list(_blocks(place, asked, paths, masked=masked)))
        if fitted is not None:
            return fitted
    return None


def _blocks(place: Place, asked: Asked, paths: int, *, masked: bool) -> Iterator[Block]:
    pen, approval, shown = place.pen, asked.approval, asked.approval.shown
    yield Block((_heading(place, asked),))
    if asked.moved:
        changed = tuple(say("• {}", pen.prose(line)) for line in asked.moved)
        yield Block(changed, title=say("<b>Changed since it was asked before</b>"))
    if not words.title_is_whole(place, asked.argv):
        yield _command(place, asked.argv)
    yield from _warnings(place, asked.argv, asked.approval, masked=masked)
    changes = list(consequences(pen, shown, paths))
    yield from (block for block in changes if not block.is_list)
    if not asked.moved:
        yield Block(tuple(pen.prose(reason) for reason in approval.reasons), title=say("<b>Asked because</b>"))
        yield from _agents_words(place, asked.request)
    yield from (block for block in changes if block.is_list)
    yield bound(pen, [str(line) for line in shown.get("depends_on", ())])
    digest = pen.value(approval.digest[: words.DIGEST_SHORT])
    yield Block((say("Request {} · round {} · digest {}", pen.value(asked.request.id), approval.round, digest),))


def _heading(place: Place, asked: Asked) -> Markup:
    approval = asked.approval
    again = "Approve again?" if asked.moved else "Approve?"
    second = say("{} · {}", words.where(place, asked.request.repo), place.pen.text(words.RISK_WORDS[approval.risk]))
    first = words.heading(
        words.RISK_MARK[approval.risk], again, words.title(place, asked.request, asked.argv), second
    )
    return join((first, _who_must(place, asked)))


def _who_must(place: Place, asked: Asked) -> Markup:
    until, quorum = words.deadline(place, asked.approval), asked.approval.quorum
    if quorum == 1:
        return say("One yes is enough · {}", until)
    if not asked.approvers:
        return say("<b>{} operators must say yes</b> · {}", quorum, until)
    left = quorum - len(asked.approvers)
    return say("Yes from {}: <b>{} more must</b> · {}", words.people(place, asked.approvers), left, until)


def _command(place: Place, argv: Sequence[str], least: int | None = None) -> Block:
    return Block((place.pen.command(argv),), title=say("<b>Exactly this</b>"), frame="pre", least=least)


def _warnings(place: Place, argv: Sequence[str], approval: Approval, *, masked: bool) -> Iterator[Block]:
    """Yield what about the command itself may deceive a reader."""
    pen = place.pen
    text = " ".join(argv)
    said = [say("❗ {}", pen.prose(sentence)) for sentence in suspicions(text)]
    shown_anyhow = text.replace("\n", "")  # a line end is written out, and breaks the line as well
    if visible(shown_anyhow) != shown_anyhow:
        said.append(say("❗ It holds characters that do not show; each is written out as U+ and its number."))
    if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
        said.append(
            say("❗ Some letters are written from right to left: the order on the screen is not the real one.")
        )
    if masked:
        where = pen.value(f"ops-gateway pending {approval.request_id}")
        said.append(
            say(
                "❗ A part that looks like a secret is masked, so this cannot be approved here. On the host: {}",
                where,
            )
        )
    if said:
        yield Block(tuple(said))


def _agents_words(place: Place, request: RequestRow) -> Iterator[Block]:
    if not request.reason:
        return
    if request.form is Form.OPERATOR:
        yield Block((say("An operator started this: {}", place.pen.prose(request.reason)),))
        return
    if request.form is Form.MONITOR:
        yield Block((place.pen.prose(f"{request.reason[:1].upper()}{request.reason[1:]}"),))
        return
    title = say("<b>The agent says</b> (its words, nobody checked them)")
    yield Block(place.pen.lines(request.reason), title=title, frame="folded code")


def _too_long(place: Place, asked: Asked) -> Card:
    said = say(
        "❗ What a yes depends on is too long for one message, so it cannot be approved here. On the host: {}",
        place.pen.value(f"ops-gateway pending {asked.request.id}"),
    )
    text = join((_heading(place, asked), said), "\n\n")
    return Card(text.html, text.plain, deny_only(asked.approval), (), too_long=True)
