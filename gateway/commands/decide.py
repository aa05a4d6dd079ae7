"""`ops-gateway approve`, `deny`, `withdraw`, `freeze`, `unfreeze`: decisions of the host's own user."""

from __future__ import annotations

import argparse
import sys

from executor.errors import Refused
from executor.record import controls, requests
from executor.record.approvals import Approval, ApprovalState, Verdict
from executor.record.store import Store
from executor.record.withdrawal import NOT_BEGUN, withdraw
from gateway import settings as configuration
from gateway import wiring
from gateway.approvals import decisions
from gateway.cli import own_user
from gateway.commands.card import can_be_read, card
from gateway.commands.terminal import agreed, heading
from gateway.schedule import word
from gateway.settings_model import Settings


def arguments(verb: str, parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    if verb in ("approve", "deny"):
        parser.add_argument("id", help="the request (or one round of asking about it: ID.1)")
    if verb == "approve":
        parser.add_argument("--digest", default="", help="of what `pending` showed; nothing else is approved then")
        parser.add_argument("--reason", default="", help="for the record")
    if verb == "deny":
        parser.add_argument("--reason", required=True, help="reaches the agent")
    if verb == "withdraw":
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("id", nargs="?", default="", help="a request that has not begun")
        which.add_argument("--queued", action="store_true", help="everything that waits for its turn")
        parser.add_argument("--reason", default="", help="reaches the agent")
    if verb == "freeze":
        parser.add_argument("reason", help="reaches the agents")


def run(options: argparse.Namespace) -> int:
    """Take the decision. Return 1 when it was not counted."""
    settings = configuration.load()
    with wiring.record(settings) as store:
        if options.verb == "freeze":
            return _freeze(settings, store, options.reason)
        if options.verb == "unfreeze":
            return _unfreeze(settings, store)
        if options.verb == "withdraw":
            return _withdraw(settings, store, options)
        return _vote(settings, store, options)


def _vote(settings: Settings, store: Store, options: argparse.Namespace) -> int:
    with store.reading() as reading:
        approval = decisions.asked_about(reading, options.id)
        request = requests.get(reading, approval.request_id)
    if request is None:
        raise Refused("unknown_request", "the request is gone", "it was removed when its time was over")
    verdict = Verdict.APPROVE if options.verb == "approve" else Verdict.DENY
    if verdict is Verdict.APPROVE and approval.state is ApprovalState.PENDING:
        _make_sure(card(settings.host_name, request, approval, clean=store.redactor), approval, options.digest)
    result = decisions.take(
        store, settings.state_dir, approval, operator=own_user(), verdict=verdict, reason=options.reason
    )
    counted = result.kind in decisions.COUNTED
    print(heading(f"{request.id}: {decisions.told(result)}", "good" if counted else "bad"))
    return int(not counted)


def _make_sure(text: str, approval: Approval, digest: str) -> None:
    """Raise Refused unless what is asked can be read in full, and is what the operator means.

    That is said by the digest; at a terminal by saying yes to what is shown now; a program without either names the
    request, and what is asked about it at this moment is meant.
    """
    if not can_be_read(text):
        raise Refused("too_long_to_review", "it is too long to be read in full", "deny it with that reason")
    if digest:
        decisions.check_digest(approval, digest)
        return
    print(text)
    if sys.stdin.isatty() and not agreed("Approve?"):
        raise Refused("not_confirmed", "nothing was decided", "")


def _withdraw(settings: Settings, store: Store, options: argparse.Namespace) -> int:
    with store.transaction() as tx:
        waiting = [row.id for row in requests.in_state(tx, *NOT_BEGUN)] if options.queued else [options.id]
        if not options.queued and requests.get(tx, options.id) is None:
            raise Refused(
                "unknown_request", "there is no such request", "its id is in results/ID.json and in the log"
            )
        taken = [each for each in waiting if withdraw(tx, each, own_user(), options.reason)]
    for each in taken:
        word.send(settings.state_dir, each)
    if options.queued:
        print(heading(f"taken back: {len(taken)}", "good"))
        return 0
    print(
        heading(f"{options.id}: taken back", "good")
        if taken
        else heading(f"{options.id}: too late, it has begun or ended", "bad")
    )
    return int(not taken)


def _freeze(settings: Settings, store: Store, reason: str) -> int:
    by = own_user()
    with store.transaction() as tx:
        held = controls.freeze(tx, reason, by)
    word.send(settings.state_dir, word.CONTROLS)
    new = held.by == by and held.reason == reason
    print(heading("frozen: only what reads is run" if new else f"is frozen already, by {held.by}: {held.reason}"))
    return 0


def _unfreeze(settings: Settings, store: Store) -> int:
    with store.transaction() as tx:
        thawed = controls.unfreeze(tx, own_user())
    word.send(settings.state_dir, word.CONTROLS)
    print(heading("unfrozen" if thawed else "it was not frozen"))
    return int(not thawed)
