"""A request as an operator must see it before saying yes: everything that the decision depends on, nothing hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from executor.git.push_report import PushFacts, lines
from executor.record.approvals import Approval
from executor.record.redaction import redact
from executor.record.requests import RequestRow
from executor.spans import age
from gateway.approvals.decisions import DIGEST_SHORT
from gateway.commands.terminal import exactly, heading, paragraph

CARD_LIMIT = 64 * 1024  # characters; nobody reads more than that before saying yes
_LABELS = {"depends_on": "bound to"}
_LAST = {"depends_on": 1, "diff": 2}  # what would change comes before what it hangs on, and the long text at the end
_SHOWN_ELSEWHERE = frozenset({"argv", "operation", "repo", "reason", "class", "reasons", "host", "id", "agent_says"})


def card(
    host: str,
    request: RequestRow,
    approval: Approval,
    *,
    clean: Callable[[str], str] = redact,
) -> str:
    """Return the text for a terminal. It is never cut; see `can_be_read` for whether it may be approved.

    What looks like a secret is masked by `clean`, and where that is so in the command the card says how to see it.
    """
    return "\n".join(_lines(host, request, approval, clean))


def can_be_read(text: str) -> bool:
    """Return whether a card is short enough to be read in full, without which it must not be approved (A31)."""
    return len(text) <= CARD_LIMIT


def title(request: RequestRow) -> str:
    """Return which request it is: its id, what it does, and in which repository, if it is in one."""
    return f"{request.id}: {request.operation}{f' in {request.repo}' if request.repo else ''}"


def reason_of(request: RequestRow, clean: Callable[[str], str]) -> str:
    """Return the reason that a request gives, as a paragraph that ascribes to the agent only what the agent said."""
    said = clean(request.reason)
    return paragraph("agent", f"says: {said}") if request.form.of_the_agent else paragraph("reason", said)


def _lines(host: str, request: RequestRow, approval: Approval, clean: Callable[[str], str]) -> Iterator[str]:
    yield heading(f"{title(request)} on {host}")
    shown = tuple(clean(word) for word in request.argv)
    yield exactly("command", shown)
    if shown != request.argv:
        yield paragraph("masked", f"a part looks like a secret; to see it: ops-gateway pending {request.id} --exact")
    if request.reason:
        yield reason_of(request, clean)
    yield paragraph("class", approval.risk)
    for reason in approval.reasons:
        yield paragraph("why", reason)
    yield from _facts(approval.shown)
    more = f", {approval.quorum} must say yes" if approval.quorum > 1 else ""
    yield paragraph("expires", f"{age(datetime.fromisoformat(approval.expires_at), datetime.now(UTC))}{more}")
    yes = f"ops-gateway approve {request.id} --digest {approval.digest[:DIGEST_SHORT]}"
    yield paragraph("decide", f"{yes}\nops-gateway deny {request.id} --reason WHY")


def _facts(shown: Mapping[str, object]) -> Iterator[str]:
    """Yield what would change, as it was found when it was asked."""
    for name, value in sorted(shown.items(), key=lambda item: _LAST.get(item[0], 0)):
        if name in _SHOWN_ELSEWHERE or value in (None, "", [], {}):
            continue
        if name == "push" and isinstance(value, list):
            for facts in value:
                yield paragraph("push", "\n".join(map(_on_one_line, lines(PushFacts.from_data(facts)))))
            continue
        yield paragraph(_LABELS.get(name, name.replace("_", " ")[:9]), as_words(value))


def as_words(value: object) -> str:
    """Given a value as JSON holds it, return it in lines of plain text."""
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {as_words(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(_on_one_line(part) if isinstance(part, str) else as_words(part) for part in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _on_one_line(text: str) -> str:
    """Return what is one line of a list with its line ends written out, so that it cannot pose as two."""
    return text.replace("\n", "\\n")
