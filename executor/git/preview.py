"""What would change, for operators who are asked: found out here, never told by the agent; exact, and bounded.

What goes into an approval is stored and shown as it is, so secrets in it are masked and long texts are cut here, with
a mark. The whole diff of a push is for a file (`push_facts.full_diff`).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from executor.errors import Failed
from executor.git.binding import Binding
from executor.git.preview_changes import involved_lines, staged_lines
from executor.git.preview_losses import lost_lines
from executor.git.push_facts import full_diff, push_facts
from executor.git.push_plan import NEW, OLD
from executor.git.push_report import PushFacts
from executor.git.pushing import remote_of
from executor.git.questions import text
from executor.git.recovery_model import RecoveryPlan
from executor.git.recovery_steps import planned
from executor.git.refnames import HEADS, TAGS
from executor.git.repository import Git
from executor.git.run_transfers import named_remote
from executor.git.transfer import ls_remote
from executor.policy.model import Ask, Operation, Request
from executor.record.display import visible
from executor.record.redaction import redact

# Bytes of JSON. A card of more than 64 KiB could not be read and so not be approved; shown on a terminal, wrapped and
# with hidden characters written out, this can become half as much again.
DATA_LIMIT = 20 * 1024
DIFF_LIMIT = 16 * 1024  # characters as they are shown; twice that in JSON, which writes most letters as `\uXXXX`
TEXT_LIMIT = 300  # characters of one text in the data: a subject, a path
LINES_LIMIT = 200
REFS_SHOWN = 8  # pushes of more refs name them all in what the approval binds


def preview(git: Git, request: Request, decision: Ask, binding: Binding) -> dict[str, object]:
    """Return what `request` would change as JSON can hold it; {} where there is nothing to say beyond its words.

    Keys: `push` (facts of each ref, see `PushFacts.from_data`), `diff` (text), `masked`, `plan`, `loses`, `involves`,
    `stages`, `unseen` (lines of text). Asks nothing over the network and changes nothing. Raises Failed.
    """
    command = decision.command
    if request.operation is Operation.GIT_PUSH or (command is not None and command.runner == "push"):
        return _push(git, decision, binding)
    if request.operation is Operation.GIT_RECOVER:
        return _lines(plan=_plan(git))
    try:
        return _lines(
            loses=lost_lines(git, command) if command is not None else (),
            involves=involved_lines(git, command) if command is not None else (),
            stages=staged_lines(git, request, command),
        )
    except Failed as problem:  # what cannot be previewed may still be asked for: operators see that, and decide
        return _lines(unseen=(f"What this would change could not be looked up: {problem.message}",))


def _push(git: Git, decision: Ask, binding: Binding) -> dict[str, object]:
    moves = [name.removeprefix(NEW) for name in binding.ids if name.startswith(NEW)]
    # what is there already can be overwritten, so it comes first; then branches before tags
    moves.sort(key=lambda ref: (not binding.ids.get(OLD + ref), ref.startswith(TAGS)))
    remote = _remote(git, decision, moves)
    listing = ls_remote(git, remote)
    ends = [(ref, binding.ids[NEW + ref] or None, binding.ids.get(OLD + ref) or None) for ref in moves[:REFS_SHOWN]]
    facts = [push_facts(git, remote, ref, new, old, listing) for ref, new, old in ends]
    data = _fitted([_clean(one.to_data()) for one in facts])
    shown: dict[str, object] = {"push": data}
    if len(data) < len(moves):
        shown["more"] = f"{len(moves) - len(data)} more refs, named among what this depends on"
    diffs = [full_diff(git, one, DIFF_LIMIT) for one in facts]
    diff = _cut_lines(text(b"".join(patch for patch, _ in diffs)), DIFF_LIMIT, more=any(cut for _, cut in diffs))
    masked = [_masked(git, one) for one, (patch, _) in zip(facts, diffs, strict=True) if _hides(text(patch))]
    return shown | ({"masked": masked} if masked else {}) | ({"diff": diff} if diff else {})


def _hides(patch: str) -> bool:
    """Whether a part of a diff is masked: what looks like a secret may as well be code that is not to be seen."""
    return redact(patch) != patch


def _masked(git: Git, facts: PushFacts) -> str:
    """Return what operators are told of a diff that hides a part, and how they see it."""
    see = ["git", "--git-dir", str(git.paths.local), "diff", str(facts.base), str(facts.new)]
    return (
        f"In the diff of {facts.short_ref} *** stands for what looks like a secret, and anything may stand there; "
        f"all of it, on the host: {shlex.join(see)}"
    )


def _remote(git: Git, decision: Ask, moves: list[str]) -> str:
    if decision.command is None:  # the typed operation moves one branch
        return remote_of(git, moves[0].removeprefix(HEADS))
    return named_remote(git, decision.command)


def _fitted(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the facts as data of no more than `DATA_LIMIT`.

    Long lists get shorter, their totals stay; no risk is dropped, only examples of it. At last whole refs go.
    """
    shown, fitted = 64, data
    while len(json.dumps(fitted)) > DATA_LIMIT and shown > 1:
        shown //= 2
        fitted = [_shortened(one, shown) for one in data]
    while len(json.dumps(fitted)) > DATA_LIMIT and len(fitted) > 1:
        fitted = fitted[:-1]
    return fitted


def _shortened(facts: dict[str, Any], shown: int) -> dict[str, Any]:
    hidden = len(facts["secrets"]) - shown
    rest = [{"path": "", "line": 0, "kind": f"{hidden} more places that may hold secrets"}] if hidden > 0 else []
    return facts | {
        "files": facts["files"][:shown],
        "commits": facts["commits"][:shown],
        "dropped": facts["dropped"][:shown],
        "secrets": facts["secrets"][:shown] + rest,
        "risks": [risk | {"paths": risk["paths"][:shown]} for risk in facts["risks"]],
    }


def _lines(**parts: tuple[str, ...]) -> dict[str, object]:
    return {name: list(_bounded(lines)) for name, lines in parts.items() if lines}


def _bounded(lines: tuple[str, ...]) -> Iterator[str]:
    room = DATA_LIMIT
    for number, line in enumerate(lines):
        shown = _clean(line)
        room -= len(json.dumps(shown))
        if number >= LINES_LIMIT or room < 0:
            yield f"and {len(lines) - number} more lines"
            return
        yield shown


def _clean(data: Any) -> Any:
    """Return data with secrets masked and every text cut to `TEXT_LIMIT`."""
    if isinstance(data, str):
        masked = redact(data)
        return masked if len(masked) <= TEXT_LIMIT else masked[:TEXT_LIMIT] + "…"
    if isinstance(data, Mapping):
        return {name: _clean(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_clean(value) for value in data]
    return data


def _cut_lines(patch: str, limit: int, *, more: bool) -> str:
    """Return the beginning of a diff, by whole lines, that is shown in no more than `limit` characters.

    It says when that is not all, or when there was `more` than `patch` from the start.
    """
    kept: list[str] = []
    room = limit
    for line in redact(patch).removesuffix("\n").split("\n"):
        room -= max(len(visible(line)) + 1, len(json.dumps(line)) // 2)
        if room < 0:
            more = True
            break
        kept.append(line)
    return "\n".join([*kept, *(["(the diff goes on: this is its beginning)"] if more else [])])


def _plan(git: Git) -> tuple[str, ...]:
    diagnosis, decided = planned(git)
    if not isinstance(decided, RecoveryPlan):
        return (*diagnosis.findings, decided.reason)
    steps = [f"{number}. {step.title}: {step.does}" for number, step in enumerate(decided.steps, 1)]
    return (*diagnosis.findings, *steps, *(f"Leaves behind: {left}" for left in decided.leaves))
